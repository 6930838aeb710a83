//! What is found against a document, a stream or a run.

use serde::{Deserialize, Serialize};
use std::fmt;
use strict_json::sanitize;

/// Which kind of promise is broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Broken {
    /// The shape of a document or record: schemas, event types, and rules over one document.
    Schema,
    /// What holds between events, or over values of an event.
    Stream,
    /// What holds between exit code and payload.
    Exit,
}

/// One way in which a document, a stream or a run breaks its contract.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// What kind of promise is broken.
    pub broken: Broken,
    /// Number of the record, from 1; none for a document and for the whole run.
    pub event: Option<u64>,
    /// The line that the record begins in, from 1.
    pub line: Option<u64>,
    /// RFC 6901 pointer into the document or record.
    pub pointer: String,
    /// What is wrong there and what was expected. Holds text of the document.
    pub message: String,
    /// Place in the schema, as in `x.json#/properties/a/type`, or the ID of the rule.
    pub rule: String,
    /// The keyword of the schema that rejects; none for a rule.
    pub keyword: Option<String>,
}

impl Violation {
    /// A broken rule that is no schema's.
    pub(crate) fn of_rule(broken: Broken, rule: &str, pointer: &str, message: String) -> Self {
        let (rule, pointer) = (rule.to_owned(), pointer.to_owned());
        Self { broken, event: None, line: None, pointer, message, rule, keyword: None }
    }

    /// The same at a record.
    #[must_use]
    pub(crate) fn at(mut self, event: u64, line: u64) -> Self {
        (self.event, self.line) = (Some(event), Some(line));
        self
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = if self.pointer.is_empty() { "the whole document" } else { &self.pointer };
        let source = if self.keyword.is_some() { "schema" } else { "rule" };
        write!(f, "{place}: {} ({source}: {})", self.message, self.rule)
    }
}

/// A short look at a piece of a document.
pub(crate) fn excerpt(text: &str) -> String {
    sanitize::capped(text, 60)
}
