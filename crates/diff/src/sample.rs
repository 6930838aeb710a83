//! Makes small values that keep a schema of the new side. What is made is a guess until it is validated.

use super::bundle::parts;
use super::pattern;
use super::predicates::{contains, is_within};
use super::scalar::json_number;
use super::typed_schema::{Conjunction, TypedSchema, accepts_nothing};
use super::walk::Walker;
use serde_json::{Map, Value, json};
use strict_json::JsonType;

/// Values in values, at most.
const MAX_DEPTH: usize = 12;

/// Characters, elements or members, below this.
const MAX_LENGTH: usize = 2_000;

/// Elements or members that a schema asks for, below this: such values stand in each other.
const MAX_MINIMUM: usize = 200;

/// An example of each format.
const FORMATS: &[(&str, &str)] = &[
    ("date-time", "2026-01-01T00:00:00Z"),
    ("date", "2026-01-01"),
    ("time", "00:00:00Z"),
    ("duration", "PT1S"),
    ("email", "a@example.com"),
    ("idn-email", "a@example.com"),
    ("hostname", "example.com"),
    ("idn-hostname", "example.com"),
    ("ipv4", "192.0.2.1"),
    ("ipv6", "2001:db8::1"),
    ("uri", "https://example.com/"),
    ("uri-reference", "a"),
    ("iri", "https://example.com/"),
    ("iri-reference", "a"),
    ("uuid", "00000000-0000-4000-8000-000000000000"),
    ("json-pointer", "/a"),
    ("relative-json-pointer", "0"),
    ("regex", "a"),
];

impl<'a> Walker<'a> {
    /// A value of any of these alternatives.
    pub(super) fn sample_of(&self, alts: &[TypedSchema<'a>]) -> Option<Value> {
        by_preference(alts, 0).into_iter().find_map(|alt| self.sample(alt, 0))
    }

    /// A value of a node.
    pub(super) fn sample_node(&self, node: &Conjunction<'a>, depth: usize) -> Option<Value> {
        if depth > MAX_DEPTH {
            return None;
        }
        let alts = self.new.alternatives(node);
        by_preference(&alts, depth).into_iter().find_map(|alt| self.sample(alt, depth))
    }

    /// A value of an alternative.
    pub(super) fn sample(&self, alt: &TypedSchema<'a>, depth: usize) -> Option<Value> {
        if let Some(values) = &alt.values {
            return values.first().cloned();
        }
        match alt.json_type() {
            JsonType::Null => Some(Value::Null),
            JsonType::Boolean => Some(Value::Bool(true)),
            JsonType::Number => self.sample_number(alt, true),
            JsonType::String => self.sample_text(alt, None),
            JsonType::Array => self.sample_array(alt, depth),
            JsonType::Object => self.sample_object(alt, depth, None, 0),
        }
    }

    /// A value of an alternative that is none of these.
    pub(super) fn sample_other_than(&self, alt: &TypedSchema<'a>, but: &[Value]) -> Option<Value> {
        let made = match alt.json_type() {
            JsonType::Number => {
                (0..100).map(|n| json_number(f64::from(n))).chain(self.sample_number(alt, false)).collect()
            }
            JsonType::String => {
                let longer = alt.length().0.saturating_add(1);
                let texts = ["other", "x", "1"].map(|text| self.sample_text(alt, Some(text)));
                texts.into_iter().flatten().chain(self.sample_of_length(alt, longer)).collect()
            }
            _ => self.sample(alt, 0).into_iter().collect::<Vec<Value>>(),
        };
        made.into_iter().find(|value| is_within(alt, value) && !contains(but, value))
    }

    /// A number, whole or not.
    pub(super) fn sample_number(&self, alt: &TypedSchema<'a>, integer: bool) -> Option<Value> {
        let edges = alt.bounds.iter().flatten().filter_map(|bound| bound.at.as_f64());
        let mut around: Vec<f64> = vec![1.0, 0.0];
        around.extend(alt.multiples.iter().filter_map(serde_json::Number::as_f64));
        around.extend(edges.flat_map(|edge| [edge, edge + 1.0, edge - 1.0]));
        let steps = if integer { [0.0, 0.5, -0.5, 0.01] } else { [0.5, -0.5, 0.01, -0.01] };
        let all = steps.iter().flat_map(|step| around.iter().map(move |at| json_number(at + step)));
        let wanted = |value: &Value| integer || !value.is_i64() && !value.is_u64();
        all.into_iter().find(|value| wanted(value) && is_within(alt, value))
    }

    /// A string, if need be around a given one.
    pub(super) fn sample_text(&self, alt: &TypedSchema<'a>, given: Option<&str>) -> Option<Value> {
        let (least, most) = (minimum(alt)?, alt.length().1);
        let format = alt.formats.iter().find_map(|format| FORMATS.iter().find(|(name, _)| name == format));
        let patterns: Vec<&str> = alt.patterns.iter().copied().collect();
        let matched = if patterns.is_empty() { None } else { pattern::example_of_all(&patterns) };
        let padded = |text: &str| {
            let length = least.max(text.chars().count()).min(most.unwrap_or(usize::MAX));
            text.chars().chain(std::iter::repeat('x')).take(length).collect::<String>()
        };
        let plain = ["text", ""].map(padded);
        let given = given.map(|given| [given.to_owned(), padded(given)]);
        let all = given.into_iter().flatten().chain(format.map(|(_, example)| (*example).to_owned()));
        let all = all.chain(matched).chain(plain).map(Value::String);
        let mut all = all.filter(|value| is_within(alt, value));
        all.next()
    }

    /// A string, an array or an object of this length.
    pub(super) fn sample_of_length(&self, alt: &TypedSchema<'a>, length: usize) -> Option<Value> {
        if length >= MAX_LENGTH {
            return None;
        }
        match alt.json_type() {
            JsonType::String => {
                let made = self.sample_text(alt, Some(&"x".repeat(length)))?;
                made.as_str().is_some_and(|text| text.chars().count() == length).then_some(made)
            }
            JsonType::Array => {
                let element = |at: usize| self.sample_node(&alt.element(at), 1);
                (0..length).map(element).collect::<Option<Vec<Value>>>().map(Value::Array)
            }
            JsonType::Object => {
                let made = self.sample_object(alt, 1, None, length)?;
                made.as_object().is_some_and(|members| members.len() >= length).then_some(made)
            }
            _ => None,
        }
    }

    /// An object with this value at this key.
    pub(super) fn sample_with_value(&self, alt: &TypedSchema<'a>, key: &str, value: Value) -> Option<Value> {
        let Value::Object(mut members) = self.sample_object(alt, 1, Some(key), 0)? else { return None };
        members.insert(key.to_owned(), value);
        for need in alt.dependent.get(key).into_iter().flatten() {
            if !members.contains_key(*need) {
                members.insert((*need).to_owned(), self.sample_node(&alt.property(need), 2)?);
            }
        }
        Some(Value::Object(members))
    }

    /// An object with a sample at this key.
    pub(super) fn sample_with(
        &self,
        alt: &TypedSchema<'a>,
        key: &str,
        node: &Conjunction<'a>,
    ) -> Option<Value> {
        let value = self.sample_node(node, 1)?;
        self.sample_with_value(alt, key, value)
    }

    /// An object without this key.
    pub(super) fn sample_without(&self, alt: &TypedSchema<'a>, key: &str) -> Option<Value> {
        if alt.required.contains(key) { None } else { self.sample_object(alt, 0, None, 0) }
    }

    /// A value that does not keep a condition.
    pub(super) fn sample_violating(&self, condition: &Value, alt: &TypedSchema<'a>) -> Option<Value> {
        let validator = super::validator::validator(condition)?;
        let small = match alt.json_type() {
            JsonType::String => vec![json!(""), json!("x"), json!("text")],
            JsonType::Array => vec![json!([])],
            JsonType::Number => vec![json!(0), json!(1), json!(-1)],
            _ => Vec::new(),
        };
        let sample = self.sample(alt, 0);
        // Values that the condition itself speaks of are where it shows.
        let mut spoken = Vec::new();
        constants(condition, &mut spoken);
        let with = spoken.into_iter().filter_map(|(key, value)| match key {
            Some(key) => self.sample_with_value(alt, &key, value),
            None => Some(value),
        });
        sample.into_iter().chain(small).chain(with).find(|value| {
            JsonType::from(value) == alt.json_type() && is_within(alt, value) && !validator.is_valid(value)
        })
    }

    fn sample_array(&self, alt: &TypedSchema<'a>, depth: usize) -> Option<Value> {
        let elements = (0..minimum(alt)?).map(|at| {
            let mut value = self.sample_node(&alt.element(at), depth + 1)?;
            if alt.unique && at > 0 {
                // Elements that may be anything are told apart by their place.
                value = match value {
                    Value::Number(_) => json!(at),
                    Value::String(text) => json!(format!("{text}{at}")),
                    other => other,
                };
            }
            Some(value)
        });
        elements.collect::<Option<Vec<Value>>>().map(Value::Array)
    }

    /// An object of at least this length, perhaps without a key.
    fn sample_object(
        &self,
        alt: &TypedSchema<'a>,
        depth: usize,
        without: Option<&str>,
        length: usize,
    ) -> Option<Value> {
        let length = minimum(alt)?.max(length);
        let mut members = Map::new();
        let needed = alt.required.iter().flat_map(|key| alt.dependent.get(key).into_iter().flatten());
        for key in alt.required.iter().chain(needed) {
            if without == Some(*key) || members.contains_key(*key) {
                continue;
            }
            let value = match alt.tags.get(*key) {
                Some(tag) => tag.clone(),
                None => self.sample_node(&alt.property(key), depth + 1)?,
            };
            members.insert((*key).to_owned(), value);
        }
        let possible = |key: &&str| without != Some(*key) && !accepts_nothing(&alt.property(key));
        let named = alt.constrained_keys().into_iter().filter(possible).map(str::to_owned);
        for key in named.chain((0..length).map(|nth| format!("key{nth}"))) {
            if members.len() >= length {
                break;
            }
            if !members.contains_key(&key)
                && let Some(value) = self.sample_node(&alt.property(&key), depth + 1)
            {
                members.insert(key, value);
            }
        }
        Some(Value::Object(members))
    }
}

/// The least length of an alternative, if a sample can be that long.
pub(super) fn minimum(alt: &TypedSchema<'_>) -> Option<usize> {
    let most = if alt.json_type() == JsonType::String { MAX_LENGTH } else { MAX_MINIMUM };
    Some(alt.length().0).filter(|least| *least < most)
}

/// Alternatives, those that make good examples first; deep down those that are small.
fn by_preference<'b, 'a>(alts: &'b [TypedSchema<'a>], depth: usize) -> Vec<&'b TypedSchema<'a>> {
    let rank = |alt: &&TypedSchema<'a>| match alt.json_type() {
        JsonType::String => 1,
        JsonType::Number => 2,
        JsonType::Boolean => 3,
        JsonType::Object if depth < 4 => 0,
        JsonType::Object => 6,
        JsonType::Array => 4,
        JsonType::Null if depth < 4 => 5,
        JsonType::Null => 0,
    };
    let mut all: Vec<&TypedSchema<'a>> = alts.iter().collect();
    // Anything at all is best shown by a string.
    if all.iter().all(|alt| alt.is_open() || alt.values.is_some()) && alts.len() == JsonType::ALL.len() {
        all.retain(|alt| alt.json_type() == JsonType::String);
        return all;
    }
    all.sort_by_key(rank);
    all
}

/// The constants that a condition names, with the key that they are of.
fn constants(schema: &Value, out: &mut Vec<(Option<String>, Value)>) {
    let Some(members) = schema.as_object() else { return };
    let own = members.get("const").into_iter().chain(parts(members, "enum"));
    out.extend(own.map(|value| (None, value.clone())));
    for (key, schema) in members.get("properties").and_then(Value::as_object).into_iter().flatten() {
        let mut inner = Vec::new();
        constants(schema, &mut inner);
        out.extend(inner.into_iter().map(|(_, value)| (Some(key.clone()), value)));
    }
    let one = ["not", "if", "then", "else"].into_iter().filter_map(|keyword| members.get(keyword));
    let several = ["allOf", "anyOf", "oneOf"].into_iter().flat_map(|keyword| parts(members, keyword));
    one.chain(several).for_each(|schema| constants(schema, out));
}
