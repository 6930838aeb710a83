//! The merged shape of a document or of records: which keys and types stand where, and how many.
//!
//! Memory depends on the number of different places, which is bounded, not on the number of values.

use std::collections::BTreeMap;
use strict_json::JsonType;

/// More keys at one place than this are a map of data, not a record: the rest is not kept.
pub(super) const MAX_KEYS: usize = 4096;
/// More kinds of records at one place than this are not told apart.
pub(super) const MAX_KINDS: usize = 1024;

/// All values seen at one place.
#[derive(Debug, Clone, Default)]
pub struct Node {
    /// How many of each type.
    pub types: BTreeMap<JsonType, u64>,
    /// The members of the objects.
    pub keys: BTreeMap<String, Node>,
    /// Some keys were not kept.
    pub more_keys: bool,
    /// The elements of the arrays, merged; absent when there were none.
    pub items: Option<Box<Node>>,
    /// For a root of records or an array: the kinds of objects in it.
    pub kinds: Kinds,
}

impl Node {
    pub fn count(&self) -> u64 {
        self.types.values().sum()
    }

    pub fn objects(&self) -> u64 {
        self.types.get(&JsonType::Object).copied().unwrap_or(0)
    }

    pub fn elements(&self) -> u64 {
        self.items.as_ref().map_or(0, |items| items.count())
    }

    /// The shape of the values of both.
    pub fn merged(mut self, other: Self) -> Self {
        for (json_type, count) in other.types {
            *self.types.entry(json_type).or_default() += count;
        }
        for (key, node) in other.keys {
            let own = self.keys.remove(&key).unwrap_or_default();
            self.keys.insert(key, own.merged(node));
        }
        self.more_keys |= other.more_keys;
        self.items = match (self.items, other.items) {
            (Some(one), Some(other)) => Some(Box::new(one.merged(*other))),
            (one, other) => one.or(other),
        };
        self.kinds.add(other.kinds);
        self
    }

    /// Whether nothing is left out: what is kept of more would depend on the order of the values.
    pub fn is_complete(&self) -> bool {
        let few = self.keys.len() <= MAX_KEYS && self.kinds.len() <= MAX_KINDS;
        let is_kept = few && !self.more_keys && !self.kinds.more;
        is_kept && self.keys.values().chain(self.items.as_deref()).all(Self::is_complete)
    }
}

/// Kinds of objects by their keys and types, each with how many there were and a sum over the values
/// in them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Kinds {
    /// With all keys.
    pub whole: BTreeMap<String, Kind>,
    /// Without the key that says the kind of record ([`agentnative_contract::type_keys`]), where there is one.
    pub untagged: BTreeMap<String, Kind>,
    /// There were more kinds than are kept.
    pub more: bool,
}

/// Objects that are alike.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Kind {
    pub count: u64,
    /// Sum of hashes over their keys and values, in which the order of objects does not matter. Strings
    /// that name a format are left out: they differ between formats by right.
    pub values: u64,
}

/// The shape of a whole stream.
pub type Shape = Node;

impl Kinds {
    /// How many objects there are.
    pub fn count(&self) -> u64 {
        self.whole.values().map(|kind| kind.count).sum()
    }

    /// How many kinds there are.
    fn len(&self) -> usize {
        self.whole.len().max(self.untagged.len())
    }

    fn add(&mut self, other: Self) {
        self.more |= other.more;
        for (all, more) in [(&mut self.whole, other.whole), (&mut self.untagged, other.untagged)] {
            for (signature, kind) in more {
                let all = all.entry(signature).or_default();
                all.count += kind.count;
                all.values = all.values.wrapping_add(kind.values);
            }
        }
    }
}
