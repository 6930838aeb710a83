//! A map that is looked up by the keys of objects on a tape.

use super::{TapeKey, TapeNode};

/// A map from keys to values, which is looked up by a key on a tape. It is a hash table over the tags (parts of the
/// hashes) of the keys.
#[derive(Debug, Clone)]
pub struct KeyMap<T> {
    entries: Vec<(TapeKey, T)>,
    /// The hash table: each slot has one plus the index of an entry, or 0 if the slot is free. The last bits of a key's
    /// tag select its first slot; if this slot is occupied, the entry is in a later one.
    slots: Vec<u32>,
}

impl<T> FromIterator<(TapeKey, T)> for KeyMap<T> {
    fn from_iter<I: IntoIterator<Item = (TapeKey, T)>>(entries: I) -> Self {
        let entries: Vec<(TapeKey, T)> = entries.into_iter().collect();
        let mut slots = vec![0; (2 * entries.len()).next_power_of_two()];
        for ((key, _), number) in entries.iter().zip(1..) {
            let mut slot = usize::from(key.tag) & (slots.len() - 1);
            while slots[slot] != 0 {
                slot = (slot + 1) & (slots.len() - 1);
            }
            slots[slot] = number;
        }
        Self { entries, slots }
    }
}

impl<T> KeyMap<T> {
    /// Returns the value for a key on a tape; `None` if the map does not have the key.
    #[inline]
    pub fn get(&self, key: TapeNode<'_>) -> Option<&T> {
        let (tag, text) = key.key();
        let mut slot = usize::from(tag) & (self.slots.len() - 1);
        loop {
            let (entry_key, value) = self.entries.get((*self.slots.get(slot)? as usize).checked_sub(1)?)?;
            if entry_key.matches(tag, text) {
                return Some(value);
            }
            slot = (slot + 1) & (self.slots.len() - 1);
        }
    }

    /// Returns the number of keys.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether the map is empty.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns the keys with their values, in insertion order.
    pub fn iter(&self) -> impl Iterator<Item = &(TapeKey, T)> {
        self.entries.iter()
    }
}
