//! The API key of the model provider. It is removed from the environment when the agent starts.

use crate::failure::{Code, Failure, Result};
use std::ffi::OsString;
use std::sync::OnceLock;

static FROM_ENVIRONMENT: OnceLock<Option<OsString>> = OnceLock::new();

/// Removes the API key from the environment and keeps it for [`ApiKey::from_environment`]. Call this first: if there is
/// a key, the process executes itself again without it.
pub fn remove_from_environment() {
    FROM_ENVIRONMENT.get_or_init(|| agentnative_helper::take_variable("OPENAI_API_KEY"));
}

/// An API key. The type has neither `Debug` nor `Display`, so that the key is written to the authorization header only.
pub struct ApiKey(String);

impl ApiKey {
    /// Returns the API key that [`remove_from_environment`] took from the environment.
    ///
    /// # Errors
    /// [`Code::AuthConfigError`] if the key is missing or empty. [`Code::AuthConfigInvalid`] if it contains a character
    /// other than printable ASCII.
    pub fn from_environment() -> Result<Self> {
        let value = FROM_ENVIRONMENT
            .get()
            .and_then(Option::as_deref)
            .and_then(|key| key.to_str())
            .unwrap_or_default();
        let key = value.trim().to_owned();
        if key.is_empty() {
            let failure = Failure::new(Code::AuthConfigError, "OPENAI_API_KEY is not set");
            return Err(failure.with_hint("set OPENAI_API_KEY; if the server needs no key, set any value"));
        }
        if key.bytes().any(|byte| !(0x21..0x7f).contains(&byte)) {
            let message = "OPENAI_API_KEY contains invalid characters";
            return Err(Failure::new(Code::AuthConfigInvalid, message));
        }
        Ok(Self(key))
    }

    /// Returns the value of the authorization header, `Bearer` followed by the key.
    pub fn bearer(&self) -> String {
        format!("Bearer {}", self.0)
    }

    /// Replaces the key in a text by `[key]`.
    pub fn redact(&self, text: &str) -> String {
        text.replace(&self.0, "[key]")
    }
}
