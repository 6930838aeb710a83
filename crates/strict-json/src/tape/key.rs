//! Keys that are looked up in the objects on a tape.

use xxhash_rust::xxh3::xxh3_64;

/// A key to look up in the objects on a tape. A part of its hash is computed in advance.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TapeKey {
    text: Box<str>,
    pub(super) tag: u16,
}

impl TapeKey {
    /// Creates a key from its text without escapes.
    pub fn new(text: &str) -> Self {
        Self { text: text.into(), tag: tag(fingerprint(text.as_bytes())) }
    }

    /// Returns the text of the key without escapes.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns whether this key has the given tag (a part of the hash) and the given text.
    #[inline(always)]
    pub(super) fn matches(&self, tag: u16, text: &[u8]) -> bool {
        self.tag == tag && equal(text, self.text.as_bytes())
    }
}

/// Returns a 64-bit hash of a key.
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

/// Returns the part of a key's hash that is stored with the key on the tape: its upper 16 bits.
#[inline(always)]
pub(super) fn tag(fingerprint: u64) -> u16 {
    (fingerprint >> 48) as u16
}

/// Returns whether two keys are equal. Most keys are so short that a call of `memcmp` would cost more than the
/// comparison.
#[inline(always)]
fn equal(one: &[u8], other: &[u8]) -> bool {
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
