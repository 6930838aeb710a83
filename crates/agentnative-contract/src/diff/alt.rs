//! A schema as alternatives: each says of one JSON type what holds of its values.

use serde_json::{Map, Number, Value};
use std::collections::{BTreeMap, BTreeSet};

/// A conjunction of schemas: a value has to keep all of them.
pub(super) type Node<'a> = Vec<&'a Value>;

/// The schema that takes nothing.
pub(super) static NOTHING: Value = Value::Bool(false);

/// What a value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Kind {
    Null,
    Bool,
    Number,
    Text,
    Array,
    Object,
}

impl Kind {
    pub const ALL: [Self; 6] = [Self::Null, Self::Bool, Self::Number, Self::Text, Self::Array, Self::Object];

    /// The name that schemas use.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool => "boolean",
            Self::Number => "number",
            Self::Text => "string",
            Self::Array => "array",
            Self::Object => "object",
        }
    }

    /// What a value is.
    pub const fn of(value: &Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(_) => Self::Bool,
            Value::Number(_) => Self::Number,
            Value::String(_) => Self::Text,
            Value::Array(_) => Self::Array,
            Value::Object(_) => Self::Object,
        }
    }

    pub const fn bit(self) -> u8 {
        1 << self as u8
    }
}

/// All types.
pub(super) const ANY: u8 = 0b11_1111;

/// A bound of numbers.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Bound {
    pub at: Number,
    /// The bound itself is not taken.
    pub open: bool,
}

/// What `properties` and its neighbours of one schema say: they belong together.
#[derive(Debug, Clone, Copy)]
pub(super) struct Keys<'a> {
    pub named: Option<&'a Map<String, Value>>,
    pub patterns: Option<&'a Map<String, Value>>,
    pub others: Option<&'a Value>,
}

/// What `prefixItems` and `items` of one schema say.
#[derive(Debug, Clone, Copy)]
pub(super) struct Elements<'a> {
    pub first: &'a [Value],
    pub others: Option<&'a Value>,
}

/// A condition that is compared as a whole: the keyword and what belongs to it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Condition {
    /// A schema of these keywords and no others.
    pub schema: Value,
    /// It is known not to be understood at all.
    pub opaque: bool,
}

/// What holds of the values of one type, or (while it is made) of several.
#[derive(Debug, Clone)]
pub(super) struct Alt<'a> {
    /// The types, as bits.
    pub kinds: u8,
    /// Numbers are integers.
    pub integer: bool,
    /// The only values; none where they are not listed.
    pub values: Option<Vec<Value>>,
    pub lower: Option<Bound>,
    pub upper: Option<Bound>,
    pub multiples: Vec<Number>,
    /// Least and greatest lengths of strings, arrays, objects.
    pub lengths: [(u64, Option<u64>); 3],
    pub patterns: BTreeSet<&'a str>,
    pub formats: BTreeSet<String>,
    pub elements: Vec<Elements<'a>>,
    pub unique: bool,
    pub keys: Vec<Keys<'a>>,
    pub unevaluated: Vec<&'a Value>,
    pub required: BTreeSet<&'a str>,
    pub forbidden: BTreeSet<&'a str>,
    pub names: Node<'a>,
    pub dependent: BTreeMap<&'a str, BTreeSet<&'a str>>,
    pub conditions: Vec<Condition>,
    /// `if` with what follows from it, until that is settled.
    pub branches: Vec<&'a Map<String, Value>>,
    /// Keys whose value is known, because the alternative was made for it.
    pub tags: BTreeMap<String, Value>,
    /// The schemas that it is made of.
    pub sources: Vec<&'a Value>,
}

impl Default for Alt<'_> {
    fn default() -> Self {
        Self {
            kinds: ANY,
            integer: false,
            values: None,
            lower: None,
            upper: None,
            multiples: Vec::new(),
            lengths: [(0, None); 3],
            patterns: BTreeSet::new(),
            formats: BTreeSet::new(),
            elements: Vec::new(),
            unique: false,
            keys: Vec::new(),
            unevaluated: Vec::new(),
            required: BTreeSet::new(),
            forbidden: BTreeSet::new(),
            names: Vec::new(),
            dependent: BTreeMap::new(),
            conditions: Vec::new(),
            branches: Vec::new(),
            tags: BTreeMap::new(),
            sources: Vec::new(),
        }
    }
}

/// The place of a type's lengths.
pub(super) const fn length_of(kind: Kind) -> Option<usize> {
    match kind {
        Kind::Text => Some(0),
        Kind::Array => Some(1),
        Kind::Object => Some(2),
        Kind::Null | Kind::Bool | Kind::Number => None,
    }
}

impl<'a> Alt<'a> {
    /// The one type that it is of.
    pub fn kind(&self) -> Kind {
        Kind::ALL.into_iter().find(|kind| self.kinds == kind.bit()).unwrap_or(Kind::Null)
    }

    /// Least and greatest length.
    pub fn length(&self) -> (u64, Option<u64>) {
        let (least, most) = length_of(self.kind()).map_or((0, None), |at| self.lengths[at]);
        if self.kind() != Kind::Array {
            return (least, most);
        }
        // A tuple that is closed has no more elements than its places.
        let closed = self.elements.iter().filter(|part| part.others == Some(&NOTHING));
        let closed = closed.map(|part| part.first.len() as u64).min();
        (least, closed.map_or(most, |closed| Some(most.map_or(closed, |most| most.min(closed)))))
    }

    /// The keys that it names.
    pub fn named(&self) -> BTreeSet<&'a str> {
        let mut named: BTreeSet<&str> = self.required.clone();
        named.extend(&self.forbidden);
        for keys in &self.keys {
            named.extend(keys.named.into_iter().flat_map(Map::keys).map(String::as_str));
        }
        named
    }

    /// The keys whose values it says something of.
    pub fn told(&self) -> BTreeSet<&'a str> {
        let all = self.keys.iter().filter_map(|keys| keys.named).flat_map(Map::keys);
        all.map(String::as_str).chain(self.forbidden.iter().copied()).collect()
    }

    /// What holds of the value of a key.
    pub fn key(&self, key: &str) -> Node<'a> {
        let mut node = Vec::new();
        let mut evaluated = false;
        for keys in &self.keys {
            let before = node.len();
            node.extend(keys.named.and_then(|named| named.get(key)));
            let patterns = keys.patterns.into_iter().flatten();
            node.extend(
                patterns.filter(|(pattern, _)| super::pattern::found(pattern, key)).map(|(_, schema)| schema),
            );
            evaluated |= node.len() > before || keys.others.is_some();
            if node.len() == before {
                node.extend(keys.others);
            }
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
    pub fn other_keys(&self) -> Node<'a> {
        let mut node: Node<'_> = self.keys.iter().filter_map(|keys| keys.others).collect();
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
    pub fn of_pattern(&self, pattern: &str) -> Node<'a> {
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
    pub fn element(&self, at: usize) -> Node<'a> {
        self.elements.iter().filter_map(|part| part.first.get(at).or(part.others)).collect()
    }

    /// How many places of an array have something said of them on their own.
    pub fn places(&self) -> usize {
        self.elements.iter().map(|part| part.first.len()).max().unwrap_or(0)
    }

    /// It says nothing but the type.
    pub fn is_open(&self) -> bool {
        let none = self.lengths == [(0, None); 3] && self.lower.is_none() && self.upper.is_none();
        none && self.values.is_none()
            && !self.integer
            && self.multiples.is_empty()
            && self.patterns.is_empty()
            && self.formats.is_empty()
            && self.elements.is_empty()
            && !self.unique
            && self.keys.is_empty()
            && self.required.is_empty()
            && self.forbidden.is_empty()
            && self.names.is_empty()
            && self.unevaluated.is_empty()
            && self.dependent.is_empty()
            && self.conditions.is_empty()
    }
}

/// Whether a node takes nothing, as far as that is plain.
pub(super) fn is_nothing(node: &[&Value]) -> bool {
    node.contains(&&NOTHING)
}
