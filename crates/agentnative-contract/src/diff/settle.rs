//! What is left of an alternative when all is said: conditions that are decided, parts that say nothing.

use super::alt::{Alt, Bound, Condition, Kind, is_nothing};
use super::decide::{accepts_plainly, divides, finite, holds, tests};
use super::expand::{Expander, MOST};
use serde_json::{Number, Value};

impl<'a> Expander<'a> {
    /// Decides `if` where the values of keys that it tests are known, which may take an alternative for
    /// each value.
    pub(super) fn settle(&self, mut alt: Alt<'a>, out: &mut Vec<Alt<'a>>) {
        let Some(at) = alt.branches.iter().position(|_| true) else {
            if self.possible(&alt) {
                out.push(alt);
            }
            return;
        };
        let members = alt.branches[at];
        let condition = &members["if"];
        for key in tests(self, condition) {
            if alt.tags.contains_key(&key) || !alt.required.contains(key.as_str()) || out.len() > MOST {
                continue;
            }
            let Some(values) = finite(self, &alt.key(&key)).filter(|values| values.len() <= 32) else {
                continue;
            };
            for value in values {
                let mut one = alt.clone();
                one.tags.insert(key.clone(), value);
                self.settle(one, out);
            }
            return;
        }
        alt.branches.remove(at);
        match holds(self, condition, &alt) {
            Some(truth) => {
                let follows = members.get(if truth { "then" } else { "else" });
                let alts = match follows {
                    Some(schema) => self.with(alt, schema),
                    None => vec![alt],
                };
                alts.into_iter().for_each(|alt| self.settle(alt, out));
            }
            None => {
                alt.conditions.push(self.condition(members, &["if", "then", "else"]));
                let (Some(then), Some(otherwise)) = (members.get("then"), members.get("else")) else {
                    self.settle(alt, out);
                    return;
                };
                // One or the other holds, whatever the condition is.
                let held = self.each(self.with(alt.clone(), condition), then);
                for alt in held.into_iter().chain(self.with(alt, otherwise)) {
                    self.settle(alt, out);
                }
            }
        }
    }

    /// Whether there may be a value that keeps it.
    pub(super) fn possible(&self, alt: &Alt<'a>) -> bool {
        if alt.kinds & Kind::Object.bit() == 0 {
            return alt.kinds != 0;
        }
        let clash = alt.required.iter().any(|key| {
            let node = alt.key(key);
            let empty = finite(self, &node).is_some_and(|values| values.is_empty());
            let tag = alt.tags.get(*key);
            is_nothing(&node) || empty || tag.is_some_and(|tag| !accepts_plainly(self, &node, tag))
        });
        !clash || alt.kinds != Kind::Object.bit()
    }

    /// An alternative of one type in its simplest form; none when nothing can keep it.
    pub(super) fn finished(&self, mut alt: Alt<'a>) -> Option<Alt<'a>> {
        if !self.possible(&alt) {
            return None;
        }
        let kind = alt.kind();
        if kind == Kind::Bool && alt.values.is_none() {
            alt.values = Some(vec![Value::Bool(false), Value::Bool(true)]);
        }
        if kind == Kind::Null {
            alt.values = Some(vec![Value::Null]);
        }
        let by_one = |number: &Number| number.as_f64() == Some(1.0);
        if kind == Kind::Number {
            alt.integer |= alt.multiples.iter().any(|by| by_one(by) || whole_number(by));
            alt.multiples.retain(|by| !by_one(by));
            if alt.integer {
                alt.lower = alt.lower.map(|bound| inward(bound, 1));
                alt.upper = alt.upper.map(|bound| inward(bound, -1));
            }
        }
        let of_kind = |value: &Value| Kind::of(value) == kind;
        if let Some(mut values) = alt.values.take() {
            values.retain(|value| of_kind(value) && super::decide::keeps(&alt, value));
            if values.is_empty() {
                return None;
            }
            alt.values = Some(values);
        }
        // What says nothing of this type is not in it.
        if kind != Kind::Text {
            alt.patterns.clear();
            alt.formats.clear();
        }
        if kind != Kind::Array {
            alt.elements.clear();
            alt.unique = false;
        }
        if kind != Kind::Number {
            (alt.lower, alt.upper, alt.integer) = (None, None, false);
            alt.multiples.clear();
        }
        if kind != Kind::Object {
            alt.keys.clear();
            alt.unevaluated.clear();
            alt.names.clear();
            alt.required.clear();
            alt.forbidden.clear();
            alt.dependent.clear();
        }
        alt.conditions.retain(|condition| concerns(condition, kind));
        alt.conditions.dedup();
        if let (Some(values), true) = (&mut alt.values, kind != Kind::Object && kind != Kind::Array) {
            // Conditions on values that are listed are decided by asking.
            let conditions = std::mem::take(&mut alt.conditions);
            let (decided, opaque): (Vec<_>, Vec<_>) = conditions.into_iter().partition(|c| !c.opaque);
            alt.conditions = opaque;
            values.retain(|value| {
                decided.iter().all(|c| super::validator::valid(&c.schema, value) != Some(false))
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
fn concerns(condition: &Condition, kind: Kind) -> bool {
    let Some(members) = condition.schema.as_object() else { return true };
    let of = |key: &str| match key {
        "contains" | "minContains" | "maxContains" | "unevaluatedItems" | "prefixItems" | "items" => {
            kind == Kind::Array
        }
        "dependentSchemas" => kind == Kind::Object,
        _ => true,
    };
    let main = members
        .keys()
        .any(|key| ["contains", "unevaluatedItems", "dependentSchemas"].contains(&key.as_str()));
    if main {
        members.keys().any(|key| of(key) && !["allOf", "anyOf", "oneOf", "$ref"].contains(&key.as_str()))
    } else {
        true
    }
}

fn whole_number(number: &Number) -> bool {
    divides(&Number::from(1), number)
}

/// A bound of integers, as the integer that is the last one within it.
fn inward(bound: Bound, step: i64) -> Bound {
    let Some(at) = bound.at.as_f64().filter(|at| at.abs() < 9e15) else { return bound };
    let mut whole = if step > 0 { at.ceil() } else { at.floor() } as i64;
    if bound.open && whole as f64 == at {
        whole += step;
    }
    Bound { at: Number::from(whole), open: false }
}
