//! A change between two schemas, before it is known where in the output it is.

use super::Class;
use serde_json::Value;
use strict_json::escape_token;

/// A change, relative to the schemas that were compared.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Delta {
    pub rule: &'static str,
    pub class: Class,
    /// Pointer from the place that was compared.
    pub path: String,
    pub old: Option<Value>,
    pub new: Option<Value>,
    pub message: String,
    pub note: Option<String>,
    /// A value of the new side, at the place that was compared, that is thought to show the change.
    pub sample: Option<Value>,
}

impl Delta {
    /// A change right at the place that was compared.
    pub fn new(rule: &'static str, class: Class, message: impl Into<String>) -> Self {
        let message = message.into();
        Self { rule, class, path: String::new(), old: None, new: None, message, note: None, sample: None }
    }

    pub fn breaking(rule: &'static str, message: impl Into<String>) -> Self {
        Self::new(rule, Class::Breaking, message)
    }

    pub fn compatible(rule: &'static str, message: impl Into<String>) -> Self {
        Self::new(rule, Class::Compatible, message)
    }

    pub fn undecided(message: impl Into<String>) -> Self {
        Self::new("diff-undecided", Class::Undecided, message)
    }

    #[must_use]
    pub fn old(mut self, old: impl Into<Value>) -> Self {
        self.old = Some(old.into());
        self
    }

    #[must_use]
    pub fn new_value(mut self, new: impl Into<Value>) -> Self {
        self.new = Some(new.into());
        self
    }

    /// At this token below the place that was compared.
    #[must_use]
    pub fn under(mut self, token: &str) -> Self {
        self.path = format!("/{}{}", escape_token(token), self.path);
        self
    }

    /// The same at this token below the place that was compared, its sample put into its place there.
    pub fn below(&self, token: &str, place: impl FnOnce(Value) -> Option<Value>) -> Self {
        let sample = self.sample.clone().and_then(place);
        self.clone().under(token).sample(sample)
    }

    #[must_use]
    pub fn sample(mut self, sample: Option<Value>) -> Self {
        self.sample = sample;
        self
    }
}

/// How bad all of them are together.
pub(super) fn severity(found: &[Delta]) -> (usize, usize, usize, usize) {
    let count = |class: Class| found.iter().filter(|found| found.class == class).count();
    (count(Class::Breaking), count(Class::Undecided), count(Class::Risky), count(Class::Compatible))
}

/// Whether none of them can break a reader, as far as that was decided.
pub(super) fn is_harmless(found: &[Delta]) -> bool {
    let (breaking, undecided, _, _) = severity(found);
    breaking == 0 && undecided == 0
}
