//! Tracks the open objects and arrays, to build JSON pointers and to find duplicate keys.

use std::collections::HashSet;
use std::fmt::Write;

use super::expected::Scope;
use super::pointer::escape_token;
use super::utf8::fitting_length;

/// Maximum length of a key in a pointer, in bytes; longer keys are cut.
const MAX_POINTER_KEY: usize = 1024;
/// Length in bytes from which on a pointer is cut, so that the pointers of a few hundred problems take little memory.
const MAX_POINTER: usize = 64 * 1024;
/// Marks the end of a key or pointer that is cut.
const ELLIPSIS: &str = "…";
/// Maximum number of stored key hashes of all open objects: as many as a table of 2^20 slots holds before it grows.
const MAX_HASHES: usize = 7 << 17;
/// Maximum number of keys of an object that are compared one by one; more keys are stored in a hash set.
const MAX_LISTED_HASHES: usize = 32;

struct PathLevel {
    object: bool,
    /// True if this level is an object and its first key has been read.
    has_key: bool,
    /// If this level is an array: index of its current element.
    index: u64,
    /// If this level is an object: index in `Path::keys` at which its current key begins.
    key_start: usize,
    /// Index in `Path::listed_hashes` at which the hashes of this level begin.
    listed_start: usize,
    /// Hashes of the keys of this level; `None` while there are few, which are then in `Path::listed_hashes`.
    set: Option<HashSet<u64>>,
}

/// The objects and arrays that contain the current position, outermost first.
#[derive(Default)]
pub(super) struct Path {
    levels: Vec<PathLevel>,
    /// The current key of each level, concatenated.
    keys: Vec<u8>,
    /// Hashes of the keys of all levels without a `set`, concatenated.
    listed_hashes: Vec<u64>,
    /// Number of hashes in the `set` of all levels together.
    set_hash_count: usize,
    /// Number of keys that were not checked for duplicates, because too many hashes were stored.
    pub(super) unchecked_keys: u64,
}

impl Path {
    pub(super) fn depth(&self) -> usize {
        self.levels.len()
    }

    /// Returns whether the innermost open container is an object; `None` if no container is open.
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
    /// `key` is the complete key, or a beginning of it of more than 1 KiB; `hash` is the hash of the complete key. Keys
    /// are compared by 64-bit hashes to save memory: the at most 917,504 stored hashes collide in one of 40 million
    /// documents.
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

    /// Moves to the next member of the innermost object without storing its key. Pointers leave such keys out, and
    /// duplicates are not found.
    #[inline]
    pub(super) fn uncompared_member(&mut self) {
        if let Some(level) = self.levels.last_mut() {
            level.index = 1;
        }
    }

    /// Returns whether the open containers have no members, and no elements before the current one.
    pub(super) fn only_opened(&self) -> bool {
        self.levels.iter().all(|level| !level.has_key && level.index == 0)
    }

    /// Returns the RFC 6901 pointer of the value that `scope` selects: the current value, its container or the root.
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
