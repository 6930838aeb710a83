//! JSON Schemas, drafts 4 to 2020-12, compiled without network and without files.

use crate::error::{Error, Result};
use jsonschema::{PatternOptions, Validator};
use serde_json::Value;
use std::fmt;

/// A compiled schema.
pub struct Schema(Validator);

/// One way in which a document does not validate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// RFC 6901 pointer into the document.
    pub pointer: String,
    /// What is wrong there. Holds text of the document.
    pub message: String,
    /// Pointer into the schema.
    pub rule: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = if self.pointer.is_empty() { "the whole document" } else { &self.pointer };
        write!(f, "{place}: {} (schema: {})", self.message, self.rule)
    }
}

impl Schema {
    /// Compiles a schema. References may point into it only; patterns are matched in linear time.
    ///
    /// # Errors
    /// A configuration error when it is no valid schema, or points outside.
    pub fn compile(schema: &Value) -> Result<Self> {
        jsonschema::meta::validate(schema).map_err(|error| wrong(&error))?;
        jsonschema::options()
            .with_pattern_options(PatternOptions::regex())
            .build(schema)
            .map(Self)
            .map_err(|error| wrong(&error))
    }

    /// All ways in which `document` does not validate.
    pub fn violations(&self, document: &Value) -> Vec<Violation> {
        let violations = self.0.iter_errors(document);
        violations
            .map(|error| Violation {
                pointer: error.instance_path().as_str().to_owned(),
                message: error.to_string(),
                rule: error.schema_path().as_str().to_owned(),
            })
            .collect()
    }
}

fn wrong(error: &jsonschema::ValidationError<'_>) -> Error {
    let place = error.instance_path().as_str();
    let place = if place.is_empty() { "the schema" } else { place };
    Error::config(format!("{place}: {error}"))
}
