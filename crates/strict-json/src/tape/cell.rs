//! The cells of a tape, and its open containers.

use crate::JsonType;

/// An entry of a tape: a value or a key. The cells of the members or elements of a container follow its cell.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cell {
    /// Type of the value; `None` if the cell is a key. The value of a key is in the next cell.
    pub(super) json_type: Option<JsonType>,
    /// For a key: the upper 16 bits of its hash.
    pub(super) tag: u16,
    /// For a value: its byte offset from the start of the record, at most `u32::MAX`. For a key: the index of the next
    /// key.
    pub(super) offset_or_next: u32,
    /// For a string, number or key: the start of its text in the text buffer. For a container: the number of elements
    /// or members. For a boolean: 1 if it is true.
    pub(super) start_or_count: u32,
    /// For a string, number or key: the length of its text in bytes. For a container: the index of the cell after its
    /// content.
    pub(super) length_or_end: u32,
}

/// An object or array whose end has not been read yet.
#[derive(Debug, Clone, Copy)]
pub(super) struct OpenContainer {
    /// Index of the cell of this object or array.
    pub(super) container: usize,
    pub(super) object: bool,
    /// Number of elements or members that have been read so far.
    pub(super) count: u32,
    /// Index in `Tape::key_fingerprints` of the hash of its first key.
    pub(super) keys_start: usize,
    /// Bit set with one bit per key, selected by the hash of the key. Two keys may share a bit.
    pub(super) key_bits: u64,
}
