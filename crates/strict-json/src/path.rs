//! The open objects and arrays, for pointers and for duplicate keys.

use std::collections::HashSet;
use std::fmt::Write;

use super::expected::Scope;
use super::pointer::escape_token;
use super::utf8::fitting_length;

/// Maximum length of a key in a pointer, in bytes; longer keys are cut.
const MAX_POINTER_KEY: usize = 1024;
/// Length in bytes from which on a pointer is cut, so that a few hundred problems take little memory.
const MAX_POINTER: usize = 64 * 1024;
/// Last character of a key or pointer that is cut.
const ELLIPSIS: &str = "…";
/// Maximum number of stored key hashes of all open objects: as many as a table of 2^20 slots holds before it grows.
const MAX_HASHES: usize = 7 << 17;
/// Maximum number of keys of an object that are compared one by one.
const MAX_LISTED_HASHES: usize = 32;

struct PathLevel {
    object: bool,
    /// True for an object after its first key.
    has_key: bool,
    /// Index of the current element of an array.
    index: u64,
    /// Start of the current key in `Path::keys`.
    key_start: usize,
    /// Start of the hashes of this level in `Path::listed_hashes`.
    listed_start: usize,
    /// Hashes of the keys, once there are too many for the list.
    set: Option<HashSet<u64>>,
}

/// The open objects and arrays, outermost first.
#[derive(Default)]
pub(super) struct Path {
    levels: Vec<PathLevel>,
    /// The current keys of all levels, concatenated.
    keys: Vec<u8>,
    /// Hashes of the keys of all levels, concatenated.
    listed_hashes: Vec<u64>,
    /// Number of hashes in the sets of all levels.
    set_hash_count: usize,
    /// Number of keys that were not compared.
    pub(super) unchecked_keys: u64,
}

impl Path {
    pub(super) fn depth(&self) -> usize {
        self.levels.len()
    }

    /// Returns whether the innermost level is an object; `None` at the top level.
    #[inline]
    pub(super) fn in_object(&self) -> Option<bool> {
        self.levels.last().map(|level| level.object)
    }

    pub(super) fn open(&mut self, object: bool) {
        let (key_start, listed_start) = (self.keys.len(), self.listed_hashes.len());
        self.levels.push(PathLevel { object, has_key: false, index: 0, key_start, listed_start, set: None });
    }

    pub(super) fn close(&mut self) {
        if let Some(level) = self.levels.pop() {
            self.keys.truncate(level.key_start);
            self.listed_hashes.truncate(level.listed_start);
            self.set_hash_count -= level.set.map_or(0, |set| set.len());
        }
    }

    pub(super) fn clear(&mut self) {
        self.levels.clear();
        self.keys.clear();
        self.listed_hashes.clear();
        self.set_hash_count = 0;
    }

    /// Moves to the next element of the innermost array.
    #[inline]
    pub(super) fn next_element(&mut self) {
        if let Some(level) = self.levels.last_mut() {
            level.index += 1;
        }
    }

    /// Moves to the member with the given key; returns false if the object already has this key.
    ///
    /// `key` is the complete key, or more than 1 KiB of it; `hash` is the hash of the complete key. Keys are compared
    /// by 64-bit hashes to save memory: the at most 917,504 stored hashes collide in one of 40 million documents.
    pub(super) fn member(&mut self, key: &[u8], hash: u64) -> bool {
        let Some(level) = self.levels.last_mut() else { return true };
        level.has_key = true;
        self.keys.truncate(level.key_start);
        if key.len() <= MAX_POINTER_KEY {
            self.keys.extend_from_slice(key);
        } else {
            self.keys.extend_from_slice(&key[..fitting_length(key, MAX_POINTER_KEY)]);
            self.keys.extend_from_slice(ELLIPSIS.as_bytes());
        }
        if self.listed_hashes.len() + self.set_hash_count >= MAX_HASHES {
            let duplicate = level.set.as_ref().is_some_and(|set| set.contains(&hash));
            let duplicate = duplicate || self.listed_hashes[level.listed_start..].contains(&hash);
            self.unchecked_keys += u64::from(!duplicate);
            return !duplicate;
        }
        if let Some(set) = &mut level.set {
            let new = set.insert(hash);
            self.set_hash_count += usize::from(new);
            return new;
        }
        let listed = &self.listed_hashes[level.listed_start..];
        if listed.contains(&hash) {
            return false;
        }
        self.listed_hashes.push(hash);
        if self.listed_hashes.len() - level.listed_start > MAX_LISTED_HASHES {
            let set: HashSet<u64> = self.listed_hashes.drain(level.listed_start..).collect();
            self.set_hash_count += set.len();
            level.set = Some(set);
        }
        true
    }

    /// Moves to the next member without storing its key, which pointers then leave out.
    #[inline]
    pub(super) fn uncompared_member(&mut self) {
        if let Some(level) = self.levels.last_mut() {
            level.index = 1;
        }
    }

    /// Whether no level has a member or element yet.
    pub(super) fn only_opened(&self) -> bool {
        self.levels.iter().all(|level| !level.has_key && level.index == 0)
    }

    /// Returns the RFC 6901 pointer of the current value or container.
    pub(super) fn pointer(&self, scope: Scope) -> String {
        let mut pointer = String::new();
        let depth = match scope {
            Scope::Value => self.levels.len(),
            Scope::Container => self.levels.len().saturating_sub(1),
            Scope::Root => 0,
        };
        for (number, level) in self.levels[..depth].iter().enumerate() {
            if pointer.len() > MAX_POINTER {
                pointer.push('/');
                pointer.push_str(ELLIPSIS);
                break;
            }
            if !level.object {
                write!(pointer, "/{}", level.index).expect("a String takes all");
            } else if level.has_key {
                let end = self.levels.get(number + 1).map_or(self.keys.len(), |next| next.key_start);
                let key = String::from_utf8_lossy(&self.keys[level.key_start..end]);
                pointer.push('/');
                pointer.push_str(&escape_token(&key));
            }
        }
        pointer
    }
}
