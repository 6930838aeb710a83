//! Small questions on schemas that have plain answers.

use super::canonicalize::Canonicalizer;
use super::typed_schema::{Bound, TypedSchema, bit, length_of};
use serde_json::{Number, Value};
use std::cmp::Ordering;
use strict_json::JsonType;

/// Whether two values are one; 1 and 1.0 are.
pub(super) fn equal(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => compare(left, right) == Ordering::Equal,
        _ => left == right,
    }
}

/// Numbers by their value.
pub(super) fn compare(left: &Number, right: &Number) -> Ordering {
    if let (Some(left), Some(right)) = (left.as_i128(), right.as_i128()) {
        return left.cmp(&right);
    }
    let value = |number: &Number| number.as_f64().unwrap_or(f64::NAN);
    value(left).total_cmp(&value(right))
}

/// Whether a lower bound is at least as strict as another.
pub(super) fn at_least(bound: &Bound, other: &Bound) -> bool {
    match compare(&bound.at, &other.at) {
        Ordering::Greater => true,
        Ordering::Equal => bound.open || !other.open,
        Ordering::Less => false,
    }
}

/// Whether an upper bound is at least as strict as another.
pub(super) fn at_most(bound: &Bound, other: &Bound) -> bool {
    match compare(&bound.at, &other.at) {
        Ordering::Less => true,
        Ordering::Equal => bound.open || !other.open,
        Ordering::Greater => false,
    }
}

/// Whether all multiples of `number` are multiples of `by`.
pub(super) fn divides(by: &Number, number: &Number) -> bool {
    if let (Some(by), Some(number)) = (by.as_i128(), number.as_i128()) {
        return by != 0 && number % by == 0;
    }
    let (Some(by), Some(number)) = (by.as_f64(), number.as_f64()) else { return false };
    let times = number / by;
    times.is_finite() && (times - times.round()).abs() < 1e-9 * times.abs().max(1.0)
}

/// Whether a value is within the bounds, lengths and patterns of an alternative. Keys, elements and formats
/// are not looked at.
pub(super) fn is_within(alt: &TypedSchema<'_>, value: &Value) -> bool {
    match value {
        Value::Number(number) => {
            let inside = |bound: &Option<Bound>, outside: Ordering| {
                bound.as_ref().is_none_or(|bound| match compare(number, &bound.at) {
                    Ordering::Equal => !bound.open,
                    order => order != outside,
                })
            };
            (!alt.integer || number.as_f64().is_some_and(|number| number.fract() == 0.0))
                && inside(&alt.lower, Ordering::Less)
                && inside(&alt.upper, Ordering::Greater)
                && alt.multiples.iter().all(|by| divides(by, number))
        }
        Value::String(text) => {
            within(alt, JsonType::String, text.chars().count())
                && alt.patterns.iter().all(|pattern| super::pattern::is_match(pattern, text))
        }
        Value::Array(elements) => within(alt, JsonType::Array, elements.len()),
        Value::Object(members) => {
            within(alt, JsonType::Object, members.len())
                && alt.required.iter().all(|key| members.contains_key(*key))
        }
        _ => true,
    }
}

fn within(alt: &TypedSchema<'_>, kind: JsonType, length: usize) -> bool {
    let (least, most) = length_of(kind).map_or((0, None), |at| alt.lengths[at]);
    length as u64 >= least && most.is_none_or(|most| length as u64 <= most)
}

/// The only values that a node takes, where they are plainly listed.
pub(super) fn finite_values(canonicalizer: &Canonicalizer<'_>, node: &[&Value]) -> Option<Vec<Value>> {
    let mut all: Option<Vec<Value>> = None;
    for schema in node {
        let Some(values) = listed_values(canonicalizer, schema, 0) else { continue };
        all = Some(match all {
            Some(before) => {
                before.into_iter().filter(|value| values.iter().any(|other| equal(value, other))).collect()
            }
            None => values,
        });
    }
    all
}

fn listed_values(canonicalizer: &Canonicalizer<'_>, schema: &Value, depth: usize) -> Option<Vec<Value>> {
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
    if let Some(target) =
        members.get("$ref").and_then(Value::as_str).and_then(|text| canonicalizer.target(text))
        && let Some(values) = listed_values(canonicalizer, target, depth + 1)
    {
        return Some(values);
    }
    let parts = members.get("allOf").and_then(Value::as_array).into_iter().flatten();
    if let Some(values) = parts.into_iter().find_map(|part| listed_values(canonicalizer, part, depth + 1)) {
        return Some(values);
    }
    let union = members.get("anyOf").or_else(|| members.get("oneOf")).and_then(Value::as_array)?;
    let each: Option<Vec<Vec<Value>>> =
        union.iter().map(|part| listed_values(canonicalizer, part, depth + 1)).collect();
    Some(each?.into_iter().flatten().collect())
}

/// Whether a value is one of those that a node lists, or it lists none.
pub(super) fn may_accept(canonicalizer: &Canonicalizer<'_>, node: &[&Value], value: &Value) -> bool {
    finite_values(canonicalizer, node).is_none_or(|values| values.iter().any(|other| equal(value, other)))
}

/// The keys whose values a condition tests.
pub(super) fn tested_keys(canonicalizer: &Canonicalizer<'_>, condition: &Value) -> Vec<String> {
    let mut keys = Vec::new();
    let Some(members) = condition.as_object() else { return keys };
    for (key, schema) in members.get("properties").and_then(Value::as_object).into_iter().flatten() {
        if listed_values(canonicalizer, schema, 0).is_some() {
            keys.push(key.clone());
        }
    }
    for keyword in ["allOf", "anyOf", "oneOf"] {
        for part in members.get(keyword).and_then(Value::as_array).into_iter().flatten() {
            keys.extend(tested_keys(canonicalizer, part));
        }
    }
    keys.extend(members.get("not").map(|not| tested_keys(canonicalizer, not)).unwrap_or_default());
    let target = members.get("$ref").and_then(Value::as_str).and_then(|text| canonicalizer.target(text));
    keys.extend(target.map(|target| tested_keys(canonicalizer, target)).unwrap_or_default());
    keys
}

/// Whether a condition holds for all values of an alternative (or for none of them); none where it depends.
pub(super) fn evaluate(
    canonicalizer: &Canonicalizer<'_>,
    condition: &Value,
    alt: &TypedSchema<'_>,
) -> Option<bool> {
    let members = match condition {
        Value::Bool(truth) => return Some(*truth),
        other => other.as_object()?,
    };
    let mut sure = true;
    for (keyword, value) in members {
        let part = match keyword.as_str() {
            // What is no object has nothing wrong with its keys.
            "required" | "properties" if alt.types & bit(JsonType::Object) == 0 => Some(true),
            "required" => keys_hold(value, alt),
            "properties" => properties_hold(canonicalizer, value, alt),
            "type" => match value.as_str() {
                Some(name) if alt.types == bit(alt.json_type()) => Some(alt.json_type().name() == name),
                _ => None,
            },
            "const" | "enum" if alt.types == bit(JsonType::Object) => Some(false),
            "$ref" => {
                canonicalizer.target(value.as_str()?).and_then(|target| evaluate(canonicalizer, target, alt))
            }
            "not" => evaluate(canonicalizer, value, alt).map(|truth| !truth),
            "allOf" => all_of(value, &mut |part| evaluate(canonicalizer, part, alt)),
            "anyOf" => all_of(value, &mut |part| evaluate(canonicalizer, part, alt).map(|truth| !truth))
                .map(|none| !none),
            _ => None,
        };
        match part {
            Some(true) => {}
            Some(false) => return Some(false),
            None => sure = false,
        }
    }
    sure.then_some(true)
}

/// True if all are, false if one is not; none where it depends.
fn all_of(parts: &Value, of: &mut dyn FnMut(&Value) -> Option<bool>) -> Option<bool> {
    let answers: Vec<Option<bool>> = parts.as_array()?.iter().map(of).collect();
    match (answers.contains(&Some(false)), answers.contains(&None)) {
        (true, _) => Some(false),
        (false, true) => None,
        (false, false) => Some(true),
    }
}

fn keys_hold(keys: &Value, alt: &TypedSchema<'_>) -> Option<bool> {
    let object = alt.types == bit(JsonType::Object);
    all_of(keys, &mut |key| {
        let key = key.as_str()?;
        if object && alt.required.contains(key) {
            Some(true)
        } else if object && super::typed_schema::accepts_nothing(&alt.property(key)) {
            Some(false)
        } else {
            None
        }
    })
}

fn properties_hold(
    canonicalizer: &Canonicalizer<'_>,
    properties: &Value,
    alt: &TypedSchema<'_>,
) -> Option<bool> {
    let mut sure = true;
    for (key, schema) in properties.as_object()? {
        let known = alt.tags.get(key).cloned().map(|value| vec![value]);
        let there = alt.types == bit(JsonType::Object) && alt.required.contains(key.as_str());
        let known = known.or_else(|| finite_values(canonicalizer, &alt.property(key)));
        let wanted = listed_values(canonicalizer, schema, 0);
        let (Some(known), Some(wanted)) = (known, wanted) else {
            sure &= schema == &Value::Bool(true);
            continue;
        };
        let plain = ["const", "enum", "type", "$ref"];
        sure &= schema.as_object().is_some_and(|all| {
            all.len() == 1 && plain.contains(&all.keys().next().map_or("", String::as_str))
        });
        let fits = |value: &&Value| wanted.iter().any(|other| equal(value, other));
        match known.iter().filter(fits).count() {
            count if count == known.len() => {}
            // Without the key nothing is wrong with it.
            0 if there => return Some(false),
            _ => sure = false,
        }
    }
    sure.then_some(true)
}
