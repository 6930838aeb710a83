//! Kinds of records. A kind is all objects with the same keys and the same types of values. It has a hash of all values
//! in these objects.

use std::collections::BTreeMap;
use strict_json::JsonType;

/// Maximum number of kinds at one position. Of more kinds, the ones with the smallest hashes are kept, so that the
/// order of the input does not matter.
const MAX_KINDS: usize = 1024;

/// The kinds of records, or of the objects in an array. The index of a kind is a hash of its keys and types.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Kinds {
    /// Kinds that are distinguished by all keys.
    pub whole: BTreeMap<u64, Kind>,
    /// The same objects, by a hash of their keys without the key that names the type of a record, such as `type`
    /// ([`type_keys`](agentnative_contract::type_keys)).
    pub untagged: BTreeMap<u64, Kind>,
}

/// The objects with the same keys and types: their number, and a hash of their values.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Kind {
    /// Number of objects of this kind.
    pub count: u64,
    /// Sum of the hashes of all values with their keys. It does not depend on the order of the objects. Strings that
    /// contain "json" are excluded: they may name the output format and differ between formats.
    pub values: u64,
}

/// Hashes of the keys and values of one object.
#[derive(Clone, Copy, Default)]
pub(super) struct Digest {
    /// Hash of all keys and the types of their values.
    pub members: u64,
    /// Sum of the hashes of all values in the object.
    pub values: u64,
    /// The parts of `members` and of `values` that belong to the key that names the type of the record, such as `type`.
    /// `None` if the object has no such key.
    pub tag: Option<(u64, u64)>,
}

impl Digest {
    /// Adds a member of the object. `key` is the hash of its key. `values` is the sum of the hashes of all scalars in
    /// its value. `type_keys` are the hashes of the keys that name the type of a record.
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
    /// Returns the number of objects of all kinds together.
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
