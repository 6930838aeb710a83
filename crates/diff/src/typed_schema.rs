//! A schema as alternatives: each says of one JSON type what holds of its values.

use serde_json::{Map, Number, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use strict_json::JsonType;

/// A conjunction of schemas: a value has to keep all of them.
pub(super) type Conjunction<'a> = Vec<&'a Value>;

/// The schema that takes nothing.
pub(super) static NOTHING: Value = Value::Bool(false);

/// All types.
pub(super) const ANY: u8 = 0b11_1111;

/// A type in a set of them.
pub(super) const fn bit(json_type: JsonType) -> u8 {
    1 << json_type as u8
}

/// A bound of numbers.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Bound {
    pub at: Number,
    /// The bound itself is not taken.
    pub open: bool,
}

/// What `properties` and its neighbours of one schema say: they belong together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct ObjectKeywords<'a> {
    pub named: Option<&'a Map<String, Value>>,
    pub patterns: Option<&'a Map<String, Value>>,
    pub others: Option<&'a Value>,
}

/// What `prefixItems` and `items` of one schema say.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct ArrayKeywords<'a> {
    pub first: &'a [Value],
    pub others: Option<&'a Value>,
}

/// A condition that is compared as a whole: the keyword and what belongs to it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Condition {
    /// A schema of these keywords and no others. It may be large, and belong to an alternative of each type.
    pub schema: Rc<Value>,
    /// It is known not to be understood at all.
    pub opaque: bool,
}

/// What holds of the values of one type, or (while it is made) of several.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct TypedSchema<'a> {
    /// The types, as bits.
    pub types: u8,
    /// Numbers are integers.
    pub integer: bool,
    /// The only values; none where they are not listed.
    pub values: Option<Vec<Value>>,
    /// The lower and the upper one.
    pub bounds: [Option<Bound>; 2],
    pub multiples: Vec<Number>,
    /// Least and greatest lengths, by type.
    pub lengths: [(usize, Option<usize>); JsonType::ALL.len()],
    pub patterns: BTreeSet<&'a str>,
    pub formats: BTreeSet<String>,
    pub elements: Vec<ArrayKeywords<'a>>,
    pub unique: bool,
    pub keys: Vec<ObjectKeywords<'a>>,
    pub unevaluated: Vec<&'a Value>,
    pub required: BTreeSet<&'a str>,
    pub forbidden: BTreeSet<&'a str>,
    pub names: Conjunction<'a>,
    pub dependent: BTreeMap<&'a str, BTreeSet<&'a str>>,
    pub conditions: Vec<Condition>,
    /// `if` with what follows from it, until that is settled.
    pub branches: Vec<&'a Map<String, Value>>,
    /// Keys whose value is known, because the alternative was made for it.
    pub tags: BTreeMap<String, Value>,
    /// The schemas that it is made of.
    pub sources: Vec<&'a Value>,
}

impl<'a> TypedSchema<'a> {
    /// What holds of any value.
    pub fn any() -> Self {
        Self { types: ANY, ..Self::default() }
    }

    /// The one type that it is of.
    pub fn json_type(&self) -> JsonType {
        JsonType::ALL.into_iter().find(|kind| self.types == bit(*kind)).unwrap_or(JsonType::Null)
    }

    /// The same for each type on its own.
    pub fn by_type(&self) -> impl Iterator<Item = Self> {
        let of_type = |kind: &JsonType| self.types & bit(*kind) != 0;
        JsonType::ALL.into_iter().filter(of_type).map(|kind| Self { types: bit(kind), ..self.clone() })
    }

    /// Least and greatest length.
    pub fn length(&self) -> (usize, Option<usize>) {
        let (least, most) = self.lengths[self.json_type() as usize];
        // A tuple that is closed has no more elements than its places.
        let closed = self.elements.iter().filter(|part| part.others == Some(&NOTHING));
        let closed = closed.map(|part| part.first.len());
        (least, most.into_iter().chain(closed).min())
    }

    /// The keys that it names.
    pub fn named_keys(&self) -> BTreeSet<&'a str> {
        &self.required | &self.constrained_keys()
    }

    /// The keys whose values it says something of.
    pub fn constrained_keys(&self) -> BTreeSet<&'a str> {
        let all = self.keys.iter().filter_map(|keys| keys.named).flat_map(Map::keys);
        all.map(String::as_str).chain(self.forbidden.iter().copied()).collect()
    }

    /// What holds of the value of a key.
    pub fn property(&self, key: &str) -> Conjunction<'a> {
        let mut node = Vec::new();
        let mut evaluated = false;
        for keys in &self.keys {
            let before = node.len();
            node.extend(keys.named.and_then(|named| named.get(key)));
            let patterns = keys.patterns.into_iter().flatten();
            let matching = patterns.filter(|(pattern, _)| super::pattern::is_match(pattern, key));
            node.extend(matching.map(|(_, schema)| schema));
            if node.len() == before {
                node.extend(keys.others);
            }
            evaluated |= node.len() > before;
        }
        if !evaluated {
            node.extend(&self.unevaluated);
        }
        if self.forbidden.contains(key) {
            node.push(&NOTHING);
        }
        node
    }

    /// What holds of the values of keys that it does not name.
    pub fn additional(&self) -> Conjunction<'a> {
        let mut node: Conjunction<'_> = self.keys.iter().filter_map(|keys| keys.others).collect();
        if node.is_empty() {
            node.extend(&self.unevaluated);
        }
        node
    }

    /// The patterns of keys.
    pub fn key_patterns(&self) -> BTreeSet<&'a str> {
        let all = self.keys.iter().filter_map(|keys| keys.patterns).flat_map(Map::keys);
        all.map(String::as_str).collect()
    }

    /// What holds of the values of keys of a pattern of its own, or of one of the other side.
    pub fn pattern_property(&self, pattern: &str) -> Conjunction<'a> {
        let mut node = Vec::new();
        for keys in &self.keys {
            match keys.patterns.and_then(|patterns| patterns.get(pattern)) {
                Some(schema) => node.push(schema),
                None => node.extend(keys.others),
            }
        }
        node
    }

    /// What holds of the element at this place of an array.
    pub fn element(&self, at: usize) -> Conjunction<'a> {
        self.elements.iter().filter_map(|part| part.first.get(at).or(part.others)).collect()
    }

    /// How many places of an array have something said of them on their own.
    pub fn tuple_length(&self) -> usize {
        self.elements.iter().map(|part| part.first.len()).max().unwrap_or(0)
    }

    /// It says nothing but the type.
    pub fn is_open(&self) -> bool {
        Self { types: 0, sources: Vec::new(), ..self.clone() } == Self::default()
    }
}

/// Whether a node takes nothing, as far as that is plain.
pub(super) fn accepts_nothing(node: &[&Value]) -> bool {
    node.contains(&&NOTHING)
}
