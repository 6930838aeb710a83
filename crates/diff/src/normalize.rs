//! Normalizes alternatives: decides `if` conditions, and removes constraints without effect.

use super::canonicalize::{Canonicalizer, MAX_ALTERNATIVES};
use super::predicates::{contains, divides, is_within};
use super::typed_schema::{Bound, Condition, TypedSchema, accepts_nothing, type_bit};
use super::validator::validator;
use serde_json::{Number, Value};
use strict_json::JsonType;

impl<'a> Canonicalizer<'a> {
    /// Replaces each `if` of an alternative by its `then` or `else`, and appends the resulting alternatives to `out`.
    /// If an `if` depends on a required key with few listed values, the alternative is split into one per value.
    pub(super) fn resolve_branches(&self, mut alt: TypedSchema<'a>, out: &mut Vec<TypedSchema<'a>>) {
        let Some(members) = alt.conditionals.first().copied() else {
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
                let mut with_tag = alt.clone();
                with_tag.tags.insert(key.clone(), value);
                self.resolve_branches(with_tag, out);
            }
            return;
        }
        alt.conditionals.remove(0);
        match self.evaluate(condition, &alt) {
            Some(holds) => {
                let consequence = members.get(if holds { "then" } else { "else" });
                let alts = match consequence {
                    Some(schema) => self.conjoin(alt, schema),
                    None => vec![alt],
                };
                alts.into_iter().for_each(|alt| self.resolve_branches(alt, out));
            }
            None => {
                alt.conditions.push(self.condition(members, &["if", "then", "else"]));
                let (Some(then_schema), Some(else_schema)) = (members.get("then"), members.get("else"))
                else {
                    self.resolve_branches(alt, out);
                    return;
                };
                // Either the condition holds with `then`, or `else` holds.
                let then_alts = self.conjoin_all(self.conjoin(alt.clone(), condition), then_schema);
                for alt in then_alts.into_iter().chain(self.conjoin(alt, else_schema)) {
                    self.resolve_branches(alt, out);
                }
            }
        }
    }

    /// Returns false if an alternative certainly accepts no value, such as an object with a required key that is not
    /// allowed.
    pub(super) fn is_satisfiable(&self, alt: &TypedSchema<'a>) -> bool {
        if alt.types & type_bit(JsonType::Object) == 0 {
            return alt.types != 0;
        }
        let has_contradiction = alt.required.iter().any(|key| {
            let node = alt.property(key);
            let excludes = |values: Vec<Value>| {
                values.is_empty() || alt.tags.get(*key).is_some_and(|tag| !contains(&values, tag))
            };
            accepts_nothing(&node) || self.finite_values(&node).is_some_and(excludes)
        });
        !has_contradiction || alt.types != type_bit(JsonType::Object)
    }

    /// Removes constraints without effect from an alternative of one JSON type. `None` if it accepts no value.
    pub(super) fn normalized(&self, mut alt: TypedSchema<'a>) -> Option<TypedSchema<'a>> {
        if !self.is_satisfiable(&alt) {
            return None;
        }
        let json_type = alt.json_type();
        if json_type == JsonType::Boolean && alt.values.is_none() {
            alt.values = Some(vec![Value::Bool(false), Value::Bool(true)]);
        }
        if json_type == JsonType::Null {
            alt.values = Some(vec![Value::Null]);
        }
        if json_type == JsonType::Number {
            alt.integer |= alt.multiples.iter().any(|by| divides(&Number::from(1), by));
            alt.multiples.retain(|by| by.as_f64() != Some(1.0));
            if alt.integer {
                let [lower, upper] = alt.bounds;
                let to_integer =
                    |bound: Option<Bound>, step| bound.map(|bound| to_integer_bound(bound, step));
                alt.bounds = [to_integer(lower, 1), to_integer(upper, -1)];
            }
        }
        if let Some(mut values) = alt.values.take() {
            values.retain(|value| JsonType::from(value) == json_type && is_within(&alt, value));
            if values.is_empty() {
                return None;
            }
            alt.values = Some(values);
        }
        // Keywords of other types have no effect.
        if json_type != JsonType::String {
            alt.patterns.clear();
            alt.formats.clear();
        }
        if json_type != JsonType::Array {
            alt.elements.clear();
            alt.unique = false;
        }
        if json_type != JsonType::Number {
            (alt.bounds, alt.integer) = ([None, None], false);
            alt.multiples.clear();
        }
        if json_type != JsonType::Object {
            alt.keys.clear();
            alt.unevaluated.clear();
            alt.key_names.clear();
            alt.required.clear();
            alt.forbidden.clear();
            alt.dependent_required.clear();
        }
        alt.conditions.retain(|condition| applies_to(condition, json_type));
        alt.conditions.dedup();
        if let (Some(values), true) =
            (&mut alt.values, json_type != JsonType::Object && json_type != JsonType::Array)
        {
            // Conditions on listed values are decided by validation.
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
        let (min, max) = alt.length();
        let empty = max.is_some_and(|max| min > max);
        (!empty || alt.values.is_some()).then_some(alt)
    }
}

/// Returns whether a condition can reject values of the JSON type. `contains`, for example, applies to arrays only.
fn applies_to(condition: &Condition, json_type: JsonType) -> bool {
    let has = |keyword: &str| condition.schema.get(keyword).is_some();
    let of_arrays = has("contains") || has("unevaluatedItems");
    (json_type == JsonType::Array || !of_arrays)
        && (json_type == JsonType::Object || !has("dependentSchemas"))
}

/// Returns the inclusive integer bound that is equivalent to `bound` for integers: `> 1.5` becomes `>= 2`. `step` is 1
/// for a lower bound and -1 for an upper bound.
fn to_integer_bound(bound: Bound, step: i64) -> Bound {
    let Some(at) = bound.value.as_f64().filter(|at| at.abs() < 9e15) else { return bound };
    let mut integer = if step > 0 { at.ceil() } else { at.floor() } as i64;
    if bound.exclusive && integer as f64 == at {
        integer += step;
    }
    Bound { value: Number::from(integer), exclusive: false }
}
