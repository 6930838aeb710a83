//! Small questions on schemas that have plain answers.

use super::bundle::parts;
use super::canonicalize::Canonicalizer;
use super::typed_schema::{Bound, TypedSchema, bit};
use crate::budget::checkpoint;
use crate::decimal::Decimal;
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

/// Where numbers within a lower and an upper bound are from it.
pub(super) const INWARD: [Ordering; 2] = [Ordering::Greater, Ordering::Less];

/// Whether a bound is at least as strict as another of its side.
pub(super) fn is_as_strict(bound: &Option<Bound>, other: &Option<Bound>, inward: Ordering) -> bool {
    match (bound, other) {
        (_, None) => true,
        (None, Some(_)) => false,
        (Some(bound), Some(other)) => match compare(&bound.at, &other.at) {
            Ordering::Equal => bound.open || !other.open,
            order => order == inward,
        },
    }
}

/// Whether all multiples of `number` are multiples of `by`.
pub(super) fn divides(by: &Number, number: &Number) -> bool {
    let decimal = |number: &Number| Decimal::parse(&number.to_string());
    let exact = decimal(number).zip(decimal(by)).and_then(|(number, by)| number.is_multiple_of(&by));
    exact.unwrap_or(false)
}

/// Whether a value is one of these.
pub(super) fn contains(values: &[Value], value: &Value) -> bool {
    values.iter().any(|other| equal(value, other))
}

/// The different ones of these values.
pub(super) fn distinct(values: impl IntoIterator<Item = Value>) -> Vec<Value> {
    let mut distinct: Vec<Value> = Vec::new();
    for value in values {
        if !contains(&distinct, &value) {
            distinct.push(value);
        }
    }
    distinct
}

/// Whether a value is within the bounds, lengths and patterns of an alternative. Keys, elements and formats
/// are not looked at.
pub(super) fn is_within(alt: &TypedSchema<'_>, value: &Value) -> bool {
    let (least, most) = alt.lengths[JsonType::from(value) as usize];
    let fits = |length: usize| length >= least && most.is_none_or(|most| length <= most);
    match value {
        Value::Number(number) => {
            let point = Some(Bound { at: number.clone(), open: false });
            (!alt.integer || number.as_f64().is_some_and(|number| number.fract() == 0.0))
                && alt.bounds.iter().zip(INWARD).all(|(bound, inward)| is_as_strict(&point, bound, inward))
                && alt.multiples.iter().all(|by| divides(by, number))
        }
        Value::String(text) => {
            fits(text.chars().count())
                && alt.patterns.iter().all(|pattern| super::pattern::is_match(pattern, text))
        }
        Value::Array(elements) => fits(elements.len()),
        Value::Object(members) => {
            fits(members.len()) && alt.required.iter().all(|key| members.contains_key(*key))
        }
        _ => true,
    }
}

/// Conditions in one another are looked at this deep: one may refer to itself.
const MAX_DEPTH: usize = 64;

impl<'a> Canonicalizer<'a> {
    /// The only values that a node takes, where they are plainly listed.
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
        let mut certain = self.reference(members).into_iter().chain(parts(members, "allOf"));
        if let Some(values) = certain.find_map(listed) {
            return Some(values);
        }
        let union = members.get("anyOf").or_else(|| members.get("oneOf")).and_then(Value::as_array)?;
        let each: Option<Vec<Vec<Value>>> = union.iter().map(listed).collect();
        Some(each?.into_iter().flatten().collect())
    }

    /// The keys whose values a condition tests.
    pub(super) fn tested_keys(&self, condition: &Value) -> Vec<String> {
        self.keys_tested(condition, 0)
    }

    fn keys_tested(&self, condition: &Value, depth: usize) -> Vec<String> {
        checkpoint();
        let Some(members) = condition.as_object().filter(|_| depth < MAX_DEPTH) else { return Vec::new() };
        let properties = members.get("properties").and_then(Value::as_object).into_iter().flatten();
        let tested = properties.filter(|(_, schema)| self.listed_values(schema, 0).is_some());
        let mut keys: Vec<String> = tested.map(|(key, _)| key.clone()).collect();
        let in_place = ["allOf", "anyOf", "oneOf"].into_iter().flat_map(|keyword| parts(members, keyword));
        for part in in_place.chain(members.get("not")).chain(self.reference(members)) {
            keys.extend(self.keys_tested(part, depth + 1));
        }
        keys
    }

    /// Whether a condition holds for all values of an alternative (or for none of them); none where it
    /// depends.
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
            Value::Bool(truth) => return Some(*truth),
            other => other.as_object()?,
        };
        let mut sure = true;
        for (keyword, value) in members {
            let part = match keyword.as_str() {
                // What is no object has nothing wrong with its keys.
                "required" | "properties" if alt.types & bit(JsonType::Object) == 0 => Some(true),
                "required" => keys_hold(value, alt),
                "properties" => self.properties_hold(value, alt),
                "type" => match value.as_str() {
                    Some(name) if alt.types == bit(alt.json_type()) => Some(alt.json_type().name() == name),
                    _ => None,
                },
                "const" | "enum" if alt.types == bit(JsonType::Object) => Some(false),
                "$ref" => self.target(value.as_str()?).and_then(evaluate),
                "not" => evaluate(value).map(|truth| !truth),
                "allOf" => all_of(value, evaluate),
                "anyOf" => all_of(value, |part| evaluate(part).map(|truth| !truth)).map(|none| !none),
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

    fn properties_hold(&self, properties: &Value, alt: &TypedSchema<'_>) -> Option<bool> {
        let mut sure = true;
        for (key, schema) in properties.as_object()? {
            let known = alt.tags.get(key).cloned().map(|value| vec![value]);
            let there = alt.types == bit(JsonType::Object) && alt.required.contains(key.as_str());
            let known = known.or_else(|| self.finite_values(&alt.property(key)));
            let wanted = self.listed_values(schema, 0);
            let (Some(known), Some(wanted)) = (known, wanted) else {
                sure &= schema == &Value::Bool(true);
                continue;
            };
            let plain = ["const", "enum", "type", "$ref"];
            sure &= schema.as_object().is_some_and(|all| {
                all.len() == 1 && plain.contains(&all.keys().next().map_or("", String::as_str))
            });
            match known.iter().filter(|value| contains(&wanted, value)).count() {
                count if count == known.len() => {}
                // Without the key nothing is wrong with it.
                0 if there => return Some(false),
                _ => sure = false,
            }
        }
        sure.then_some(true)
    }
}

/// True if all are, false if one is not; none where it depends.
fn all_of(parts: &Value, of: impl Fn(&Value) -> Option<bool>) -> Option<bool> {
    let answers: Vec<Option<bool>> = parts.as_array()?.iter().map(of).collect();
    match (answers.contains(&Some(false)), answers.contains(&None)) {
        (true, _) => Some(false),
        (false, true) => None,
        (false, false) => Some(true),
    }
}

fn keys_hold(keys: &Value, alt: &TypedSchema<'_>) -> Option<bool> {
    let object = alt.types == bit(JsonType::Object);
    all_of(keys, |key| {
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
