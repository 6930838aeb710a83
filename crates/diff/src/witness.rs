//! Confirms changes by witnesses. A witness is generated output that is valid under the new schema and invalid under
//! the old one.

use super::canonicalize::Canonicalizer;
use super::change::{Change, Witness};
use super::schema_comparer::SchemaComparer;
use super::typed_schema::TypedSchema;
use super::validator::{has_unknown, validator};
use agentnative_contract::{Schema, Violation};
use jsonschema::Validator;
use serde_json::Value;
use std::cell::OnceCell;
use strict_json::{JsonType, escape_token, unescape_token};

/// Maximum length of a witness, in bytes.
const MAX_BYTES: usize = 4_000;
/// Maximum number of missing keys that are added to a witness, so that it violates the old schema by one change only.
const MAX_REPAIRS: usize = 12;

/// Checks whether documents are witnesses: valid under the new schema and invalid under the old one. The schemas are
/// compiled on first use.
pub(super) struct Witnesses<'b> {
    schemas: &'b (Value, Value),
    compiled: OnceCell<Option<(Schema, Validator)>>,
    /// Generates values for missing keys from the old schema.
    old: SchemaComparer<'b>,
    before: Vec<TypedSchema<'b>>,
}

impl<'b> Witnesses<'b> {
    pub fn new<'s: 'b>(
        schemas: &'s (Value, Value),
        side: Canonicalizer<'b>,
        before: &[TypedSchema<'b>],
    ) -> Self {
        Self {
            schemas,
            compiled: OnceCell::new(),
            old: SchemaComparer::new(side.root, side.root),
            before: before.to_vec(),
        }
    }

    /// Returns a witness for `change`, based on `document`. `None` if the document is invalid under the new schema or
    /// valid under the old one. Keys that the old schema also requires are added, so that the witness shows only this
    /// change if possible.
    pub fn check(&self, change: &Change, document: &Value) -> Option<Witness> {
        let (old, new) = self.schemas;
        let compile_old = || (!has_unknown(old)).then(|| Schema::compile_with_formats(old).ok()).flatten();
        let compiled = || compile_old().zip(validator(new));
        let (old, new) = self.compiled.get_or_init(compiled).as_ref()?;
        let first = old.violations(document).into_iter().next()?;
        if !new.is_valid(document) {
            return None;
        }
        let (mut best, mut violation) = (document.clone(), first);
        let mut repaired = document.clone();
        for _ in 0..MAX_REPAIRS {
            let violations = old.violations(&repaired);
            let Some(caused) = violations.iter().find(|violation| is_caused_by(violation, change)) else {
                break;
            };
            if new.is_valid(&repaired) {
                (best, violation) = (repaired.clone(), caused.clone());
            }
            let other = violations.iter().find(|violation| !is_caused_by(violation, change));
            let Some(()) = other.and_then(|violation| self.repair(&mut repaired, violation)) else { break };
        }
        if best.to_string().len() > MAX_BYTES {
            return None;
        }
        let pointer =
            if violation.pointer.is_empty() { String::new() } else { format!("{}: ", violation.pointer) };
        Some(Witness { document: best, rejected: format!("{pointer}{}", violation.message) })
    }

    /// Adds the missing key that a violation of the old schema names to the document, with a generated value. `None` if
    /// that fails.
    fn repair(&self, document: &mut Value, violation: &Violation) -> Option<()> {
        let key = missing_key(violation)?;
        let mut alts = self.before.clone();
        let mut at = &*document;
        for token in violation.pointer.split('/').skip(1) {
            let token = unescape_token(token);
            let json_type = JsonType::from(at);
            let alt = alts.iter().find(|alt| alt.json_type() == json_type)?;
            let node;
            (node, at) = match at {
                Value::Array(elements) => {
                    let nth = token.parse().ok()?;
                    (alt.element(nth), elements.get(nth)?)
                }
                other => (alt.property(&token), other.get(&token)?),
            };
            alts = self.old.old.alternatives(&node);
        }
        let alt = alts
            .iter()
            .find(|alt| alt.json_type() == JsonType::Object && alt.required.contains(key.as_str()))?;
        let value = match alt.tags.get(&key) {
            Some(tag) => tag.clone(),
            None => self.old.example_of_node(&alt.property(&key), 2)?,
        };
        document.pointer_mut(&violation.pointer)?.as_object_mut()?.insert(key, value);
        Some(())
    }
}

/// Returns the missing key if the violated keyword is `required`; `None` for any other violation.
pub(super) fn missing_key(violation: &Violation) -> Option<String> {
    let of_key = violation.keyword.as_deref() == Some("required");
    of_key.then(|| violation.message.split('`').nth(1).map(str::to_owned)).flatten()
}

/// Returns whether a violation of the old schema is at the position of a change, so that the change causes it.
fn is_caused_by(violation: &Violation, change: &Change) -> bool {
    let mut pointer = violation.pointer.clone();
    if let Some(key) = missing_key(violation) {
        pointer = format!("{pointer}/{}", escape_token(&key));
    }
    let (mut tokens, mut changed) = (pointer.split('/'), change.pointer.split('/'));
    loop {
        match (tokens.next(), changed.next()) {
            (None, None) => return true,
            // The violation is at an object with the changed key, or at a part of the changed value.
            (Some(_), None) | (None, Some(_)) => return missing_key(violation).is_none(),
            (Some(token), Some(changed)) if token == changed || changed == "*" => {}
            _ => return false,
        }
    }
}
