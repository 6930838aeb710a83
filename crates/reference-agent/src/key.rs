//! The key of the model, which is in no environment once the agent runs.

use crate::failure::{Code, Failure, Result};
use std::ffi::OsString;
use std::sync::OnceLock;

static GIVEN: OnceLock<Option<OsString>> = OnceLock::new();

/// Takes the key out of the environment, where it is in one. To be called first thing.
pub fn take() {
    GIVEN.get_or_init(|| agentnative_helper::take_variable("OPENAI_API_KEY"));
}

/// A key. It has no `Debug` and no `Display`: it goes into one header, and nowhere else.
pub struct Key(String);

impl Key {
    /// The one that was given.
    ///
    /// # Errors
    /// Authentication, when there is none, or what was given can be none.
    pub fn given() -> Result<Self> {
        let given = GIVEN.get().and_then(Option::as_deref).and_then(|key| key.to_str()).unwrap_or_default();
        let key = given.trim().to_owned();
        if key.is_empty() {
            let failure = Failure::new(Code::AuthConfigError, "OPENAI_API_KEY is not set");
            return Err(failure.hint("set OPENAI_API_KEY; if the server needs no key, set any value"));
        }
        if key.bytes().any(|byte| !(0x21..0x7f).contains(&byte)) {
            let message = "OPENAI_API_KEY contains invalid characters";
            return Err(Failure::new(Code::AuthConfigInvalid, message));
        }
        Ok(Self(key))
    }

    /// What the header says.
    pub fn bearer(&self) -> String {
        format!("Bearer {}", self.0)
    }

    /// A text without the key.
    pub fn hide(&self, text: &str) -> String {
        text.replace(&self.0, "[key]")
    }
}
