//! Small questions on schemas that have plain answers.

use super::alt::{Alt, Bound, Kind, length_of};
use super::expand::Expander;
use serde_json::{Number, Value};
use std::cmp::Ordering;

/// Whether two values are one; 1 and 1.0 are.
pub(super) fn same(left: &Value, right: &Value) -> bool {
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
pub(super) fn keeps(alt: &Alt<'_>, value: &Value) -> bool {
    match value {
        Value::Number(number) => {
            let bound = Bound { at: number.clone(), open: false };
            (!alt.integer || number.as_f64().is_some_and(|number| number.fract() == 0.0))
                && alt.lower.as_ref().is_none_or(|lower| match compare(number, &lower.at) {
                    Ordering::Equal => !lower.open,
                    order => order == Ordering::Greater,
                })
                && alt.upper.as_ref().is_none_or(|upper| {
                    !at_most(upper, &bound) || {
                        compare(number, &upper.at) == Ordering::Equal && !upper.open
                    }
                })
                && alt.multiples.iter().all(|by| divides(by, number))
        }
        Value::String(text) => {
            within(alt, Kind::Text, text.chars().count())
                && alt.patterns.iter().all(|pattern| super::pattern::found(pattern, text))
        }
        Value::Array(elements) => within(alt, Kind::Array, elements.len()),
        Value::Object(members) => {
            within(alt, Kind::Object, members.len())
                && alt.required.iter().all(|key| members.contains_key(*key))
        }
        _ => true,
    }
}

fn within(alt: &Alt<'_>, kind: Kind, length: usize) -> bool {
    let (least, most) = length_of(kind).map_or((0, None), |at| alt.lengths[at]);
    length as u64 >= least && most.is_none_or(|most| length as u64 <= most)
}

/// The only values that a node takes, where they are plainly listed.
pub(super) fn finite(expander: &Expander<'_>, node: &[&Value]) -> Option<Vec<Value>> {
    let mut all: Option<Vec<Value>> = None;
    for schema in node {
        let Some(values) = listed(expander, schema, 0) else { continue };
        all = Some(match all {
            Some(before) => {
                before.into_iter().filter(|value| values.iter().any(|other| same(value, other))).collect()
            }
            None => values,
        });
    }
    all
}

fn listed(expander: &Expander<'_>, schema: &Value, depth: usize) -> Option<Vec<Value>> {
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
    if let Some(target) = members.get("$ref").and_then(Value::as_str).and_then(|text| root_of(expander, text))
        && let Some(values) = listed(expander, target, depth + 1)
    {
        return Some(values);
    }
    let parts = members.get("allOf").and_then(Value::as_array).into_iter().flatten();
    if let Some(values) = parts.into_iter().find_map(|part| listed(expander, part, depth + 1)) {
        return Some(values);
    }
    let union = members.get("anyOf").or_else(|| members.get("oneOf")).and_then(Value::as_array)?;
    let each: Option<Vec<Vec<Value>>> = union.iter().map(|part| listed(expander, part, depth + 1)).collect();
    Some(each?.into_iter().flatten().collect())
}

fn root_of<'a>(expander: &Expander<'a>, reference: &str) -> Option<&'a Value> {
    expander.target(reference)
}

/// Whether a value is one of those that a node lists, or it lists none.
pub(super) fn accepts_plainly(expander: &Expander<'_>, node: &[&Value], value: &Value) -> bool {
    finite(expander, node).is_none_or(|values| values.iter().any(|other| same(value, other)))
}

/// The keys whose values a condition tests.
pub(super) fn tests(expander: &Expander<'_>, condition: &Value) -> Vec<String> {
    let mut keys = Vec::new();
    let Some(members) = condition.as_object() else { return keys };
    for (key, schema) in members.get("properties").and_then(Value::as_object).into_iter().flatten() {
        if listed(expander, schema, 0).is_some() {
            keys.push(key.clone());
        }
    }
    for keyword in ["allOf", "anyOf", "oneOf"] {
        for part in members.get(keyword).and_then(Value::as_array).into_iter().flatten() {
            keys.extend(tests(expander, part));
        }
    }
    keys.extend(members.get("not").map(|not| tests(expander, not)).unwrap_or_default());
    let target = members.get("$ref").and_then(Value::as_str).and_then(|text| root_of(expander, text));
    keys.extend(target.map(|target| tests(expander, target)).unwrap_or_default());
    keys
}

/// Whether a condition holds for all values of an alternative (or for none of them); none where it depends.
pub(super) fn holds(expander: &Expander<'_>, condition: &Value, alt: &Alt<'_>) -> Option<bool> {
    let members = match condition {
        Value::Bool(truth) => return Some(*truth),
        other => other.as_object()?,
    };
    let mut sure = true;
    for (keyword, value) in members {
        let part = match keyword.as_str() {
            // What is no object has nothing wrong with its keys.
            "required" | "properties" if alt.kinds & Kind::Object.bit() == 0 => Some(true),
            "required" => keys_hold(value, alt),
            "properties" => properties_hold(expander, value, alt),
            "type" => match value.as_str() {
                Some(name) if alt.kinds == alt.kind().bit() => Some(alt.kind().name() == name),
                _ => None,
            },
            "const" | "enum" if alt.kinds == Kind::Object.bit() => Some(false),
            "$ref" => root_of(expander, value.as_str()?).and_then(|target| holds(expander, target, alt)),
            "not" => holds(expander, value, alt).map(|truth| !truth),
            "allOf" => all(value, &mut |part| holds(expander, part, alt)),
            "anyOf" => {
                all(value, &mut |part| holds(expander, part, alt).map(|truth| !truth)).map(|none| !none)
            }
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
fn all(parts: &Value, of: &mut dyn FnMut(&Value) -> Option<bool>) -> Option<bool> {
    let answers: Vec<Option<bool>> = parts.as_array()?.iter().map(of).collect();
    match (answers.contains(&Some(false)), answers.contains(&None)) {
        (true, _) => Some(false),
        (false, true) => None,
        (false, false) => Some(true),
    }
}

fn keys_hold(keys: &Value, alt: &Alt<'_>) -> Option<bool> {
    let object = alt.kinds == Kind::Object.bit();
    all(keys, &mut |key| {
        let key = key.as_str()?;
        if object && alt.required.contains(key) {
            Some(true)
        } else if object && super::alt::is_nothing(&alt.key(key)) {
            Some(false)
        } else {
            None
        }
    })
}

fn properties_hold(expander: &Expander<'_>, properties: &Value, alt: &Alt<'_>) -> Option<bool> {
    let mut sure = true;
    for (key, schema) in properties.as_object()? {
        let known = alt.tags.get(key).cloned().map(|value| vec![value]);
        let there = alt.kinds == Kind::Object.bit() && alt.required.contains(key.as_str());
        let known = known.or_else(|| finite(expander, &alt.key(key)));
        let wanted = listed(expander, schema, 0);
        let (Some(known), Some(wanted)) = (known, wanted) else {
            sure &= schema == &Value::Bool(true);
            continue;
        };
        let plain = ["const", "enum", "type", "$ref"];
        sure &= schema.as_object().is_some_and(|all| {
            all.len() == 1 && plain.contains(&all.keys().next().map_or("", String::as_str))
        });
        let fits = |value: &&Value| wanted.iter().any(|other| same(value, other));
        match known.iter().filter(fits).count() {
            count if count == known.len() => {}
            // Without the key nothing is wrong with it.
            0 if there => return Some(false),
            _ => sure = false,
        }
    }
    sure.then_some(true)
}
