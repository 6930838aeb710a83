//! Splits JSON Lines into chunks of complete lines, which can be read in parallel.

use crate::Position;
use std::io::{self, Read};

/// Number of bytes that are read for a chunk; small enough for the cache of a processor core.
const CHUNK_SIZE: usize = 256 << 10;
/// Length in bytes from which on a line may be cut: only its beginning is then read.
const MAX_LINE: usize = 8 << 20;

/// Complete lines of an input, or the beginning of a line that is too long for a chunk (over 8 MiB).
pub struct Chunk {
    /// The bytes of the lines, with their newlines.
    pub bytes: Vec<u8>,
    /// Position in the input of the first byte of the chunk.
    pub position: Position,
    /// True if the chunk is the beginning of a line that is too long. It is then the last chunk.
    pub is_partial_line: bool,
}

/// Splits the bytes of a reader into chunks of complete lines.
pub struct LineChunker<R> {
    /// The reader of the input. Its next bytes follow those in `rest`.
    pub reader: R,
    base: Position,
    /// Bytes that were read but belong to no chunk yet. Empty after a chunk with a partial line.
    pub rest: Vec<u8>,
    ended: bool,
}

impl<R: Read> LineChunker<R> {
    /// Creates a chunker for an input that `reader` reads from its start.
    pub fn new(reader: R) -> Self {
        Self { reader, base: Position::START, rest: Vec::new(), ended: false }
    }

    /// Reads the next chunk into the buffer `bytes`, whose old contents are discarded. Returns `None` at the end of the
    /// input and after a chunk with a partial line.
    pub fn next(&mut self, mut bytes: Vec<u8>) -> io::Result<Option<Chunk>> {
        bytes.clear();
        bytes.append(&mut self.rest);
        let mut complete = 0;
        while !self.ended && complete == 0 && bytes.len() <= MAX_LINE {
            let from = bytes.len();
            let limit = if from == 0 { CHUNK_SIZE } else { CHUNK_SIZE.max(from) };
            // No more is read after an error.
            self.ended = true;
            let read = (&mut self.reader).take(limit as u64).read_to_end(&mut bytes)?;
            self.ended = read < limit;
            complete = memchr::memrchr(b'\n', &bytes[from..]).map_or(0, |newline| from + newline + 1);
        }
        let cut = complete == 0 && !self.ended;
        self.ended |= cut;
        let end = if self.ended { bytes.len() } else { complete };
        self.rest.extend_from_slice(&bytes[end..]);
        bytes.truncate(end);
        if bytes.is_empty() {
            return Ok(None);
        }
        let base = self.base;
        self.base.offset += bytes.len() as u64;
        self.base.line += memchr::memchr_iter(b'\n', &bytes).count() as u64;
        Ok(Some(Chunk { bytes, position: base, is_partial_line: cut }))
    }
}
