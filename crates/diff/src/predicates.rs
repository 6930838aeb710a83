//! Comparisons of JSON values, numbers and numeric bounds.

use super::typed_schema::{Bound, TypedSchema};
use agentnative_contract::Decimal;
use serde_json::{Number, Value};
use std::cmp::Ordering;
use strict_json::JsonType;

/// Returns whether two JSON values are equal. The numbers 1 and 1.0 are equal.
pub(super) fn equal(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => compare(left, right) == Ordering::Equal,
        _ => left == right,
    }
}

/// Compares two JSON numbers by value: 1 equals 1.0.
pub(super) fn compare(left: &Number, right: &Number) -> Ordering {
    if let (Some(left), Some(right)) = (left.as_i128(), right.as_i128()) {
        return left.cmp(&right);
    }
    let value = |number: &Number| number.as_f64().unwrap_or(f64::NAN);
    value(left).total_cmp(&value(right))
}

/// How a number within bounds compares with the lower bound (`Greater`) and with the upper bound (`Less`).
pub(super) const INWARD: [Ordering; 2] = [Ordering::Greater, Ordering::Less];

/// Returns whether `bound` is at least as strict as `other`. Both are lower bounds (`inward` is `Greater`) or both are
/// upper bounds (`inward` is `Less`). `None` is no bound.
pub(super) fn is_as_strict(bound: &Option<Bound>, other: &Option<Bound>, inward: Ordering) -> bool {
    match (bound, other) {
        (_, None) => true,
        (None, Some(_)) => false,
        (Some(bound), Some(other)) => match compare(&bound.value, &other.value) {
            Ordering::Equal => bound.exclusive || !other.exclusive,
            order => order == inward,
        },
    }
}

/// Returns whether `number` is a multiple of `by`.
pub(super) fn divides(by: &Number, number: &Number) -> bool {
    let decimal = |number: &Number| Decimal::parse(&number.to_string());
    let exact = decimal(number).zip(decimal(by)).and_then(|(number, by)| number.is_multiple_of(&by));
    exact.unwrap_or(false)
}

/// Returns whether `values` contains a value. 1 and 1.0 are equal.
pub(super) fn contains(values: &[Value], value: &Value) -> bool {
    values.iter().any(|other| equal(value, other))
}

/// Returns the values without duplicates, in order. 1 and 1.0 are duplicates.
pub(super) fn distinct(values: impl IntoIterator<Item = Value>) -> Vec<Value> {
    let mut distinct: Vec<Value> = Vec::new();
    for value in values {
        if !contains(&distinct, &value) {
            distinct.push(value);
        }
    }
    distinct
}

/// Returns whether a value meets the bounds, lengths, patterns and required keys of an alternative. Elements, values of
/// keys, and formats are not checked.
pub(super) fn is_within(alt: &TypedSchema<'_>, value: &Value) -> bool {
    let (min, max) = alt.lengths[JsonType::from(value) as usize];
    let fits_length = |length: usize| length >= min && max.is_none_or(|max| length <= max);
    match value {
        Value::Number(number) => {
            let point = Some(Bound { value: number.clone(), exclusive: false });
            (!alt.integer || number.as_f64().is_some_and(|number| number.fract() == 0.0))
                && alt.bounds.iter().zip(INWARD).all(|(bound, inward)| is_as_strict(&point, bound, inward))
                && alt.multiples.iter().all(|by| divides(by, number))
        }
        Value::String(text) => {
            fits_length(text.chars().count())
                && alt.patterns.iter().all(|pattern| super::pattern::is_match(pattern, text))
        }
        Value::Array(elements) => fits_length(elements.len()),
        Value::Object(members) => {
            fits_length(members.len()) && alt.required.iter().all(|key| members.contains_key(*key))
        }
        _ => true,
    }
}
