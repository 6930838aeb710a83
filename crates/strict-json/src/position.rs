//! Positions in an input: offset, line and column of a byte.

use std::io::{self, Read};

/// The position of a byte in its input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Position {
    /// Number of bytes in the input before this byte.
    pub offset: u64,
    /// Line, from 1: one more than the number of `\n` before this byte.
    pub line: u64,
    /// Column, from 1: one more than the number of characters (not bytes) between the start of the line and this byte.
    pub column: u64,
}

impl Position {
    /// Position of the first byte of an input.
    pub const START: Self = Self { offset: 0, line: 1, column: 1 };

    /// Returns the position after `bytes`, the part of the input that begins at `self`.
    ///
    /// Each byte that is not a UTF-8 continuation byte counts as a character, so the result does not depend on how an
    /// input is split, even if it is not valid UTF-8.
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

/// Returns the position of the byte at `offset`. If the input is shorter, returns the position of its end.
pub fn locate(mut reader: impl Read, offset: u64) -> io::Result<Position> {
    let mut buffer = vec![0; 64 * 1024];
    let mut position = Position::START;
    while position.offset < offset {
        let wanted = usize::try_from(offset - position.offset).unwrap_or(usize::MAX).min(buffer.len());
        match reader.read(&mut buffer[..wanted]) {
            Ok(0) => break,
            Ok(read) => position = position.after(&buffer[..read]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(position)
}
