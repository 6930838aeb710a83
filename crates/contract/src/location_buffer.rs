//! The last bytes of an input, and the beginning of its last line, kept to find the line and column of
//! what is found in them.

use std::cell::RefCell;
use std::io::{self, Read};
use strict_json::Position;

/// As far back as this, places are found exactly.
const KEEP: usize = 4 << 20;
/// And so far into a line that is longer than that.
const HEAD: usize = 64 << 10;

/// Bytes that were read, and where they begin.
#[derive(Debug)]
struct Piece {
    bytes: Vec<u8>,
    base: Position,
}

impl Piece {
    fn locate(&self, offset: u64) -> Option<Position> {
        let index = usize::try_from(offset.checked_sub(self.base.offset)?).ok()?;
        self.bytes.get(..index).map(|before| self.base.after(before))
    }

    fn end(&self) -> u64 {
        self.base.offset + self.bytes.len() as u64
    }
}

/// The last bytes that were read.
#[derive(Debug)]
pub(super) struct LocationBuffer {
    last: Piece,
    /// The beginning of the line that `last` begins in.
    head: Piece,
    /// Where that which is read begins in the input.
    start: u64,
}

impl LocationBuffer {
    /// Nothing was read yet; what comes stands in this place of the input. Offsets are from there on.
    pub fn new(base: Position) -> RefCell<Self> {
        let piece = || Piece { bytes: Vec::new(), base };
        RefCell::new(Self { last: piece(), head: piece(), start: base.offset })
    }

    fn keep(&mut self, bytes: &[u8]) {
        if self.last.bytes.len() + bytes.len() > 2 * KEEP {
            let old: Vec<u8> = self.last.bytes.drain(..self.last.bytes.len().saturating_sub(KEEP)).collect();
            self.forget(&old);
        }
        self.last.bytes.extend_from_slice(bytes);
    }

    /// Goes on to the line that begins in `old`, which comes before what is kept.
    fn forget(&mut self, old: &[u8]) {
        let line = memchr::memrchr(b'\n', old).map_or(0, |newline| newline + 1);
        if line > 0 {
            self.head = Piece { bytes: Vec::new(), base: self.last.base.after(&old[..line]) };
        }
        if self.head.end() == self.last.base.offset + line as u64 {
            let room = HEAD - self.head.bytes.len();
            self.head.bytes.extend(old[line..].iter().take(room));
        }
        self.last.base = self.last.base.after(old);
    }

    /// The place of an offset; none when it lies too far back.
    pub fn locate(&self, offset: u64) -> Option<Position> {
        let offset = self.start + offset;
        self.last.locate(offset).or_else(|| self.head.locate(offset))
    }
}

/// A reader whose last bytes are kept in a buffer.
pub(super) struct TeeReader<'t, R> {
    pub reader: R,
    pub buffer: &'t RefCell<LocationBuffer>,
    /// Is given how many bytes of the input were read.
    pub progress: &'t mut dyn FnMut(u64),
}

impl<R: Read> Read for TeeReader<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.reader.read(buffer)?;
        let mut kept = self.buffer.borrow_mut();
        kept.keep(&buffer[..read]);
        (self.progress)(kept.last.end());
        Ok(read)
    }
}
