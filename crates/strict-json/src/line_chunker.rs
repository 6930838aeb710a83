//! Cuts JSON lines into chunks of whole lines, which can be read apart from each other.

use crate::Position;
use std::io::{self, Read};

/// Bytes of a chunk: they stay in the cache of a processor while they are examined.
const CHUNK: usize = 256 << 10;
/// A line that is longer than this is not kept as a whole.
const LONG: usize = 8 << 20;

/// Some whole lines, or the beginning of one that is too long.
pub struct Chunk {
    /// The bytes of the lines.
    pub bytes: Vec<u8>,
    /// The position of the first byte in the input.
    pub base: Position,
    /// It is no whole lines.
    pub cut: bool,
}

/// Cuts an input into chunks.
pub struct LineChunker<R> {
    /// Gives what is behind `rest`.
    pub reader: R,
    base: Position,
    /// What is read but in no chunk yet; nothing behind a chunk that is no whole lines.
    pub rest: Vec<u8>,
    ended: bool,
}

impl<R: Read> LineChunker<R> {
    /// At the start of an input.
    pub fn new(reader: R) -> Self {
        Self { reader, base: Position::START, rest: Vec::new(), ended: false }
    }

    /// The next chunk in this buffer; none at the end, and behind a chunk that is no whole lines.
    pub fn next(&mut self, mut bytes: Vec<u8>) -> io::Result<Option<Chunk>> {
        bytes.clear();
        bytes.append(&mut self.rest);
        let mut whole = 0;
        while !self.ended && whole == 0 && bytes.len() <= LONG {
            let from = bytes.len();
            let room = if from == 0 { CHUNK } else { CHUNK.max(from) };
            // A reader that fails has come to its end.
            self.ended = true;
            let read = (&mut self.reader).take(room as u64).read_to_end(&mut bytes)?;
            self.ended = read < room;
            whole = memchr::memrchr(b'\n', &bytes[from..]).map_or(0, |newline| from + newline + 1);
        }
        let cut = whole == 0 && !self.ended;
        self.ended |= cut;
        let end = if self.ended { bytes.len() } else { whole };
        self.rest.extend_from_slice(&bytes[end..]);
        bytes.truncate(end);
        if bytes.is_empty() {
            return Ok(None);
        }
        let base = self.base;
        self.base.offset += bytes.len() as u64;
        self.base.line += memchr::memchr_iter(b'\n', &bytes).count() as u64;
        Ok(Some(Chunk { bytes, base, cut }))
    }
}
