//! The cells of a tape, and the levels of open containers.

use crate::JsonType;

/// A value or key. Those inside of a container follow it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cell {
    /// None of a key; its value follows.
    pub(super) json_type: Option<JsonType>,
    /// Of a key: a part of its fingerprint.
    pub(super) tag: u16,
    /// Where it begins, from the start of the record; saturated. Of a key: the index of the next.
    pub(super) at: u32,
    /// Of a text: where it starts. Of a container: how many elements or members it has. Of a boolean:
    /// 1 if it is true.
    pub(super) a: u32,
    /// Of a text: its length. Of a container: the index behind all that is in it.
    pub(super) b: u32,
}

/// An open object or array.
#[derive(Debug, Clone, Copy)]
pub(super) struct Level {
    pub(super) container: usize,
    pub(super) object: bool,
    /// How many elements or members it has.
    pub(super) count: u32,
    /// Where the keys of an object begin in `Tape::keys`.
    pub(super) keys: usize,
    /// A bit for each of its keys, of which two may have the same.
    pub(super) bits: u64,
}
