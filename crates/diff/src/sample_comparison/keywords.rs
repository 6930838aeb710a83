//! Finds the rule of `contract diff` for a violation of a schema or contract by a sample.

use agentnative_contract::{Against, Violation};
use strict_json::{JsonType, TapeNode, unescape_token};

/// Maps the schema keyword or contract rule that rejects a sample to the rule of a change. The change leads from the
/// schema (old) to the sample (new). In the other direction, `back` in the first example of the rule names the rule.
const RULES: [(&str, &str); 25] = [
    ("additionalItems", "diff-length-loosened"),
    ("additionalProperties", "diff-key-added-to-closed"),
    ("const", "diff-enum-value-added"),
    ("enum", "diff-enum-value-added"),
    ("exclusiveMaximum", "diff-range-loosened"),
    ("exclusiveMinimum", "diff-range-loosened"),
    // For elements. `forbidden_key` handles keys.
    ("falseSchema", "diff-length-loosened"),
    ("format", "diff-format-loosened"),
    ("maxItems", "diff-length-loosened"),
    ("maxLength", "diff-length-loosened"),
    ("maxProperties", "diff-length-loosened"),
    ("maximum", "diff-range-loosened"),
    ("minItems", "diff-length-loosened"),
    ("minLength", "diff-length-loosened"),
    ("minProperties", "diff-length-loosened"),
    ("minimum", "diff-range-loosened"),
    ("multipleOf", "diff-range-loosened"),
    ("pattern", "diff-pattern-loosened"),
    ("required", "diff-key-optional"),
    ("unevaluatedItems", "diff-length-loosened"),
    ("unevaluatedProperties", "diff-key-added-to-closed"),
    ("uniqueItems", "diff-unique-loosened"),
    // Rules of contracts, by ID.
    ("event-type", "diff-event-added"),
    ("first-event", "diff-first-event-changed"),
    ("last-event", "diff-terminal-event-changed"),
];

/// Returns the rule for a value whose type the schema rejects. `is_fraction` means that the schema requires an integer.
pub(super) fn rule_of_type(value: TapeNode<'_>, is_fraction: bool) -> &'static str {
    match value.json_type() {
        JsonType::Null => "diff-null-added",
        JsonType::Number if is_fraction => "diff-integer-became-number",
        _ => "diff-type-widened",
    }
}

/// Returns the rule for a missing key. `place` is the location in the schema that requires the key.
pub(super) fn rule_of_missing(place: &str) -> &'static str {
    let depends = |token: &str| ["dependentRequired", "dependencies"].contains(&token);
    if place.split('/').any(depends) { "diff-dependency-removed" } else { "diff-key-optional" }
}

/// Returns the rule for a violation. `value` is the rejected value, if it is known.
pub(super) fn rule_of(violation: &Violation, value: Option<TapeNode<'_>>) -> &'static str {
    let keyword = violation.keyword.as_deref();
    let known = |name: &str| RULES.iter().find(|(keyword, _)| *keyword == name).map(|(_, rule)| *rule);
    match (keyword, value) {
        (Some("type"), Some(value)) => {
            rule_of_type(value, violation.message.starts_with("expected an integer"))
        }
        (Some("type"), None) if violation.message.ends_with("found null") => "diff-null-added",
        (Some("type"), None) => "diff-type-widened",
        (Some(keyword), _) => known(keyword).unwrap_or("diff-condition-loosened"),
        (None, _) if violation.message.starts_with("expected an event type") => "diff-discriminator-removed",
        (None, _) => known(&violation.rule).unwrap_or("diff-rule-removed"),
    }
}

/// Returns the key at which the schema allows no value, that is, the last token of the pointer. `None` if that token is
/// an array index.
pub(super) fn forbidden_key(violation: &Violation) -> Option<String> {
    let (_, last) = violation.pointer.rsplit_once('/')?;
    (!is_index(last)).then(|| unescape_token(last))
}

/// Returns whether a token of a JSON Pointer consists of digits, as an array index does.
pub(super) fn is_index(token: &str) -> bool {
    !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns the message of a change for a violation. If the violated contract rule has no own entry in [`RULES`], its
/// name precedes the message.
pub(super) fn message(violation: &Violation) -> String {
    let is_rule = violation.keyword.is_none()
        && violation.against != Against::Json
        && rule_of(violation, None) == "diff-rule-removed";
    if is_rule {
        format!("the rule `{}`: {}", violation.rule, violation.message)
    } else {
        violation.message.clone()
    }
}
