//! Validates values, and decides whether one schema accepts all values that another one accepts.

use super::bundle::{UNKNOWN_KEYWORD, subschemas};
use jsonschema::canonical::{self, CanonicalSchema, Containment};
use jsonschema::{Draft, PatternOptions, Validator};
use serde_json::{Map, Value};

/// Maximum number of schemas in `allOf`, `anyOf` or `oneOf` for which containment is decided. They are compared
/// pairwise, which takes too long for more.
const MAX_PARTS: usize = 2_000;

/// Compiles a validator that checks formats, too. `None` if the schema is invalid or has a part that cannot be
/// resolved.
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

/// Returns whether a value is valid under a schema. `None` if the schema cannot be compiled.
pub(super) fn valid(schema: &Value, value: &Value) -> Option<bool> {
    Some(validator(schema)?.is_valid(value))
}

/// Returns whether `wide` accepts every value that `narrow` accepts; `None` if this cannot be decided.
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

/// Returns whether containment cannot be decided for a schema: a part cannot be resolved, or it would take too long.
fn is_beyond_algebra(schema: &Value) -> bool {
    any_object(schema, &|members| {
        let many = |keyword| subschemas(members, keyword).count() > MAX_PARTS;
        members.contains_key(UNKNOWN_KEYWORD) || ["allOf", "anyOf", "oneOf"].into_iter().any(many)
    })
}

/// Returns whether a schema has a part that could not be resolved ([`UNKNOWN_KEYWORD`]).
pub(super) fn has_unknown(schema: &Value) -> bool {
    any_object(schema, &|members| members.contains_key(UNKNOWN_KEYWORD))
}

fn any_object(value: &Value, is: &impl Fn(&Map<String, Value>) -> bool) -> bool {
    match value {
        Value::Object(members) => is(members) || members.values().any(|value| any_object(value, is)),
        Value::Array(elements) => elements.iter().any(|value| any_object(value, is)),
        _ => false,
    }
}
