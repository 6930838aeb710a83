//! The merged shape of a document or of records: which keys and types stand where, and how many.
//!
//! Memory depends on the number of different places, which is bounded, not on the number of values.

use std::collections::BTreeMap;
use strict_json::JsonType;

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
}
