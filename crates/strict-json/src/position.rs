//! Offset, line and column of a byte.

use std::io::{self, Read};

/// The place of a byte in its input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Position {
    /// Bytes in front of it.
    pub offset: u64,
    /// 1 and the number of `\n` in front of it.
    pub line: u64,
    /// 1 and the number of characters (not bytes) between the start of its line and it.
    pub column: u64,
}

impl Position {
    /// The first byte of an input.
    pub const START: Self = Self { offset: 0, line: 1, column: 1 };

    /// The place behind `bytes`, which begin at this place.
    ///
    /// Each byte that is not a UTF-8 continuation byte counts as a character, so the result does not
    /// depend on how an input is cut into pieces, be it valid or not.
    #[must_use]
    pub fn after(mut self, bytes: &[u8]) -> Self {
        self.offset += bytes.len() as u64;
        let mut tail = bytes;
        if let Some(last) = memchr::memrchr(b'\n', bytes) {
            self.line += memchr::memchr_iter(b'\n', &bytes[..=last]).count() as u64;
            self.column = 1;
            tail = &bytes[last + 1..];
        }
        self.column += tail.iter().filter(|byte| **byte & 0xc0 != 0x80).count() as u64;
        self
    }
}

/// The position of the byte at `offset`; the end of the input when `offset` lies behind it.
pub fn locate(mut reader: impl Read, offset: u64) -> io::Result<Position> {
    let mut buffer = vec![0; 64 * 1024];
    let mut position = Position::START;
    while position.offset < offset {
        let want = usize::try_from(offset - position.offset).unwrap_or(usize::MAX).min(buffer.len());
        match reader.read(&mut buffer[..want]) {
            Ok(0) => break,
            Ok(read) => position = position.after(&buffer[..read]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(position)
}
