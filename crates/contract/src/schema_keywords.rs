//! Recognizes JSON Schemas by their keywords.

use serde_json::Value;
use strict_json::JsonType;

/// The name of a keyword, and a function that checks the type of its value.
type Keyword = (&'static str, fn(&Value) -> bool);

/// Keywords that only a schema has.
const SCHEMA_ONLY_KEYWORDS: [Keyword; 10] = [
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
/// The other keywords of JSON Schema, which ordinary data may have as keys, too.
const COMMON_KEYWORDS: [&str; 44] = [
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

/// Returns whether a schema has a keyword, or deliberately has none (`true`, `{}`).
pub(super) fn has_keyword(schema: &Value) -> bool {
    let known = |key: &String| {
        COMMON_KEYWORDS.contains(&key.as_str())
            || SCHEMA_ONLY_KEYWORDS.iter().any(|(keyword, _)| key == keyword)
    };
    let Some(members) = schema.as_object() else { return true };
    members.is_empty() || members.keys().any(known)
}

/// Returns whether a document is a schema: a boolean, or an object with a keyword that only schemas have.
pub fn is_schema(document: &Value) -> bool {
    let Some(members) = document.as_object() else { return document.is_boolean() };
    let is_type_name = |name: &str| name == "integer" || JsonType::from_name(name).is_some();
    let is_type = |value: &Value| value.as_str().is_some_and(is_type_name);
    let is_types = |value: &Value| {
        is_type(value) || value.as_array().is_some_and(|all| !all.is_empty() && all.iter().all(is_type))
    };
    let type_value = members.get("type");
    if type_value.is_some_and(|value| !is_types(value)) {
        return members.contains_key("$schema");
    }
    type_value.is_some()
        || SCHEMA_ONLY_KEYWORDS.iter().any(|(key, is_valid)| members.get(*key).is_some_and(is_valid))
}
