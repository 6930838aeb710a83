//! Kinds of records: objects with the same keys and types, with a hash of all values in them.

use std::collections::BTreeMap;
use strict_json::JsonType;

/// Maximum number of kinds at one position. Which ones are kept does not depend on their order.
const MAX_KINDS: usize = 1024;

/// Kinds of records, or of objects in an array, by a hash of their keys and types.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Kinds {
    /// Kinds by all keys.
    pub whole: BTreeMap<u64, Kind>,
    /// Kinds without the key that names the type of a record ([`type_keys`](agentnative_contract::type_keys)), if there
    /// is one.
    pub untagged: BTreeMap<u64, Kind>,
}

/// Objects with the same keys and types.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Kind {
    /// Number of objects.
    pub count: u64,
    /// Sum of the hashes of the keys and values, independent of the order of objects. Strings that name a format are
    /// excluded, because they differ between formats.
    pub values: u64,
}

/// Hashes of one object.
#[derive(Clone, Copy, Default)]
pub(super) struct Digest {
    /// Hash of the keys and their types.
    pub members: u64,
    /// Sum of the hashes of all values.
    pub values: u64,
    /// Hashes of the member that names the type.
    pub tag: Option<(u64, u64)>,
}

impl Digest {
    /// Adds a member. `key` is the hash of its key, `values` the sum of the hashes of the values in it, and `type_keys`
    /// are the hashes of the keys that name the type of a record.
    pub fn add(&mut self, key: u64, json_type: JsonType, values: u64, type_keys: &[u64]) {
        let member = key.rotate_left(8 * json_type as u32);
        self.members = self.members.wrapping_add(member);
        self.values = self.values.wrapping_add(values);
        if json_type == JsonType::String && self.tag.is_none() && type_keys.contains(&key) {
            self.tag = Some((member, values));
        }
    }
}

impl Kinds {
    /// Returns the number of objects of all kinds.
    pub fn count(&self) -> u64 {
        self.whole.values().map(|kind| kind.count).sum()
    }

    pub(super) fn add(&mut self, Digest { members, values, tag }: Digest) {
        let (tag_member, tag_values) = tag.unwrap_or_default();
        let untagged = (members.wrapping_sub(tag_member), values.wrapping_sub(tag_values));
        add(&mut self.whole, members, Kind { count: 1, values });
        add(&mut self.untagged, untagged.0, Kind { count: 1, values: untagged.1 });
    }

    pub(super) fn join(&mut self, other: Self) {
        other.whole.into_iter().for_each(|(members, kind)| add(&mut self.whole, members, kind));
        other.untagged.into_iter().for_each(|(members, kind)| add(&mut self.untagged, members, kind));
    }
}

fn add(kinds: &mut BTreeMap<u64, Kind>, members: u64, more: Kind) {
    let kind = kinds.entry(members).or_default();
    kind.count += more.count;
    kind.values = kind.values.wrapping_add(more.values);
    if kinds.len() > MAX_KINDS {
        kinds.pop_last();
    }
}
