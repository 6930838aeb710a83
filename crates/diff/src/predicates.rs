//! Small questions on schemas that have plain answers.

use super::typed_schema::{Bound, TypedSchema};
use agentnative_contract::Decimal;
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
