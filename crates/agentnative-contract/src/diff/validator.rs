//! Asking the validator, and the algebra of schemas.

use super::bundle::{UNKNOWN, parts};
use jsonschema::canonical::{self, CanonicalSchema, Containment};
use jsonschema::{Draft, PatternOptions, Validator};
use serde_json::Value;

/// Schemas of a union or conjunction that the algebra is asked for, at most: it holds each of them to each other one.
const MAX_PARTS: usize = 2_000;

/// A validator that holds formats to be promises; none for a schema that it refuses.
pub(super) fn validator(schema: &Value) -> Option<Validator> {
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
    if wide == narrow {
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
    match schema {
        Value::Object(members) => {
            let many = |keyword| parts(members, keyword).count() > MAX_PARTS;
            members.contains_key(UNKNOWN)
                || ["allOf", "anyOf", "oneOf"].into_iter().any(many)
                || members.values().any(is_beyond_algebra)
        }
        Value::Array(elements) => elements.iter().any(is_beyond_algebra),
        _ => false,
    }
}
