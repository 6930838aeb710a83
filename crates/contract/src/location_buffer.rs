//! Keeps the last bytes of an input and the beginning of its last line, to compute the line and column of an offset.

use std::cell::RefCell;
use std::io::{self, Read};
use strict_json::Position;

/// Minimum number of bytes before the read position that are kept, unless the input is shorter.
const WINDOW: usize = 4 << 20;
/// Number of bytes that are kept at the beginning of a line that is longer than the window.
const LINE_HEAD: usize = 64 << 10;

/// A range of the input: its bytes, and the position of the first of them.
#[derive(Debug)]
struct Segment {
    bytes: Vec<u8>,
    base: Position,
}

impl Segment {
    fn locate(&self, offset: u64) -> Option<Position> {
        let index = usize::try_from(offset.checked_sub(self.base.offset)?).ok()?;
        self.bytes.get(..index).map(|before| self.base.after(before))
    }

    fn end(&self) -> u64 {
        self.base.offset + self.bytes.len() as u64
    }
}

/// The last bytes that were read from an input, to compute the line and column of an offset.
#[derive(Debug)]
pub(super) struct LocationBuffer {
    last: Segment,
    /// The beginning of the line in which `last` begins.
    head: Segment,
    /// Offset in the input at which reading began.
    start: u64,
}

impl LocationBuffer {
    /// Creates an empty buffer for the part of an input that begins at `base`. Offsets to locate are relative to
    /// `base`.
    pub fn new(base: Position) -> RefCell<Self> {
        let segment = || Segment { bytes: Vec::new(), base };
        RefCell::new(Self { last: segment(), head: segment(), start: base.offset })
    }

    fn push(&mut self, bytes: &[u8]) {
        if self.last.bytes.len() + bytes.len() > 2 * WINDOW {
            let old: Vec<u8> =
                self.last.bytes.drain(..self.last.bytes.len().saturating_sub(WINDOW)).collect();
            self.advance(&old);
        }
        self.last.bytes.extend_from_slice(bytes);
    }

    /// Advances the start of `last` past the bytes `old`, which were removed from it. Sets `head` to the beginning of
    /// the last line that begins in `old`, if one does.
    fn advance(&mut self, old: &[u8]) {
        let line = memchr::memrchr(b'\n', old).map_or(0, |newline| newline + 1);
        if line > 0 {
            self.head = Segment { bytes: Vec::new(), base: self.last.base.after(&old[..line]) };
        }
        if self.head.end() == self.last.base.offset + line as u64 {
            let limit = LINE_HEAD - self.head.bytes.len();
            self.head.bytes.extend(old[line..].iter().take(limit));
        }
        self.last.base = self.last.base.after(old);
    }

    /// Returns the line and column of an offset; `None` if these bytes are no longer kept.
    pub fn locate(&self, offset: u64) -> Option<Position> {
        let offset = self.start + offset;
        self.last.locate(offset).or_else(|| self.head.locate(offset))
    }
}

/// A reader that copies its bytes to a [`LocationBuffer`].
pub(super) struct TeeReader<'t, R> {
    pub reader: R,
    pub buffer: &'t RefCell<LocationBuffer>,
    /// Function that receives the number of bytes read so far.
    pub on_progress: &'t mut dyn FnMut(u64),
}

impl<R: Read> Read for TeeReader<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.reader.read(buffer)?;
        let mut kept = self.buffer.borrow_mut();
        kept.push(&buffer[..read]);
        (self.on_progress)(kept.last.end());
        Ok(read)
    }
}
