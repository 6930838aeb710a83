//! Recognizes JSON Schemas by their keywords.

use serde_json::Value;
use strict_json::JsonType;

/// A keyword, and the test that a value of it passes.
type Keyword = (&'static str, fn(&Value) -> bool);

/// Keywords that only a schema has.
const KEYWORDS: [Keyword; 10] = [
    ("$schema", Value::is_string),
    ("$ref", Value::is_string),
    ("$defs", Value::is_object),
    ("definitions", Value::is_object),
    ("properties", Value::is_object),
    ("items", |value| value.is_object() || value.is_boolean()),
    ("oneOf", Value::is_array),
    ("anyOf", Value::is_array),
    ("allOf", Value::is_array),
    ("enum", Value::is_array),
];
/// The others that say something of values, or of the schema itself.
const OTHERS: [&str; 44] = [
    "$anchor",
    "$dynamicAnchor",
    "$dynamicRef",
    "$id",
    "$recursiveAnchor",
    "$recursiveRef",
    "$vocabulary",
    "additionalItems",
    "additionalProperties",
    "const",
    "contains",
    "contentEncoding",
    "contentMediaType",
    "contentSchema",
    "dependencies",
    "dependentRequired",
    "dependentSchemas",
    "else",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "format",
    "if",
    "maxContains",
    "maxItems",
    "maxLength",
    "maxProperties",
    "maximum",
    "minContains",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
    "multipleOf",
    "not",
    "pattern",
    "patternProperties",
    "prefixItems",
    "propertyNames",
    "required",
    "then",
    "type",
    "unevaluatedItems",
    "unevaluatedProperties",
    "uniqueItems",
];

/// Whether a schema has a keyword, or is meant to have none: `true`, `{}`.
pub(super) fn has_keyword(schema: &Value) -> bool {
    let known =
        |key: &String| OTHERS.contains(&key.as_str()) || KEYWORDS.iter().any(|(keyword, _)| key == keyword);
    let Some(members) = schema.as_object() else { return true };
    members.is_empty() || members.keys().any(known)
}

/// Whether a document is meant for a schema: a boolean, or an object with a keyword that only a schema has.
pub fn is_schema(document: &Value) -> bool {
    let Some(members) = document.as_object() else { return document.is_boolean() };
    let name = |name: &str| name == "integer" || JsonType::from_name(name).is_some();
    let one = |value: &Value| value.as_str().is_some_and(name);
    let types = |value: &Value| {
        one(value) || value.as_array().is_some_and(|all| !all.is_empty() && all.iter().all(one))
    };
    let typed = members.get("type");
    if typed.is_some_and(|typed| !types(typed)) {
        return members.contains_key("$schema");
    }
    typed.is_some() || KEYWORDS.iter().any(|(key, fits)| members.get(*key).is_some_and(fits))
}
