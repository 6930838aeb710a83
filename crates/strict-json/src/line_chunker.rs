//! Splits JSON Lines into chunks of complete lines, which can be read in parallel.

use crate::Position;
use std::io::{self, Read};

/// Number of bytes that are read for a chunk; small enough for the cache of a processor.
const CHUNK_SIZE: usize = 256 << 10;
/// Length in bytes from which on a line is cut instead of read to its end.
const MAX_LINE: usize = 8 << 20;

/// Complete lines, or the beginning of a line that is too long for a chunk.
pub struct Chunk {
    /// The bytes of the lines.
    pub bytes: Vec<u8>,
    /// Position of the first byte in the input.
    pub position: Position,
    /// True if the chunk is the beginning of a line that is too long.
    pub is_partial_line: bool,
}

/// Splits the bytes of a reader into chunks.
pub struct LineChunker<R> {
    /// The reader; its next bytes follow `rest`.
    pub reader: R,
    base: Position,
    /// Bytes that were read and are in no chunk yet; empty after a chunk that is cut.
    pub rest: Vec<u8>,
    ended: bool,
}

impl<R: Read> LineChunker<R> {
    /// Creates a chunker at the start of an input.
    pub fn new(reader: R) -> Self {
        Self { reader, base: Position::START, rest: Vec::new(), ended: false }
    }

    /// Reads the next chunk into `bytes`. Returns `None` at the end of the input and after a chunk that is cut.
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
