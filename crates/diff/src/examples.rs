//! Generates small example values for a schema of the new version. An example may be invalid, so that callers validate
//! it before use.

use super::bundle::subschemas;
use super::pattern;
use super::predicates::{contains, is_within};
use super::scalar::json_number;
use super::schema_comparer::SchemaComparer;
use super::typed_schema::{Conjunction, TypedSchema, accepts_nothing};
use serde_json::{Map, Value, json};
use strict_json::JsonType;

/// Maximum nesting depth of a generated example.
const MAX_DEPTH: usize = 12;

/// Examples have fewer characters, elements or members than this number.
const MAX_LENGTH: usize = 2_000;

/// No example is generated for an array or object that needs at least this number of elements or members. The limit is
/// low because they may be nested.
const MAX_MINIMUM: usize = 200;

/// An example string for each value of the keyword `format`.
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

impl<'a> SchemaComparer<'a> {
    /// Returns an example value of any one of the alternatives, preferably an object. `None` if none can be generated.
    pub(super) fn example_of(&self, alts: &[TypedSchema<'a>]) -> Option<Value> {
        by_preference(alts, 0).into_iter().find_map(|alt| self.example(alt, 0))
    }

    /// Returns an example value for the schemas in `node`, all of which apply. `None` at more than [`MAX_DEPTH`]
    /// levels, or if none can be generated.
    pub(super) fn example_of_node(&self, node: &Conjunction<'a>, depth: usize) -> Option<Value> {
        if depth > MAX_DEPTH {
            return None;
        }
        let alts = self.new.alternatives(node);
        by_preference(&alts, depth).into_iter().find_map(|alt| self.example(alt, depth))
    }

    /// Returns an example value of an alternative. `depth` is its nesting level in the complete example.
    pub(super) fn example(&self, alt: &TypedSchema<'a>, depth: usize) -> Option<Value> {
        if let Some(values) = &alt.values {
            return values.first().cloned();
        }
        match alt.json_type() {
            JsonType::Null => Some(Value::Null),
            JsonType::Boolean => Some(Value::Bool(true)),
            JsonType::Number => self.example_number(alt, true),
            JsonType::String => self.example_text(alt, None),
            JsonType::Array => self.example_array(alt, depth),
            JsonType::Object => self.example_object(alt, depth, None, 0),
        }
    }

    /// Returns an example value of an alternative that differs from all `excluded` values.
    pub(super) fn example_other_than(&self, alt: &TypedSchema<'a>, excluded: &[Value]) -> Option<Value> {
        let candidates = match alt.json_type() {
            JsonType::Number => {
                (0..100).map(|n| json_number(f64::from(n))).chain(self.example_number(alt, false)).collect()
            }
            JsonType::String => {
                let longer = alt.length().0.saturating_add(1);
                let texts = ["other", "x", "1"].map(|text| self.example_text(alt, Some(text)));
                texts.into_iter().flatten().chain(self.example_of_length(alt, longer)).collect()
            }
            _ => self.example(alt, 0).into_iter().collect::<Vec<Value>>(),
        };
        candidates.into_iter().find(|value| is_within(alt, value) && !contains(excluded, value))
    }

    /// Returns an example number of an alternative. `integer` prefers an integer; otherwise the number has a fraction.
    pub(super) fn example_number(&self, alt: &TypedSchema<'a>, integer: bool) -> Option<Value> {
        let edges = alt.bounds.iter().flatten().filter_map(|bound| bound.value.as_f64());
        let mut centers: Vec<f64> = vec![1.0, 0.0];
        centers.extend(alt.multiples.iter().filter_map(serde_json::Number::as_f64));
        centers.extend(edges.flat_map(|edge| [edge, edge + 1.0, edge - 1.0]));
        let steps = if integer { [0.0, 0.5, -0.5, 0.01] } else { [0.5, -0.5, 0.01, -0.01] };
        let all = steps.iter().flat_map(|step| centers.iter().map(move |at| json_number(at + step)));
        let is_acceptable = |value: &Value| integer || !value.is_i64() && !value.is_u64();
        all.into_iter().find(|value| is_acceptable(value) && is_within(alt, value))
    }

    /// Returns an example string of an alternative. `given` is tried first, as it is and padded to the minimum length.
    pub(super) fn example_text(&self, alt: &TypedSchema<'a>, given: Option<&str>) -> Option<Value> {
        let (min, max) = (example_min_length(alt)?, alt.length().1);
        let format = alt.formats.iter().find_map(|format| FORMATS.iter().find(|(name, _)| name == format));
        let patterns: Vec<&str> = alt.patterns.iter().copied().collect();
        let matching = if patterns.is_empty() { None } else { pattern::example_of_all(&patterns) };
        let padded = |text: &str| {
            let length = min.max(text.chars().count()).min(max.unwrap_or(usize::MAX));
            text.chars().chain(std::iter::repeat('x')).take(length).collect::<String>()
        };
        let plain = ["text", ""].map(padded);
        let given = given.map(|given| [given.to_owned(), padded(given)]);
        let all = given.into_iter().flatten().chain(format.map(|(_, example)| (*example).to_owned()));
        let all = all.chain(matching).chain(plain).map(Value::String);
        let mut all = all.filter(|value| is_within(alt, value));
        all.next()
    }

    /// Returns an example string or array of exactly `length` characters or elements, or an example object of at least
    /// `length` members. `None` if the alternative does not allow that.
    pub(super) fn example_of_length(&self, alt: &TypedSchema<'a>, length: usize) -> Option<Value> {
        if length >= MAX_LENGTH {
            return None;
        }
        match alt.json_type() {
            JsonType::String => {
                let example = self.example_text(alt, Some(&"x".repeat(length)))?;
                example.as_str().is_some_and(|text| text.chars().count() == length).then_some(example)
            }
            JsonType::Array => {
                let element = |at: usize| self.example_of_node(&alt.element(at), 1);
                (0..length).map(element).collect::<Option<Vec<Value>>>().map(Value::Array)
            }
            JsonType::Object => {
                let example = self.example_object(alt, 1, None, length)?;
                example.as_object().is_some_and(|members| members.len() >= length).then_some(example)
            }
            _ => None,
        }
    }

    /// Returns an example object of an alternative, with the given value at `key`.
    pub(super) fn example_with_value(&self, alt: &TypedSchema<'a>, key: &str, value: Value) -> Option<Value> {
        let Value::Object(mut members) = self.example_object(alt, 1, Some(key), 0)? else { return None };
        members.insert(key.to_owned(), value);
        for need in alt.dependent_required.get(key).into_iter().flatten() {
            if !members.contains_key(*need) {
                members.insert((*need).to_owned(), self.example_of_node(&alt.property(need), 2)?);
            }
        }
        Some(Value::Object(members))
    }

    /// Returns an example object of an alternative, with an example value for the schemas in `node` at `key`.
    pub(super) fn example_with(
        &self,
        alt: &TypedSchema<'a>,
        key: &str,
        node: &Conjunction<'a>,
    ) -> Option<Value> {
        let value = self.example_of_node(node, 1)?;
        self.example_with_value(alt, key, value)
    }

    /// Returns an example object of an alternative without `key`. `None` if the key is required.
    pub(super) fn example_without(&self, alt: &TypedSchema<'a>, key: &str) -> Option<Value> {
        if alt.required.contains(key) { None } else { self.example_object(alt, 0, None, 0) }
    }

    /// Returns a value that an alternative accepts and the schema `condition` rejects. `None` if none is found.
    pub(super) fn example_violating(&self, condition: &Value, alt: &TypedSchema<'a>) -> Option<Value> {
        let validator = super::validator::validator(condition)?;
        let small = match alt.json_type() {
            JsonType::String => vec![json!(""), json!("x"), json!("text")],
            JsonType::Array => vec![json!([])],
            JsonType::Number => vec![json!(0), json!(1), json!(-1)],
            _ => Vec::new(),
        };
        let example = self.example(alt, 0);
        // Constants in the condition are likely to violate it.
        let mut mentioned = Vec::new();
        constants(condition, &mut mentioned);
        let with = mentioned.into_iter().filter_map(|(key, value)| match key {
            Some(key) => self.example_with_value(alt, &key, value),
            None => Some(value),
        });
        example.into_iter().chain(small).chain(with).find(|value| {
            JsonType::from(value) == alt.json_type() && is_within(alt, value) && !validator.is_valid(value)
        })
    }

    fn example_array(&self, alt: &TypedSchema<'a>, depth: usize) -> Option<Value> {
        let elements = (0..example_min_length(alt)?).map(|at| {
            let mut value = self.example_of_node(&alt.element(at), depth + 1)?;
            if alt.unique && at > 0 {
                // Elements without constraints get their index as a unique value.
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

    /// Returns an example object of an alternative with at least `length` members and without the key `without`. It has
    /// all other required keys.
    fn example_object(
        &self,
        alt: &TypedSchema<'a>,
        depth: usize,
        without: Option<&str>,
        length: usize,
    ) -> Option<Value> {
        let length = example_min_length(alt)?.max(length);
        let mut members = Map::new();
        let dependencies =
            alt.required.iter().flat_map(|key| alt.dependent_required.get(key).into_iter().flatten());
        for key in alt.required.iter().chain(dependencies) {
            if without == Some(*key) || members.contains_key(*key) {
                continue;
            }
            let value = match alt.tags.get(*key) {
                Some(tag) => tag.clone(),
                None => self.example_of_node(&alt.property(key), depth + 1)?,
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
                && let Some(value) = self.example_of_node(&alt.property(&key), depth + 1)
            {
                members.insert(key, value);
            }
        }
        Some(Value::Object(members))
    }
}

/// Returns the minimum length of the values of an alternative. `None` if it exceeds the limit for examples.
pub(super) fn example_min_length(alt: &TypedSchema<'_>) -> Option<usize> {
    let max = if alt.json_type() == JsonType::String { MAX_LENGTH } else { MAX_MINIMUM };
    Some(alt.length().0).filter(|min| *min < max)
}

/// Sorts alternatives by the usefulness of their examples, the best first. Objects come first near the root; scalars
/// come first at greater `depth`, so that examples stay small.
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
    // The best example for an unconstrained schema is a string.
    if all.iter().all(|alt| alt.is_unconstrained() || alt.values.is_some())
        && alts.len() == JsonType::ALL.len()
    {
        all.retain(|alt| alt.json_type() == JsonType::String);
        return all;
    }
    all.sort_by_key(rank);
    all
}

/// Collects the values of `const` and `enum` in a schema. Each has the name of the property that it belongs to, or
/// `None` at the top level.
fn constants(schema: &Value, out: &mut Vec<(Option<String>, Value)>) {
    let Some(members) = schema.as_object() else { return };
    let own = members.get("const").into_iter().chain(subschemas(members, "enum"));
    out.extend(own.map(|value| (None, value.clone())));
    for (key, schema) in members.get("properties").and_then(Value::as_object).into_iter().flatten() {
        let mut inner = Vec::new();
        constants(schema, &mut inner);
        out.extend(inner.into_iter().map(|(_, value)| (Some(key.clone()), value)));
    }
    let one = ["not", "if", "then", "else"].into_iter().filter_map(|keyword| members.get(keyword));
    let several = ["allOf", "anyOf", "oneOf"].into_iter().flat_map(|keyword| subschemas(members, keyword));
    one.chain(several).for_each(|schema| constants(schema, out));
}
