//! Looks up values on a tape by the keys of objects.

use super::{Key, TapeNode};

/// Values by key.
#[derive(Debug, Clone)]
pub struct KeyMap<T> {
    entries: Vec<(Key, T)>,
    /// By the last bits of a key's tag: an entry's index and 1, or 0. An entry may stand in a later place.
    places: Vec<u32>,
}

impl<T> FromIterator<(Key, T)> for KeyMap<T> {
    fn from_iter<I: IntoIterator<Item = (Key, T)>>(entries: I) -> Self {
        let entries: Vec<(Key, T)> = entries.into_iter().collect();
        let mut places = vec![0; (2 * entries.len()).next_power_of_two()];
        for ((key, _), number) in entries.iter().zip(1..) {
            let mut place = usize::from(key.tag) & (places.len() - 1);
            while places[place] != 0 {
                place = (place + 1) & (places.len() - 1);
            }
            places[place] = number;
        }
        Self { entries, places }
    }
}

impl<T> KeyMap<T> {
    /// The value of a key on a tape.
    #[inline]
    pub fn get(&self, key: TapeNode<'_>) -> Option<&T> {
        let (tag, text) = key.key();
        let mut place = usize::from(tag) & (self.places.len() - 1);
        loop {
            let (known, value) = self.entries.get((*self.places.get(place)? as usize).checked_sub(1)?)?;
            if known.is(tag, text) {
                return Some(value);
            }
            place = (place + 1) & (self.places.len() - 1);
        }
    }

    /// How many keys there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is no key.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// All keys with their values, in the order that they were given in.
    pub fn iter(&self) -> impl Iterator<Item = &(Key, T)> {
        self.entries.iter()
    }
}
