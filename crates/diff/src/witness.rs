//! Output that shows a change: made up, then held to both schemas before it is shown.

use super::canonicalize::Canonicalizer;
use super::change::{Change, Witness};
use super::typed_schema::TypedSchema;
use super::validator::{has_unknown, validator};
use super::walk::Walker;
use agentnative_contract::{Schema, Violation};
use jsonschema::Validator;
use serde_json::Value;
use std::cell::OnceCell;
use strict_json::{JsonType, escape_token, unescape_token};

/// A witness is at most this many bytes long.
const MAX_BYTES: usize = 4_000;
/// Keys that are put into a witness so that it shows one change only, at most.
const MAX_REPAIRS: usize = 12;

/// Holds documents to an old and a new schema, which are compiled when they are needed.
pub(super) struct Witnesses<'b> {
    schemas: &'b (Value, Value),
    compiled: OnceCell<Option<(Schema, Validator)>>,
    /// The old side, which samples are taken from.
    old: Walker<'b>,
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
            old: Walker::new(side.root, side.root),
            before: before.to_vec(),
        }
    }

    /// The witness, if the new schema takes the document and the old one does not. What else the old schema
    /// wants is put into it where that can be done.
    pub fn check(&self, found: &Change, document: &Value) -> Option<Witness> {
        let (old, new) = self.schemas;
        let understood = || (!has_unknown(old)).then(|| Schema::compile_with_formats(old).ok()).flatten();
        let compiled = || understood().zip(validator(new));
        let (old, new) = self.compiled.get_or_init(compiled).as_ref()?;
        let first = old.violations(document).into_iter().next()?;
        if !new.is_valid(document) {
            return None;
        }
        let (mut clearest, mut violation) = (document.clone(), first);
        let mut repaired = document.clone();
        for _ in 0..MAX_REPAIRS {
            let violations = old.violations(&repaired);
            let Some(shows) = violations.iter().find(|violation| is_caused_by(violation, found)) else {
                break;
            };
            if new.is_valid(&repaired) {
                (clearest, violation) = (repaired.clone(), shows.clone());
            }
            let other = violations.iter().find(|violation| !is_caused_by(violation, found));
            let Some(()) = other.and_then(|violation| self.repair(&mut repaired, violation)) else { break };
        }
        if clearest.to_string().len() > MAX_BYTES {
            return None;
        }
        let place =
            if violation.pointer.is_empty() { String::new() } else { format!("{}: ", violation.pointer) };
        Some(Witness { document: clearest, rejected: format!("{place}{}", violation.message) })
    }

    /// Puts a key into the document that the old schema misses.
    fn repair(&self, document: &mut Value, violation: &Violation) -> Option<()> {
        let key = missing_key(violation)?;
        let mut alts = self.before.clone();
        let mut at = &*document;
        for token in violation.pointer.split('/').skip(1) {
            let token = unescape_token(token);
            let kind = JsonType::from(at);
            let alt = alts.iter().find(|alt| alt.json_type() == kind)?;
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
            None => self.old.sample_node(&alt.property(&key), 2)?,
        };
        document.pointer_mut(&violation.pointer)?.as_object_mut()?.insert(key, value);
        Some(())
    }
}

/// The key that a violation says is missing.
pub(super) fn missing_key(violation: &Violation) -> Option<String> {
    let of_key = violation.keyword.as_deref() == Some("required");
    of_key.then(|| violation.message.split('`').nth(1).map(str::to_owned)).flatten()
}

/// Whether a violation is what a change comes to.
fn is_caused_by(violation: &Violation, found: &Change) -> bool {
    let mut place = violation.pointer.clone();
    if let Some(key) = missing_key(violation) {
        place = format!("{place}/{}", escape_token(&key));
    }
    let (mut tokens, mut wanted) = (place.split('/'), found.pointer.split('/'));
    loop {
        match (tokens.next(), wanted.next()) {
            (None, None) => return true,
            // An object that is refused because of a key of its own, or a value because of a part of it.
            (Some(_), None) | (None, Some(_)) => return missing_key(violation).is_none(),
            (Some(token), Some(wanted)) if token == wanted || wanted == "*" => {}
            _ => return false,
        }
    }
}
