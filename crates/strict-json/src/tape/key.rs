//! Keys that objects on a tape are searched for.

use xxhash_rust::xxh3::xxh3_64;

use super::TapeNode;

/// A key to look for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    text: Box<str>,
    tag: u16,
}

impl Key {
    /// The key with this text, unescaped.
    pub fn new(text: &str) -> Self {
        Self { text: text.into(), tag: tag(fingerprint(text.as_bytes())) }
    }

    /// Its text, unescaped.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether it is the key with this text, which has this tag.
    #[inline(always)]
    pub(super) fn is(&self, tag: u16, text: &[u8]) -> bool {
        self.tag == tag && same(text, self.text.as_bytes())
    }
}

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

/// A number that is the same for the same key, and for different keys hardly ever.
#[inline(always)]
pub(super) fn fingerprint(key: &[u8]) -> u64 {
    const MIX: u64 = 0x9e37_79b9_7f4a_7c15;
    let length = key.len() as u64;
    let (first, last) = match (key.first_chunk::<8>(), key.last_chunk::<8>()) {
        (Some(first), Some(last)) if length <= 16 => (u64::from_le_bytes(*first), u64::from_le_bytes(*last)),
        (Some(_), Some(_)) => return xxh3_64(key),
        _ => match (key.first_chunk::<4>(), key.last_chunk::<4>()) {
            (Some(first), Some(last)) => {
                (u32::from_le_bytes(*first).into(), u32::from_le_bytes(*last).into())
            }
            _ => {
                let byte = |at: usize| u64::from(key.get(at).copied().unwrap_or_default());
                (byte(0), byte(1) << 8 | byte(2))
            }
        },
    };
    (first ^ last.wrapping_mul(MIX).rotate_left(29) ^ length << 56).wrapping_mul(MIX)
}

/// What a key on the tape has of its fingerprint.
#[inline(always)]
pub(super) fn tag(fingerprint: u64) -> u16 {
    (fingerprint >> 48) as u16
}

/// Whether two keys are the same. Most are so short that a call would cost more than the comparison.
#[inline(always)]
fn same(one: &[u8], other: &[u8]) -> bool {
    if one.len() != other.len() {
        return false;
    }
    match one.len() {
        0 => true,
        length @ 1..4 => {
            one[0] == other[0] && one[length / 2] == other[length / 2] && one[length - 1] == other[length - 1]
        }
        4..8 => one.first_chunk::<4>() == other.first_chunk() && one.last_chunk::<4>() == other.last_chunk(),
        8..=16 => {
            one.first_chunk::<8>() == other.first_chunk() && one.last_chunk::<8>() == other.last_chunk()
        }
        _ => one == other,
    }
}
