//! A schema as alternatives, each with the constraints on values of one JSON type.

use serde_json::{Map, Number, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use strict_json::JsonType;

/// A conjunction of schemas: a value has to be valid under all of them.
pub(super) type Conjunction<'a> = Vec<&'a Value>;

/// The schema that accepts no value.
pub(super) static FALSE_SCHEMA: Value = Value::Bool(false);

/// The set of all types.
pub(super) const ALL_TYPES: u8 = 0b11_1111;

/// Returns the set of one type.
pub(super) const fn type_bit(json_type: JsonType) -> u8 {
    1 << json_type as u8
}

/// A numeric bound.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Bound {
    pub value: Number,
    /// Whether the bound is exclusive.
    pub exclusive: bool,
}

/// `properties`, `patternProperties` and `additionalProperties` of one schema, which depend on each other.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct ObjectKeywords<'a> {
    pub properties: Option<&'a Map<String, Value>>,
    pub patterns: Option<&'a Map<String, Value>>,
    pub additional: Option<&'a Value>,
}

/// `prefixItems` and `items` of one schema.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct ArrayKeywords<'a> {
    pub prefix: &'a [Value],
    pub items: Option<&'a Value>,
}

/// A condition that is compared as a whole: a keyword with the keywords it depends on.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Condition {
    /// Schema of these keywords alone. It may be large, and is shared by the alternatives of all types.
    pub schema: Rc<Value>,
    /// Whether the condition contains an unknown part.
    pub opaque: bool,
}

/// Constraints on values of one type, or of several types during construction.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct TypedSchema<'a> {
    /// Types, as a bit set.
    pub types: u8,
    /// Whether numbers are integers.
    pub integer: bool,
    /// The only valid values; `None` if they are not listed.
    pub values: Option<Vec<Value>>,
    /// Lower and upper bound.
    pub bounds: [Option<Bound>; 2],
    pub multiples: Vec<Number>,
    /// Minimum and maximum lengths, by type.
    pub lengths: [(usize, Option<usize>); JsonType::ALL.len()],
    pub patterns: BTreeSet<&'a str>,
    pub formats: BTreeSet<String>,
    pub elements: Vec<ArrayKeywords<'a>>,
    pub unique: bool,
    pub keys: Vec<ObjectKeywords<'a>>,
    pub unevaluated: Vec<&'a Value>,
    pub required: BTreeSet<&'a str>,
    pub forbidden: BTreeSet<&'a str>,
    pub key_names: Conjunction<'a>,
    pub dependent_required: BTreeMap<&'a str, BTreeSet<&'a str>>,
    pub conditions: Vec<Condition>,
    /// Schemas with an `if` that is not decided yet.
    pub conditionals: Vec<&'a Map<String, Value>>,
    /// Keys with a known value, for which the alternative was created.
    pub tags: BTreeMap<String, Value>,
    /// Schemas that the alternative consists of.
    pub sources: Vec<&'a Value>,
}

impl<'a> TypedSchema<'a> {
    /// Returns the alternative without constraints.
    pub fn any() -> Self {
        Self { types: ALL_TYPES, ..Self::default() }
    }

    /// Returns the type of an alternative of one type.
    pub fn json_type(&self) -> JsonType {
        JsonType::ALL
            .into_iter()
            .find(|json_type| self.types == type_bit(*json_type))
            .unwrap_or(JsonType::Null)
    }

    /// Splits an alternative by type.
    pub fn by_type(&self) -> impl Iterator<Item = Self> {
        let of_type = |json_type: &JsonType| self.types & type_bit(*json_type) != 0;
        JsonType::ALL
            .into_iter()
            .filter(of_type)
            .map(|json_type| Self { types: type_bit(json_type), ..self.clone() })
    }

    /// Returns the minimum and the maximum length.
    pub fn length(&self) -> (usize, Option<usize>) {
        let (min, max) = self.lengths[self.json_type() as usize];
        // A closed tuple has no further elements.
        let closed = self.elements.iter().filter(|part| part.items == Some(&FALSE_SCHEMA));
        let closed = closed.map(|part| part.prefix.len());
        (min, max.into_iter().chain(closed).min())
    }

    /// Returns the keys that the schemas name.
    pub fn named_keys(&self) -> BTreeSet<&'a str> {
        &self.required | &self.constrained_keys()
    }

    /// Returns the keys whose values are constrained.
    pub fn constrained_keys(&self) -> BTreeSet<&'a str> {
        let all = self.keys.iter().filter_map(|keys| keys.properties).flat_map(Map::keys);
        all.map(String::as_str).chain(self.forbidden.iter().copied()).collect()
    }

    /// Returns the schemas of the value of a key.
    pub fn property(&self, key: &str) -> Conjunction<'a> {
        let mut node = Vec::new();
        let mut evaluated = false;
        for keys in &self.keys {
            let length_before = node.len();
            node.extend(keys.properties.and_then(|properties| properties.get(key)));
            let patterns = keys.patterns.into_iter().flatten();
            let matching = patterns.filter(|(pattern, _)| super::pattern::is_match(pattern, key));
            node.extend(matching.map(|(_, schema)| schema));
            if node.len() == length_before {
                node.extend(keys.additional);
            }
            evaluated |= node.len() > length_before;
        }
        if !evaluated {
            node.extend(&self.unevaluated);
        }
        if self.forbidden.contains(key) {
            node.push(&FALSE_SCHEMA);
        }
        node
    }

    /// Returns the schemas of the values of keys that the schemas do not name.
    pub fn additional(&self) -> Conjunction<'a> {
        let mut node: Conjunction<'_> = self.keys.iter().filter_map(|keys| keys.additional).collect();
        if node.is_empty() {
            node.extend(&self.unevaluated);
        }
        node
    }

    /// Returns the patterns of keys.
    pub fn key_patterns(&self) -> BTreeSet<&'a str> {
        let all = self.keys.iter().filter_map(|keys| keys.patterns).flat_map(Map::keys);
        all.map(String::as_str).collect()
    }

    /// Returns the schemas of the values of keys of a pattern, which may be one of the other side.
    pub fn pattern_property(&self, pattern: &str) -> Conjunction<'a> {
        let mut node = Vec::new();
        for keys in &self.keys {
            match keys.patterns.and_then(|patterns| patterns.get(pattern)) {
                Some(schema) => node.push(schema),
                None => node.extend(keys.additional),
            }
        }
        node
    }

    /// Returns the schemas of the element at a position.
    pub fn element(&self, at: usize) -> Conjunction<'a> {
        self.elements.iter().filter_map(|part| part.prefix.get(at).or(part.items)).collect()
    }

    /// Returns the number of positions with schemas of their own.
    pub fn tuple_length(&self) -> usize {
        self.elements.iter().map(|part| part.prefix.len()).max().unwrap_or(0)
    }

    /// Returns whether the alternative constrains nothing but the type.
    pub fn is_unconstrained(&self) -> bool {
        Self { types: 0, sources: Vec::new(), ..self.clone() } == Self::default()
    }
}

/// Returns whether a node accepts no value, as far as this is obvious.
pub(super) fn accepts_nothing(node: &[&Value]) -> bool {
    node.contains(&&FALSE_SCHEMA)
}
