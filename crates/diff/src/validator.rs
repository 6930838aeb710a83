//! Asking the validator, and the algebra of schemas.

use super::bundle::{UNKNOWN, parts};
use jsonschema::canonical::{self, CanonicalSchema, Containment};
use jsonschema::{Draft, PatternOptions, Validator};
use serde_json::{Map, Value};

/// Schemas of a union or conjunction that the algebra is asked for, at most: it holds each of them to each other one.
const MAX_PARTS: usize = 2_000;

/// A validator that holds formats to be promises; none for a schema that it refuses or that is not understood.
pub(super) fn validator(schema: &Value) -> Option<Validator> {
    if has_unknown(schema) {
        return None;
    }
    jsonschema::options()
        .with_draft(Draft::Draft202012)
        .with_pattern_options(PatternOptions::regex())
        .should_validate_formats(true)
        .build(schema)
        .ok()
}

/// Whether a value keeps a schema; none where that cannot be told.
pub(super) fn valid(schema: &Value, value: &Value) -> Option<bool> {
    Some(validator(schema)?.is_valid(value))
}

/// Whether `wide` takes all that `narrow` takes; none where that cannot be told.
pub(super) fn covers(wide: &Value, narrow: &Value) -> Option<bool> {
    if wide == narrow && !has_unknown(wide) {
        return Some(true);
    }
    match canonical(wide)?.covers(&canonical(narrow)?).ok()? {
        Containment::Yes => Some(true),
        Containment::No => Some(false),
        Containment::Unknown => None,
    }
}

fn canonical(schema: &Value) -> Option<CanonicalSchema> {
    if is_beyond_algebra(schema) {
        return None;
    }
    canonical::options()
        .with_draft(Draft::Draft202012)
        .with_pattern_options(PatternOptions::regex())
        .should_validate_formats(true)
        .offline()
        .canonicalize(schema)
        .ok()
}

/// Whether the algebra cannot answer, or would take too long.
fn is_beyond_algebra(schema: &Value) -> bool {
    any_object(schema, &|members| {
        let many = |keyword| parts(members, keyword).count() > MAX_PARTS;
        members.contains_key(UNKNOWN) || ["allOf", "anyOf", "oneOf"].into_iter().any(many)
    })
}

/// Whether a part of a schema is not understood.
pub(super) fn has_unknown(schema: &Value) -> bool {
    any_object(schema, &|members| members.contains_key(UNKNOWN))
}

fn any_object(value: &Value, is: &impl Fn(&Map<String, Value>) -> bool) -> bool {
    match value {
        Value::Object(members) => is(members) || members.values().any(|value| any_object(value, is)),
        Value::Array(elements) => elements.iter().any(|value| any_object(value, is)),
        _ => false,
    }
}
