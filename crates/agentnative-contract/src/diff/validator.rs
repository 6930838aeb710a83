//! Asking the validator, and the algebra of schemas.

use super::bundle::UNKNOWN;
use jsonschema::canonical::{self, CanonicalSchema, Containment};
use jsonschema::{Draft, PatternOptions, Validator};
use serde_json::Value;

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
    if mentions_unknown(schema) {
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

fn mentions_unknown(schema: &Value) -> bool {
    match schema {
        Value::Object(members) => members.contains_key(UNKNOWN) || members.values().any(mentions_unknown),
        Value::Array(elements) => elements.iter().any(mentions_unknown),
        _ => false,
    }
}
