//! Evaluates schemas without a value: lists the only values that they accept, and decides whether a condition always or
//! never holds. Returns `None` if the result is not certain.

use super::bundle::subschemas;
use super::canonicalize::Canonicalizer;
use super::predicates::contains;
use super::typed_schema::{TypedSchema, accepts_nothing, type_bit};
use agentnative_contract::budget::checkpoint;
use serde_json::Value;
use strict_json::JsonType;

/// Maximum nesting depth of an evaluated condition. It ends the evaluation of a condition that refers to itself.
const MAX_DEPTH: usize = 64;

impl<'a> Canonicalizer<'a> {
    /// Returns the only values that all schemas in `node` accept, such as those of an `enum`. `None` if the schemas do
    /// not list their values.
    pub(super) fn finite_values(&self, node: &[&Value]) -> Option<Vec<Value>> {
        let listed = node.iter().filter_map(|schema| self.listed_values(schema, 0));
        listed.reduce(|before, values| before.into_iter().filter(|value| contains(&values, value)).collect())
    }

    fn listed_values(&self, schema: &Value, depth: usize) -> Option<Vec<Value>> {
        if schema == &Value::Bool(false) {
            return Some(Vec::new());
        }
        let members = schema.as_object().filter(|_| depth < 8)?;
        if let Some(value) = members.get("const") {
            return Some(vec![value.clone()]);
        }
        if let Some(Value::Array(values)) = members.get("enum") {
            return Some(values.clone());
        }
        match members.get("type").and_then(Value::as_str) {
            Some("boolean") => return Some(vec![Value::Bool(false), Value::Bool(true)]),
            Some("null") => return Some(vec![Value::Null]),
            _ => {}
        }
        let listed = |part: &Value| self.listed_values(part, depth + 1);
        let mut certain = self.resolve_ref(members).into_iter().chain(subschemas(members, "allOf"));
        if let Some(values) = certain.find_map(listed) {
            return Some(values);
        }
        let union = members.get("anyOf").or_else(|| members.get("oneOf")).and_then(Value::as_array)?;
        let each: Option<Vec<Vec<Value>>> = union.iter().map(listed).collect();
        Some(each?.into_iter().flatten().collect())
    }

    /// Returns the keys whose values an `if` schema compares with listed values, such as `type` for
    /// `{"properties": {"type": {"const": "a"}}}`.
    pub(super) fn tested_keys(&self, condition: &Value) -> Vec<String> {
        self.collect_tested_keys(condition, 0)
    }

    fn collect_tested_keys(&self, condition: &Value, depth: usize) -> Vec<String> {
        checkpoint();
        let Some(members) = condition.as_object().filter(|_| depth < MAX_DEPTH) else { return Vec::new() };
        let properties = members.get("properties").and_then(Value::as_object).into_iter().flatten();
        let tested = properties.filter(|(_, schema)| self.listed_values(schema, 0).is_some());
        let mut keys: Vec<String> = tested.map(|(key, _)| key.clone()).collect();
        let in_place =
            ["allOf", "anyOf", "oneOf"].into_iter().flat_map(|keyword| subschemas(members, keyword));
        for part in in_place.chain(members.get("not")).chain(self.resolve_ref(members)) {
            keys.extend(self.collect_tested_keys(part, depth + 1));
        }
        keys
    }

    /// Returns `Some(true)` if a condition holds for all values of an alternative, `Some(false)` if it holds for none,
    /// and `None` if it depends on the value or cannot be decided.
    pub(super) fn evaluate(&self, condition: &Value, alt: &TypedSchema<'_>) -> Option<bool> {
        self.evaluate_at(condition, alt, 0)
    }

    fn evaluate_at(&self, condition: &Value, alt: &TypedSchema<'_>, depth: usize) -> Option<bool> {
        checkpoint();
        if depth > MAX_DEPTH {
            return None;
        }
        let evaluate = |part: &Value| self.evaluate_at(part, alt, depth + 1);
        let members = match condition {
            Value::Bool(holds) => return Some(*holds),
            other => other.as_object()?,
        };
        let mut is_certain = true;
        for (keyword, value) in members {
            let part = match keyword.as_str() {
                // `required` and `properties` accept every value that is not an object.
                "required" | "properties" if alt.types & type_bit(JsonType::Object) == 0 => Some(true),
                "required" => keys_hold(value, alt),
                "properties" => self.properties_hold(value, alt),
                "type" => match value.as_str() {
                    Some(name) if alt.types == type_bit(alt.json_type()) => {
                        Some(alt.json_type().name() == name)
                    }
                    _ => None,
                },
                "const" | "enum" if alt.types == type_bit(JsonType::Object) => Some(false),
                "$ref" => self.resolve(value.as_str()?).and_then(evaluate),
                "not" => evaluate(value).map(|holds| !holds),
                "allOf" => all_hold(value, evaluate),
                "anyOf" => all_hold(value, |part| evaluate(part).map(|holds| !holds)).map(|none| !none),
                _ => None,
            };
            match part {
                Some(true) => {}
                Some(false) => return Some(false),
                None => is_certain = false,
            }
        }
        is_certain.then_some(true)
    }

    fn properties_hold(&self, properties: &Value, alt: &TypedSchema<'_>) -> Option<bool> {
        let mut is_certain = true;
        for (key, schema) in properties.as_object()? {
            let known = alt.tags.get(key).cloned().map(|value| vec![value]);
            let is_present = alt.types == type_bit(JsonType::Object) && alt.required.contains(key.as_str());
            let known = known.or_else(|| self.finite_values(&alt.property(key)));
            let expected = self.listed_values(schema, 0);
            let (Some(known), Some(expected)) = (known, expected) else {
                is_certain &= schema == &Value::Bool(true);
                continue;
            };
            let certain_keywords = ["const", "enum", "type", "$ref"];
            is_certain &= schema.as_object().is_some_and(|all| {
                all.len() == 1 && certain_keywords.contains(&all.keys().next().map_or("", String::as_str))
            });
            match known.iter().filter(|value| contains(&expected, value)).count() {
                count if count == known.len() => {}
                // `properties` accepts an object without the key.
                0 if is_present => return Some(false),
                _ => is_certain = false,
            }
        }
        is_certain.then_some(true)
    }
}

/// Evaluates each element of the array `parts`. Returns `Some(true)` if all are true, `Some(false)` if one is false,
/// and `None` otherwise.
fn all_hold(parts: &Value, evaluate: impl Fn(&Value) -> Option<bool>) -> Option<bool> {
    let results: Vec<Option<bool>> = parts.as_array()?.iter().map(evaluate).collect();
    match (results.contains(&Some(false)), results.contains(&None)) {
        (true, _) => Some(false),
        (false, true) => None,
        (false, false) => Some(true),
    }
}

fn keys_hold(keys: &Value, alt: &TypedSchema<'_>) -> Option<bool> {
    let object = alt.types == type_bit(JsonType::Object);
    all_hold(keys, |key| {
        let key = key.as_str()?;
        if object && alt.required.contains(key) {
            Some(true)
        } else if object && accepts_nothing(&alt.property(key)) {
            Some(false)
        } else {
            None
        }
    })
}
