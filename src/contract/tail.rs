//! The last bytes of an input, kept to find the line and column of what is found in them.

use crate::json::Position;
use std::cell::RefCell;
use std::io::{self, Read};

/// As far back as this, places are found exactly.
const KEEP: usize = 4 << 20;

/// The last bytes that were read, and where they begin.
#[derive(Debug)]
pub(super) struct Tail {
    bytes: Vec<u8>,
    base: Position,
}

impl Tail {
    pub fn new(base: Position) -> RefCell<Self> {
        RefCell::new(Self { bytes: Vec::new(), base })
    }

    fn keep(&mut self, bytes: &[u8]) {
        if self.bytes.len() + bytes.len() > 2 * KEEP {
            let old = self.bytes.len().saturating_sub(KEEP);
            self.base = self.base.after(&self.bytes[..old]);
            self.bytes.drain(..old);
        }
        self.bytes.extend_from_slice(bytes);
    }

    /// The place of an offset; none when it lies too far back.
    pub fn locate(&self, offset: u64) -> Option<Position> {
        let index = usize::try_from(offset.checked_sub(self.base.offset)?).ok()?;
        self.bytes.get(..index).map(|before| self.base.after(before))
    }
}

/// A reader whose last bytes are kept.
pub(super) struct Kept<'t, R> {
    pub reader: R,
    pub tail: &'t RefCell<Tail>,
}

impl<R: Read> Read for Kept<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.reader.read(buffer)?;
        self.tail.borrow_mut().keep(&buffer[..read]);
        Ok(read)
    }
}
