//! Output that shows a change: made up, then held to both schemas before it is shown.

use super::change::Witness;
use super::validator::validator;
use crate::contract::Schema;
use jsonschema::Validator;
use serde_json::Value;

/// A witness is at most this many bytes long.
const LONG: usize = 4_000;

/// Holds documents to an old and a new schema, which are compiled when they are needed.
pub(super) struct Witnesses<'a> {
    schemas: &'a (Value, Value),
    compiled: Option<Option<(Schema, Validator)>>,
}

impl<'a> Witnesses<'a> {
    pub fn new(schemas: &'a (Value, Value)) -> Self {
        Self { schemas, compiled: None }
    }

    /// The witness, if the new schema takes the document and the old one does not.
    pub fn check(&mut self, document: &Value) -> Option<Witness> {
        let (old, new) = self.schemas;
        let compiled = self
            .compiled
            .get_or_insert_with(|| Some((Schema::compile_with_formats(old).ok()?, validator(new)?)));
        let (old, new) = compiled.as_ref()?;
        let violation = old.violations(document).into_iter().next()?;
        if !new.is_valid(document) || document.to_string().len() > LONG {
            return None;
        }
        let place =
            if violation.pointer.is_empty() { String::new() } else { format!("{}: ", violation.pointer) };
        Some(Witness { document: document.clone(), rejected: format!("{place}{}", violation.message) })
    }
}
