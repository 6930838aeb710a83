//! Defines alternatives. A schema is a list of them; each has the constraints on values of one JSON type.

use serde_json::{Map, Number, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use strict_json::JsonType;

/// A list of schemas that all apply to a value: the value has to be valid under every one.
pub(super) type Conjunction<'a> = Vec<&'a Value>;

/// The schema that accepts no value.
pub(super) static FALSE_SCHEMA: Value = Value::Bool(false);

/// The bit set of all JSON types.
pub(super) const ALL_TYPES: u8 = 0b11_1111;

/// Returns the bit of a JSON type in a bit set of types.
pub(super) const fn type_bit(json_type: JsonType) -> u8 {
    1 << json_type as u8
}

/// A lower or upper bound of a number, such as `minimum`.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Bound {
    pub value: Number,
    /// Whether the bound itself is not allowed, as with `exclusiveMinimum`.
    pub exclusive: bool,
}

/// The keywords `properties`, `patternProperties` and `additionalProperties` of one schema. They are kept together
/// because `additionalProperties` depends on the others.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct ObjectKeywords<'a> {
    pub properties: Option<&'a Map<String, Value>>,
    pub patterns: Option<&'a Map<String, Value>>,
    pub additional: Option<&'a Value>,
}

/// The keywords `prefixItems` and `items` of one schema.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct ArrayKeywords<'a> {
    pub prefix: &'a [Value],
    pub items: Option<&'a Value>,
}

/// A part of a schema that is compared as a whole: a keyword, such as `contains`, with the keywords that it depends on.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Condition {
    /// Schema with only the keywords of the condition. It may be large, so the alternatives share it.
    pub schema: Rc<Value>,
    /// Whether the condition contains a part that cannot be resolved.
    pub opaque: bool,
}

/// An alternative of a schema: the constraints on values of one JSON type. During construction, it may have several
/// types.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct TypedSchema<'a> {
    /// JSON types of the accepted values, as a bit set.
    pub types: u8,
    /// Whether numbers must be integers.
    pub integer: bool,
    /// The only valid values, as in `enum`; `None` if the schema does not list them.
    pub values: Option<Vec<Value>>,
    /// Lower bound and upper bound of numbers, in this order.
    pub bounds: [Option<Bound>; 2],
    pub multiples: Vec<Number>,
    /// Minimum and maximum length of strings, arrays and objects. The index is the JSON type.
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
    /// Schema objects with an `if` that is not decided yet.
    pub conditionals: Vec<&'a Map<String, Value>>,
    /// Keys whose value this alternative fixes, each with that value. A schema is split into one alternative per value
    /// of such a key.
    pub tags: BTreeMap<String, Value>,
    /// All schemas from which the alternative was built.
    pub sources: Vec<&'a Value>,
}

impl<'a> TypedSchema<'a> {
    /// Returns the alternative that accepts all values of all types.
    pub fn any() -> Self {
        Self { types: ALL_TYPES, ..Self::default() }
    }

    /// Returns the only JSON type of the alternative. Returns `Null` if it has several types.
    pub fn json_type(&self) -> JsonType {
        JsonType::ALL
            .into_iter()
            .find(|json_type| self.types == type_bit(*json_type))
            .unwrap_or(JsonType::Null)
    }

    /// Splits the alternative into one alternative per JSON type.
    pub fn by_type(&self) -> impl Iterator<Item = Self> {
        let of_type = |json_type: &JsonType| self.types & type_bit(*json_type) != 0;
        JsonType::ALL
            .into_iter()
            .filter(of_type)
            .map(|json_type| Self { types: type_bit(json_type), ..self.clone() })
    }

    /// Returns the minimum and the maximum length of the values; no maximum is `None`.
    pub fn length(&self) -> (usize, Option<usize>) {
        let (min, max) = self.lengths[self.json_type() as usize];
        // A closed tuple has no further elements.
        let closed = self.elements.iter().filter(|part| part.items == Some(&FALSE_SCHEMA));
        let closed = closed.map(|part| part.prefix.len());
        (min, max.into_iter().chain(closed).min())
    }

    /// Returns the keys that the schemas require, forbid or describe by name.
    pub fn named_keys(&self) -> BTreeSet<&'a str> {
        &self.required | &self.constrained_keys()
    }

    /// Returns the keys that the schemas forbid or describe in `properties`.
    pub fn constrained_keys(&self) -> BTreeSet<&'a str> {
        let all = self.keys.iter().filter_map(|keys| keys.properties).flat_map(Map::keys);
        all.map(String::as_str).chain(self.forbidden.iter().copied()).collect()
    }

    /// Returns all schemas that apply to the value of a key. Empty if any value is allowed; [`FALSE_SCHEMA`] is
    /// included if the key is not allowed.
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

    /// Returns all schemas that apply to the values of keys that no schema describes by name or pattern.
    pub fn additional(&self) -> Conjunction<'a> {
        let mut node: Conjunction<'_> = self.keys.iter().filter_map(|keys| keys.additional).collect();
        if node.is_empty() {
            node.extend(&self.unevaluated);
        }
        node
    }

    /// Returns the regular expressions of `patternProperties`.
    pub fn key_patterns(&self) -> BTreeSet<&'a str> {
        let all = self.keys.iter().filter_map(|keys| keys.patterns).flat_map(Map::keys);
        all.map(String::as_str).collect()
    }

    /// Returns all schemas that apply to the values of keys that match a pattern of `patternProperties`. If a schema
    /// lacks the pattern, its `additionalProperties` apply.
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

    /// Returns all schemas that apply to the array element with the index `at`.
    pub fn element(&self, at: usize) -> Conjunction<'a> {
        self.elements.iter().filter_map(|part| part.prefix.get(at).or(part.items)).collect()
    }

    /// Returns the number of array elements that have their own schema, the length of the longest `prefixItems`.
    pub fn tuple_length(&self) -> usize {
        self.elements.iter().map(|part| part.prefix.len()).max().unwrap_or(0)
    }

    /// Returns whether the alternative accepts all values of its types.
    pub fn is_unconstrained(&self) -> bool {
        Self { types: 0, sources: Vec::new(), ..self.clone() } == Self::default()
    }
}

/// Returns whether the schemas, which all apply to a value, contain the schema `false`, so that they accept no value.
pub(super) fn accepts_nothing(node: &[&Value]) -> bool {
    node.contains(&&FALSE_SCHEMA)
}
