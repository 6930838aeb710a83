//! Alternatives in normal form: conditions decided where they can be, without what says nothing.

use super::canonicalize::{Canonicalizer, MAX_ALTERNATIVES};
use super::predicates::{contains, divides, is_within};
use super::typed_schema::{Bound, Condition, TypedSchema, accepts_nothing, bit};
use super::validator::validator;
use serde_json::{Number, Value};
use strict_json::JsonType;

impl<'a> Canonicalizer<'a> {
    /// Decides `if` where the values of keys that it tests are known, which may take an alternative for
    /// each value.
    pub(super) fn resolve_branches(&self, mut alt: TypedSchema<'a>, out: &mut Vec<TypedSchema<'a>>) {
        let Some(members) = alt.branches.first().copied() else {
            if self.is_satisfiable(&alt) {
                out.push(alt);
            }
            return;
        };
        let condition = &members["if"];
        for key in self.tested_keys(condition) {
            if alt.tags.contains_key(&key)
                || !alt.required.contains(key.as_str())
                || out.len() > MAX_ALTERNATIVES
            {
                continue;
            }
            let values = self.finite_values(&alt.property(&key));
            let Some(values) = values.filter(|values| values.len() <= 32) else { continue };
            for value in values {
                let mut one = alt.clone();
                one.tags.insert(key.clone(), value);
                self.resolve_branches(one, out);
            }
            return;
        }
        alt.branches.remove(0);
        match self.evaluate(condition, &alt) {
            Some(truth) => {
                let follows = members.get(if truth { "then" } else { "else" });
                let alts = match follows {
                    Some(schema) => self.conjoin(alt, schema),
                    None => vec![alt],
                };
                alts.into_iter().for_each(|alt| self.resolve_branches(alt, out));
            }
            None => {
                alt.conditions.push(self.condition(members, &["if", "then", "else"]));
                let (Some(then), Some(otherwise)) = (members.get("then"), members.get("else")) else {
                    self.resolve_branches(alt, out);
                    return;
                };
                // One or the other holds, whatever the condition is.
                let held = self.conjoin_each(self.conjoin(alt.clone(), condition), then);
                for alt in held.into_iter().chain(self.conjoin(alt, otherwise)) {
                    self.resolve_branches(alt, out);
                }
            }
        }
    }

    /// Whether there may be a value that keeps it.
    pub(super) fn is_satisfiable(&self, alt: &TypedSchema<'a>) -> bool {
        if alt.types & bit(JsonType::Object) == 0 {
            return alt.types != 0;
        }
        let clash = alt.required.iter().any(|key| {
            let node = alt.property(key);
            let refused = |values: Vec<Value>| {
                values.is_empty() || alt.tags.get(*key).is_some_and(|tag| !contains(&values, tag))
            };
            accepts_nothing(&node) || self.finite_values(&node).is_some_and(refused)
        });
        !clash || alt.types != bit(JsonType::Object)
    }

    /// An alternative of one type in its simplest form; none when nothing can keep it.
    pub(super) fn normalized(&self, mut alt: TypedSchema<'a>) -> Option<TypedSchema<'a>> {
        if !self.is_satisfiable(&alt) {
            return None;
        }
        let kind = alt.json_type();
        if kind == JsonType::Boolean && alt.values.is_none() {
            alt.values = Some(vec![Value::Bool(false), Value::Bool(true)]);
        }
        if kind == JsonType::Null {
            alt.values = Some(vec![Value::Null]);
        }
        if kind == JsonType::Number {
            alt.integer |= alt.multiples.iter().any(|by| divides(&Number::from(1), by));
            alt.multiples.retain(|by| by.as_f64() != Some(1.0));
            if alt.integer {
                let [lower, upper] = alt.bounds;
                let within = |bound: Option<Bound>, step| bound.map(|bound| to_integer_bound(bound, step));
                alt.bounds = [within(lower, 1), within(upper, -1)];
            }
        }
        if let Some(mut values) = alt.values.take() {
            values.retain(|value| JsonType::from(value) == kind && is_within(&alt, value));
            if values.is_empty() {
                return None;
            }
            alt.values = Some(values);
        }
        // What says nothing of this type is not in it.
        if kind != JsonType::String {
            alt.patterns.clear();
            alt.formats.clear();
        }
        if kind != JsonType::Array {
            alt.elements.clear();
            alt.unique = false;
        }
        if kind != JsonType::Number {
            (alt.bounds, alt.integer) = ([None, None], false);
            alt.multiples.clear();
        }
        if kind != JsonType::Object {
            alt.keys.clear();
            alt.unevaluated.clear();
            alt.names.clear();
            alt.required.clear();
            alt.forbidden.clear();
            alt.dependent.clear();
        }
        alt.conditions.retain(|condition| applies_to(condition, kind));
        alt.conditions.dedup();
        if let (Some(values), true) = (&mut alt.values, kind != JsonType::Object && kind != JsonType::Array) {
            // Conditions on values that are listed are decided by asking.
            alt.conditions.retain_mut(|condition| {
                let validator = validator(&condition.schema).filter(|_| !condition.opaque);
                condition.opaque = validator.is_none();
                if let Some(validator) = validator {
                    values.retain(|value| validator.is_valid(value));
                }
                condition.opaque
            });
            if values.is_empty() {
                return None;
            }
        }
        let (least, most) = alt.length();
        let empty = most.is_some_and(|most| least > most);
        (!empty || alt.values.is_some()).then_some(alt)
    }
}

/// Whether a condition can say anything of values of this type.
fn applies_to(condition: &Condition, kind: JsonType) -> bool {
    let has = |keyword: &str| condition.schema.get(keyword).is_some();
    let of_arrays = has("contains") || has("unevaluatedItems");
    (kind == JsonType::Array || !of_arrays) && (kind == JsonType::Object || !has("dependentSchemas"))
}

/// A bound of integers, as the integer that is the last one within it.
fn to_integer_bound(bound: Bound, step: i64) -> Bound {
    let Some(at) = bound.at.as_f64().filter(|at| at.abs() < 9e15) else { return bound };
    let mut integer = if step > 0 { at.ceil() } else { at.floor() } as i64;
    if bound.open && integer as f64 == at {
        integer += step;
    }
    Bound { at: Number::from(integer), open: false }
}
