//! Reads bytes into a buffer, and validates them as UTF-8 one buffer at a time.

use std::io::{self, Read};

use super::Position;
use super::utf8::{find_noncharacter, valid_text};

/// Initial size of the read buffer, in bytes; enough for most documents.
const INITIAL_CAPACITY: usize = 4 * 1024;
/// Maximum size of the read buffer, in bytes.
const MAX_CAPACITY: usize = 128 * 1024;

/// A saved byte offset. Its line and column stay available after the bytes have left the buffer.
#[derive(Clone, Copy)]
struct Pin {
    offset: u64,
    position: Option<Position>,
}

/// The slots in which [`Input::pin`] can save an offset. A new offset replaces the earlier one in its slot.
#[derive(Clone, Copy)]
pub(super) enum Slot {
    /// Saves the start of a key or number, or the end of a line.
    Token,
    /// Saves the start of a record.
    Record,
}

/// A reader with a buffer of the bytes that were read, and the position of the next byte in the buffer.
pub(super) struct Input<R> {
    reader: R,
    buffer: Vec<u8>,
    /// Position in the input of the first byte of `buffer`.
    base: Position,
    /// Number of newlines before the current line.
    newlines: u64,
    /// Offset in the input of the first byte of the current line.
    line_start: u64,
    /// Index of the next byte in `buffer`.
    next: usize,
    /// Index in `buffer` after the last complete character that is validated as UTF-8.
    valid_end: usize,
    /// Index in `buffer` after the last byte that was read.
    filled_end: usize,
    /// True if the bytes at `valid_end` are not UTF-8.
    invalid: bool,
    ended: bool,
    error: Option<io::Error>,
    /// The bytes of `buffer` from `text_start` to `valid_end` as text. A slice of this text needs no second validation.
    text: String,
    /// Index in `buffer` at which `text` begins.
    text_start: usize,
    /// Index in `buffer` of the first Unicode noncharacter (such as U+FFFF) at or after `next`; `usize::MAX` if there
    /// is none.
    noncharacter: usize,
    pins: [Pin; 2],
}

impl<R: Read> Input<R> {
    pub(super) fn new(reader: R) -> Self {
        Self {
            reader,
            buffer: vec![0; INITIAL_CAPACITY],
            base: Position::START,
            newlines: 0,
            line_start: 0,
            next: 0,
            valid_end: 0,
            filled_end: 0,
            invalid: false,
            ended: false,
            error: None,
            text: String::new(),
            text_start: 0,
            noncharacter: usize::MAX,
            pins: [Pin { offset: u64::MAX, position: None }; 2],
        }
    }

    /// Sets the position of the first byte of the input, which must be the start of a line. Must be called before the
    /// first read.
    pub(super) fn begin_at(&mut self, position: Position) {
        self.base = position;
        self.newlines = position.line - 1;
        self.line_start = position.offset;
    }

    /// Returns the I/O error that ended the input, if there was one.
    pub(super) fn into_error(self) -> Option<io::Error> {
        self.error
    }

    /// Returns the offset of the next byte in the input.
    #[inline]
    pub(super) fn offset(&self) -> u64 {
        self.base.offset + self.next as u64
    }

    /// Returns the buffered bytes from the next byte on that are valid UTF-8. Not empty after `peek` has returned a
    /// byte.
    #[inline]
    pub(super) fn rest(&self) -> &[u8] {
        &self.buffer[self.next..self.valid_end]
    }

    /// Returns the bytes `from..to` of [`Input::rest`] as text. Both indices must be character boundaries.
    #[inline]
    pub(super) fn text(&self, from: usize, to: usize) -> &str {
        let next = self.next - self.text_start;
        &self.text[next + from..next + to]
    }

    /// Returns the bytes of [`Input::rest`] as text.
    pub(super) fn text_at_hand(&self) -> &str {
        &self.text[self.next - self.text_start..]
    }

    /// Reads the rest of the current line into the buffer, and returns its length in bytes without the newline. Returns
    /// `None` if the line has no newline, is not UTF-8, or is longer than half of the maximum buffer.
    pub(super) fn line_at_hand(&mut self) -> Option<usize> {
        let mut searched = 0;
        loop {
            let rest = self.rest();
            if let Some(found) = memchr::memchr(b'\n', &rest[searched..]) {
                return Some(searched + found);
            }
            searched = rest.len();
            if searched > MAX_CAPACITY / 2 || !self.read_more() {
                return None;
            }
        }
    }

    /// Returns the next byte if it is in the buffer; never reads.
    #[inline]
    pub(super) fn buffered_byte(&self) -> Option<u8> {
        if self.next < self.valid_end { Some(self.buffer[self.next]) } else { None }
    }

    /// Returns the next byte without advancing past it; reads if the buffer has no valid byte left. Returns `None` at
    /// the end of the input and at bytes that are not UTF-8.
    #[inline]
    pub(super) fn peek(&mut self) -> Option<u8> {
        if self.next == self.valid_end && !self.read_more() {
            return None;
        }
        self.buffered_byte()
    }

    #[inline]
    pub(super) fn advance(&mut self, bytes: usize) {
        self.next += bytes;
        debug_assert!(self.next <= self.valid_end);
    }

    /// Advances past the next byte, which must be `\n`, and counts the line. Newlines must not be skipped in any other
    /// way.
    #[inline]
    pub(super) fn newline(&mut self) {
        self.next += 1;
        self.newlines += 1;
        self.line_start = self.offset();
    }

    /// Returns whether at least `bytes` more valid bytes exist. Reads until they are in the buffer, and no more than
    /// needed. For small numbers only.
    pub(super) fn ensure(&mut self, bytes: usize) -> bool {
        while self.valid_end - self.next < bytes {
            if !self.read_more() {
                return false;
            }
        }
        true
    }

    /// Returns the next byte if it is not valid UTF-8; `None` if it is valid or not read yet.
    pub(super) fn invalid_byte(&self) -> Option<u8> {
        (self.invalid && self.next == self.valid_end).then(|| self.buffer[self.valid_end])
    }

    /// Reads until the buffer has more valid bytes than before. Returns false at the end of the input and at bytes that
    /// are not UTF-8.
    #[cold]
    pub(super) fn read_more(&mut self) -> bool {
        let before = self.valid_end - self.next;
        while !self.invalid && !self.ended && self.valid_end - self.next == before {
            self.read_once();
            self.validate();
        }
        self.valid_end - self.next > before
    }

    /// Removes the bytes before `next` from the buffer, then reads from the reader once.
    fn read_once(&mut self) {
        let end = match usize::try_from(self.line_start.saturating_sub(self.base.offset)) {
            Ok(start @ 1..) => Position { offset: self.line_start, line: 1 + self.newlines, column: 1 }
                .after(&self.buffer[start..self.next]),
            _ => self.base.after(&self.buffer[..self.next]),
        };
        for index in 0..self.pins.len() {
            let Pin { offset, position } = self.pins[index];
            if position.is_none() && (self.base.offset..end.offset).contains(&offset) {
                self.pins[index].position = Some(self.position(offset));
            }
        }
        self.base = end;
        self.buffer.copy_within(self.next..self.filled_end, 0);
        self.text.drain(..self.next - self.text_start);
        self.text_start = 0;
        self.filled_end -= self.next;
        self.valid_end -= self.next;
        self.noncharacter = if self.noncharacter == usize::MAX {
            usize::MAX
        } else if self.noncharacter >= self.next {
            self.noncharacter - self.next
        } else {
            find_noncharacter(&self.buffer[..self.valid_end], 0)
        };
        self.next = 0;
        match self.reader.read(&mut self.buffer[self.filled_end..]) {
            Ok(0) => self.ended = true,
            Ok(read) => {
                self.filled_end += read;
                if self.filled_end == self.buffer.len() && self.filled_end < MAX_CAPACITY {
                    self.buffer.resize(MAX_CAPACITY, 0);
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => {
                self.error = Some(error);
                self.ended = true;
            }
        }
    }

    fn validate(&mut self) {
        let from = self.valid_end;
        let text = match simdutf8::compat::from_utf8(&self.buffer[from..self.filled_end]) {
            Ok(text) => text,
            Err(error) => {
                self.invalid = error.error_len().is_some() || self.ended;
                valid_text(&self.buffer[from..from + error.valid_up_to()])
            }
        };
        self.valid_end += text.len();
        self.text.push_str(text);
        if self.noncharacter == usize::MAX && !self.buffer[from..self.valid_end].is_ascii() {
            self.noncharacter = find_noncharacter(&self.buffer[..self.valid_end], from);
        }
    }

    /// Advances past the next `\n`, also over bytes that are not UTF-8. Returns false if the input has no further `\n`.
    pub(super) fn skip_line(&mut self) -> bool {
        let found = loop {
            if let Some(index) = memchr::memchr(b'\n', &self.buffer[self.next..self.filled_end]) {
                self.next += index;
                self.newline();
                break true;
            }
            self.next = self.filled_end;
            self.invalidate();
            if self.ended {
                break false;
            }
            self.read_once();
        };
        if self.next > self.valid_end {
            self.invalidate();
            self.validate();
        }
        found
    }

    /// Marks the bytes from `next` on as not yet validated.
    fn invalidate(&mut self) {
        self.valid_end = self.next;
        self.text.clear();
        self.text_start = self.next;
        self.invalid = false;
        self.noncharacter = usize::MAX;
    }

    /// Returns whether the next `bytes` bytes may contain a Unicode noncharacter, such as U+FFFF. False means that they
    /// contain none.
    #[inline]
    pub(super) fn noncharacter_within(&self, bytes: usize) -> bool {
        self.noncharacter < self.next + bytes
    }

    /// Returns the input offset of a Unicode noncharacter within the next `bytes` bytes. Successive calls return each
    /// noncharacter once, and then `None`.
    pub(super) fn next_noncharacter(&mut self, bytes: usize) -> Option<u64> {
        while self.noncharacter < self.next + bytes {
            let index = self.noncharacter;
            self.noncharacter = find_noncharacter(&self.buffer[..self.valid_end], index + 3);
            if index >= self.next {
                return Some(self.base.offset + index as u64);
            }
        }
        None
    }

    /// Saves the offset of the next byte in `slot`, so that [`Input::position`] can return its line and column later.
    #[inline]
    pub(super) fn pin(&mut self, slot: Slot) {
        self.pins[slot as usize] = Pin { offset: self.offset(), position: None };
    }

    /// Returns the line and column of `offset`, which must be in the buffer or saved with [`Input::pin`].
    pub(super) fn position(&self, offset: u64) -> Position {
        let pinned = self.pins.iter().find(|pin| pin.offset == offset).and_then(|pin| pin.position);
        pinned.unwrap_or_else(|| {
            let index = usize::try_from(offset.saturating_sub(self.base.offset)).unwrap_or(self.filled_end);
            self.base.after(&self.buffer[..index.min(self.filled_end)])
        })
    }
}
