//! The cells of a tape, and its open containers.

use crate::JsonType;

/// A value or key. The cells of a container's content follow its cell.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cell {
    /// Type of a value; `None` for a key, whose value follows.
    pub(super) json_type: Option<JsonType>,
    /// For a key: a part of its fingerprint.
    pub(super) tag: u16,
    /// Offset from the start of the record, saturated. For a key: index of the next key.
    pub(super) offset_or_next: u32,
    /// For a text: its start in the text buffer. For a container: the number of elements or members. For a boolean: 1
    /// if it is true.
    pub(super) start_or_count: u32,
    /// For a text: its length. For a container: the index after its content.
    pub(super) length_or_end: u32,
}

/// An open object or array.
#[derive(Debug, Clone, Copy)]
pub(super) struct OpenContainer {
    /// Index of its cell.
    pub(super) container: usize,
    pub(super) object: bool,
    /// Number of elements or members so far.
    pub(super) count: u32,
    /// Start of the fingerprints of its keys in `Tape::key_fingerprints`.
    pub(super) keys_start: usize,
    /// One bit for each key; two keys may share a bit.
    pub(super) key_bits: u64,
}
