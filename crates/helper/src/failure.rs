//! The error of a helper that cannot make runs.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Why the helper cannot make runs, or cannot continue to make them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// What is wrong.
    pub message: String,
    /// What the user can do about it, such as `raise the limit: ulimit -n`.
    pub hint: Option<String>,
    /// Whether the operating system denied permission.
    pub denied: bool,
}

impl Failure {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), hint: None, denied: false }
    }

    pub(crate) fn with_cause(what: &str, error: &dyn fmt::Display) -> Self {
        Self::new(format!("{what}: {error}"))
    }

    pub(crate) fn hint(self, hint: &str) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Failure {}
