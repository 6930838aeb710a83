//! Makes small values that keep a schema of the new side. What is made is a guess until it is validated.

use super::alt::{Alt, Kind, Node, is_nothing};
use super::decide::{keeps, same};
use super::pattern;
use super::scalar::number;
use super::walk::Walker;
use serde_json::{Map, Value, json};

/// Values in values, at most.
const DEEP: usize = 12;

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
    pub(super) fn sample_of(&self, alts: &[Alt<'a>]) -> Option<Value> {
        ordered(alts, 0).into_iter().find_map(|alt| self.sample(alt, 0))
    }

    /// A value of a node.
    pub(super) fn sample_node(&self, node: &Node<'a>, depth: usize) -> Option<Value> {
        if depth > DEEP {
            return None;
        }
        let alts = self.new.alternatives(node);
        ordered(&alts, depth).into_iter().find_map(|alt| self.sample(alt, depth))
    }

    /// A value of an alternative.
    pub(super) fn sample(&self, alt: &Alt<'a>, depth: usize) -> Option<Value> {
        if let Some(values) = &alt.values {
            return values.first().cloned();
        }
        match alt.kind() {
            Kind::Null => Some(Value::Null),
            Kind::Bool => Some(Value::Bool(true)),
            Kind::Number => self.sample_number(alt, true),
            Kind::Text => self.sample_text(alt, None),
            Kind::Array => self.sample_array(alt, depth),
            Kind::Object => self.sample_object(alt, depth, &[]),
        }
    }

    /// A value of an alternative that is none of these.
    pub(super) fn other_value(&self, alt: &Alt<'a>, but: &[Value]) -> Option<Value> {
        let made = match alt.kind() {
            Kind::Number => {
                (0..100).map(|n| number(f64::from(n))).chain(self.sample_number(alt, false)).collect()
            }
            Kind::Text => {
                let longer = alt.length().0 + 1;
                let texts = ["other", "x", "1"].map(|text| self.sample_text(alt, Some(text)));
                texts.into_iter().flatten().chain(self.sample_of_length(alt, longer)).collect()
            }
            _ => self.sample(alt, 0).into_iter().collect::<Vec<Value>>(),
        };
        made.into_iter().find(|value| keeps(alt, value) && !but.iter().any(|other| same(value, other)))
    }

    /// A number, whole or not.
    pub(super) fn sample_number(&self, alt: &Alt<'a>, whole: bool) -> Option<Value> {
        let edges = [&alt.lower, &alt.upper].into_iter().flatten().filter_map(|bound| bound.at.as_f64());
        let mut around: Vec<f64> = vec![1.0, 0.0];
        around.extend(alt.multiples.iter().filter_map(serde_json::Number::as_f64));
        around.extend(edges.flat_map(|edge| [edge, edge + 1.0, edge - 1.0]));
        let steps = if whole { [0.0, 0.5, -0.5, 0.01] } else { [0.5, -0.5, 0.01, -0.01] };
        let all = steps.iter().flat_map(|step| around.iter().map(move |at| number(at + step)));
        let whole_enough = |value: &Value| whole || !value.is_i64() && !value.is_u64();
        all.into_iter().find(|value| whole_enough(value) && keeps(alt, value))
    }

    /// A string, if need be around a given one.
    pub(super) fn sample_text(&self, alt: &Alt<'a>, given: Option<&str>) -> Option<Value> {
        let format = alt.formats.iter().find_map(|format| FORMATS.iter().find(|(name, _)| name == format));
        let patterns: Vec<&str> = alt.patterns.iter().copied().collect();
        let matched = if patterns.is_empty() { None } else { pattern::example_of_all(&patterns) };
        let (least, most) = alt.length();
        let least = usize::try_from(least).unwrap_or(0);
        let most = most.map_or(usize::MAX, |most| usize::try_from(most).unwrap_or(usize::MAX));
        let padded = |text: &str| {
            let text: String =
                text.chars().chain(std::iter::repeat('x')).take(least.max(text.chars().count())).collect();
            text.chars().take(most).collect::<String>()
        };
        let plain = ["text", ""].map(padded);
        let given = given.map(|given| [given.to_owned(), padded(given)]);
        let all = given.into_iter().flatten().chain(format.map(|(_, example)| (*example).to_owned()));
        let all = all.chain(matched).chain(plain).map(Value::String);
        let mut all = all.filter(|value| keeps(alt, value));
        all.next()
    }

    /// A string, an array or an object of this length.
    pub(super) fn sample_of_length(&self, alt: &Alt<'a>, length: u64) -> Option<Value> {
        let length = usize::try_from(length).ok().filter(|length| *length < 2000)?;
        match alt.kind() {
            Kind::Text => {
                let text = "x".repeat(length);
                self.sample_text(alt, Some(&text))
                    .filter(|value| value.as_str().is_some_and(|made| made.chars().count() == length))
            }
            Kind::Array => {
                let element = |at: usize| self.sample_node(&alt.element(at), 1);
                (0..length).map(element).collect::<Option<Vec<Value>>>().map(Value::Array)
            }
            Kind::Object => {
                let Value::Object(mut members) = self.sample(alt, 1)? else { return None };
                let told: Vec<&str> =
                    alt.told().into_iter().filter(|key| !is_nothing(&alt.key(key))).collect();
                let more = (0..length).map(|nth| format!("key{nth}"));
                for key in told.into_iter().map(str::to_owned).chain(more) {
                    if members.len() >= length {
                        break;
                    }
                    let value = self.sample_node(&alt.key(&key), 2)?;
                    members.entry(key).or_insert(value);
                }
                Some(Value::Object(members))
            }
            _ => None,
        }
    }

    /// An object with this value at this key.
    pub(super) fn put(&self, alt: &Alt<'a>, key: &str, value: Value) -> Option<Value> {
        let Value::Object(mut members) = self.sample_object(alt, 1, &[key])? else { return None };
        members.insert(key.to_owned(), value);
        for need in alt.dependent.get(key).into_iter().flatten() {
            if !members.contains_key(*need) {
                members.insert((*need).to_owned(), self.sample_node(&alt.key(need), 2)?);
            }
        }
        Some(Value::Object(members))
    }

    /// An object with a sample at this key.
    pub(super) fn sample_with(&self, alt: &Alt<'a>, key: &str, node: &Node<'a>) -> Option<Value> {
        let value = self.sample_node(node, 1)?;
        self.put(alt, key, value)
    }

    /// An object without this key.
    pub(super) fn sample_without(&self, alt: &Alt<'a>, key: &str) -> Option<Value> {
        if alt.required.contains(key) { None } else { self.sample_object(alt, 0, &[]) }
    }

    /// A value that does not keep a condition.
    pub(super) fn against(&self, condition: Value, alt: &Alt<'a>) -> Option<Value> {
        let validator = super::validator::validator(&condition)?;
        let small = match alt.kind() {
            Kind::Text => vec![json!(""), json!("x"), json!("text")],
            Kind::Array => vec![json!([])],
            Kind::Number => vec![json!(0), json!(1), json!(-1)],
            _ => Vec::new(),
        };
        let sample = self.sample(alt, 0);
        // Values that the condition itself speaks of are where it shows.
        let mut spoken = Vec::new();
        constants(&condition, &mut spoken);
        let with = spoken.into_iter().filter_map(|(key, value)| match key {
            Some(key) => self.put(alt, &key, value),
            None => Some(value),
        });
        let all: Vec<Value> = sample.into_iter().chain(small).chain(with).collect();
        all.into_iter()
            .find(|value| Kind::of(value) == alt.kind() && keeps(alt, value) && !validator.is_valid(value))
    }

    fn sample_array(&self, alt: &Alt<'a>, depth: usize) -> Option<Value> {
        let least = usize::try_from(alt.length().0).ok().filter(|least| *least < 200)?;
        let elements = (0..least).map(|at| {
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

    fn sample_object(&self, alt: &Alt<'a>, depth: usize, without: &[&str]) -> Option<Value> {
        let mut members = Map::new();
        let keys = alt
            .required
            .iter()
            .chain(alt.required.iter().flat_map(|key| alt.dependent.get(key).into_iter().flatten()));
        for key in keys {
            if without.contains(key) || members.contains_key(*key) {
                continue;
            }
            let value = match alt.tags.get(*key) {
                Some(tag) => tag.clone(),
                None => self.sample_node(&alt.key(key), depth + 1)?,
            };
            members.insert((*key).to_owned(), value);
        }
        let least = usize::try_from(alt.lengths[2].0).ok().filter(|least| *least < 200)?;
        let told = alt.told().into_iter().filter(|key| !without.contains(key) && !is_nothing(&alt.key(key)));
        let more = told.map(str::to_owned).chain((0..least).map(|nth| format!("key{nth}")));
        for key in more.collect::<Vec<_>>() {
            if members.len() >= least {
                break;
            }
            if let (false, Some(value)) =
                (members.contains_key(&key), self.sample_node(&alt.key(&key), depth + 1))
            {
                members.insert(key, value);
            }
        }
        Some(Value::Object(members))
    }
}

/// Alternatives, those that make good examples first; deep down those that are small.
fn ordered<'b, 'a>(alts: &'b [Alt<'a>], depth: usize) -> Vec<&'b Alt<'a>> {
    let rank = |alt: &&Alt<'a>| match alt.kind() {
        Kind::Text => 1,
        Kind::Number => 2,
        Kind::Bool => 3,
        Kind::Object if depth < 4 => 0,
        Kind::Object => 6,
        Kind::Array => 4,
        Kind::Null if depth < 4 => 5,
        Kind::Null => 0,
    };
    let mut all: Vec<&Alt<'a>> = alts.iter().collect();
    // Anything at all is best shown by a string.
    if all.iter().all(|alt| alt.is_open() || alt.values.is_some()) && alts.len() == Kind::ALL.len() {
        all.retain(|alt| alt.kind() == Kind::Text);
        return all;
    }
    all.sort_by_key(rank);
    all
}

/// The constants that a condition names, with the key that they are of.
fn constants(schema: &Value, out: &mut Vec<(Option<String>, Value)>) {
    let Some(members) = schema.as_object() else { return };
    out.extend(members.get("const").map(|value| (None, value.clone())));
    out.extend(
        members
            .get("enum")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .map(|value| (None, value.clone())),
    );
    for (key, schema) in members.get("properties").and_then(Value::as_object).into_iter().flatten() {
        let mut inner = Vec::new();
        constants(schema, &mut inner);
        out.extend(inner.into_iter().map(|(_, value)| (Some(key.clone()), value)));
    }
    for keyword in ["not", "if", "then", "else"] {
        members.get(keyword).into_iter().for_each(|schema| constants(schema, out));
    }
    for keyword in ["allOf", "anyOf", "oneOf"] {
        for part in members.get(keyword).and_then(Value::as_array).into_iter().flatten() {
            constants(part, out);
        }
    }
}
