//! The open objects and arrays: their place in the document and the keys they have had.

use std::collections::HashSet;
use std::fmt::Write;

use super::expected::Scope;
use super::pointer::escape_token;
use super::utf8::fitting;

/// Keys over this many bytes are cut in pointers.
const MAX_POINTER_KEY: usize = 1024;
/// Pointers end behind this many bytes, so that a few hundred problems take little memory.
const MAX_POINTER: usize = 64 * 1024;
/// Ends what is cut.
const CUT: &str = "…";
/// The keys of all open objects that are remembered at once: as many as a table of 2^20 places holds
/// before it doubles.
const MAX_HELD: usize = 7 << 17;
/// Up to here the keys of an object are compared one by one.
const MAX_LISTED: usize = 32;

struct Level {
    object: bool,
    /// An object that has had a key.
    keyed: bool,
    /// Number of the element that is being read.
    index: u64,
    /// Where the current key begins in `Path::text`.
    text: usize,
    /// Where the listed keys begin in `Path::listed`.
    listed: usize,
    /// The keys once they are too many for the list.
    set: Option<HashSet<u64>>,
}

/// The open objects and arrays, outermost first.
#[derive(Default)]
pub(super) struct Path {
    levels: Vec<Level>,
    /// The current keys of all levels, one behind the other.
    text: Vec<u8>,
    /// Hashes of the keys of all levels, one level behind the other.
    listed: Vec<u64>,
    /// Keys in the sets of all levels.
    in_sets: usize,
    /// Keys that were not compared.
    pub(super) unchecked: u64,
}

impl Path {
    pub(super) fn depth(&self) -> usize {
        self.levels.len()
    }

    /// Whether the innermost level is an object; none outside of all.
    #[inline]
    pub(super) fn in_object(&self) -> Option<bool> {
        self.levels.last().map(|level| level.object)
    }

    pub(super) fn open(&mut self, object: bool) {
        let (text, listed) = (self.text.len(), self.listed.len());
        self.levels.push(Level { object, keyed: false, index: 0, text, listed, set: None });
    }

    pub(super) fn close(&mut self) {
        if let Some(level) = self.levels.pop() {
            self.text.truncate(level.text);
            self.listed.truncate(level.listed);
            self.in_sets -= level.set.map_or(0, |set| set.len());
        }
    }

    pub(super) fn clear(&mut self) {
        self.levels.clear();
        self.text.clear();
        self.listed.clear();
        self.in_sets = 0;
    }

    /// Goes on to the next element of the array.
    #[inline]
    pub(super) fn next_element(&mut self) {
        if let Some(level) = self.levels.last_mut() {
            level.index += 1;
        }
    }

    /// Goes on to the member with this key, of which `text` is all or a part over 1 KiB and `hash` the
    /// hash of all; false when the object has had it.
    ///
    /// Keys are compared by a 64-bit hash: the 917,504 keys that are held at most collide by chance
    /// once in 40 million documents, so the memory is worth more than exact keys.
    pub(super) fn member(&mut self, text: &[u8], hash: u64) -> bool {
        let Some(level) = self.levels.last_mut() else { return true };
        level.keyed = true;
        self.text.truncate(level.text);
        if text.len() <= MAX_POINTER_KEY {
            self.text.extend_from_slice(text);
        } else {
            self.text.extend_from_slice(&text[..fitting(text, MAX_POINTER_KEY)]);
            self.text.extend_from_slice(CUT.as_bytes());
        }
        if self.listed.len() + self.in_sets >= MAX_HELD {
            let known = level.set.as_ref().is_some_and(|set| set.contains(&hash));
            let known = known || self.listed[level.listed..].contains(&hash);
            self.unchecked += u64::from(!known);
            return !known;
        }
        if let Some(set) = &mut level.set {
            let new = set.insert(hash);
            self.in_sets += usize::from(new);
            return new;
        }
        let listed = &self.listed[level.listed..];
        if listed.contains(&hash) {
            return false;
        }
        self.listed.push(hash);
        if self.listed.len() - level.listed > MAX_LISTED {
            let set: HashSet<u64> = self.listed.drain(level.listed..).collect();
            self.in_sets += set.len();
            level.set = Some(set);
        }
        true
    }

    /// Goes on to a member without looking at its key: pointers then leave this object out.
    #[inline]
    pub(super) fn uncompared_member(&mut self) {
        if let Some(level) = self.levels.last_mut() {
            level.index = 1;
        }
    }

    /// Whether all levels have just been opened, with nothing in them yet.
    pub(super) fn only_opened(&self) -> bool {
        self.levels.iter().all(|level| !level.keyed && level.index == 0)
    }

    /// The RFC 6901 pointer of a place.
    pub(super) fn pointer(&self, scope: Scope) -> String {
        let mut pointer = String::new();
        let upto = match scope {
            Scope::Value => self.levels.len(),
            Scope::Container => self.levels.len().saturating_sub(1),
            Scope::Root => 0,
        };
        for (number, level) in self.levels[..upto].iter().enumerate() {
            if pointer.len() > MAX_POINTER {
                pointer.push('/');
                pointer.push_str(CUT);
                break;
            }
            if !level.object {
                write!(pointer, "/{}", level.index).expect("a String takes all");
            } else if level.keyed {
                let end = self.levels.get(number + 1).map_or(self.text.len(), |next| next.text);
                let key = String::from_utf8_lossy(&self.text[level.text..end]);
                pointer.push('/');
                pointer.push_str(&escape_token(&key));
            }
        }
        pointer
    }
}
