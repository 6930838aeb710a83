//! Buffered bytes of a reader, validated as UTF-8 one buffer at a time.

use std::io::{self, Read};

use super::Position;
use super::utf8::{find_noncharacter, valid_text};

/// Initial size of the buffer, in bytes; enough for most documents.
const INITIAL_CAPACITY: usize = 4 * 1024;
/// Maximum size of the buffer, in bytes.
const MAX_CAPACITY: usize = 128 * 1024;

/// A saved offset whose position stays available after its bytes have left the buffer.
#[derive(Clone, Copy)]
struct Pin {
    offset: u64,
    position: Option<Position>,
}

/// Slots in which [`Input::pin`] saves an offset.
#[derive(Clone, Copy)]
pub(super) enum Slot {
    /// The start of a key or number, or the end of a line.
    Token,
    /// The start of a record.
    Record,
}

/// A reader with its buffer and the position in it.
pub(super) struct Input<R> {
    reader: R,
    buffer: Vec<u8>,
    /// Position of the first byte of `buffer`.
    base: Position,
    /// Number of newlines before the current line.
    newlines: u64,
    /// Offset of the current line.
    line_start: u64,
    /// Index of the next byte in `buffer`.
    next: usize,
    /// End of the bytes in `buffer` that are validated UTF-8 and complete characters.
    valid_end: usize,
    /// End of the bytes in `buffer` that were read.
    filled_end: usize,
    /// True if the bytes at `valid_end` are not UTF-8.
    invalid: bool,
    ended: bool,
    error: Option<io::Error>,
    /// The valid bytes from `text_start` on as text, so that slices of it need no second validation.
    text: String,
    /// Index in `buffer` at which `text` begins.
    text_start: usize,
    /// Index of the first noncharacter at or after `next`, or `usize::MAX`.
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

    /// Sets the position of the first byte, which begins a line. Must be called before the first read.
    pub(super) fn begin_at(&mut self, position: Position) {
        self.base = position;
        self.newlines = position.line - 1;
        self.line_start = position.offset;
    }

    /// Returns the error of the reader, if there was one. The bytes end at the error.
    pub(super) fn into_error(self) -> Option<io::Error> {
        self.error
    }

    /// Returns the offset of the next byte.
    #[inline]
    pub(super) fn offset(&self) -> u64 {
        self.base.offset + self.next as u64
    }

    /// Returns the valid bytes in the buffer, which are not empty after `peek` has returned a byte.
    #[inline]
    pub(super) fn rest(&self) -> &[u8] {
        &self.buffer[self.next..self.valid_end]
    }

    /// Returns the range `from..to` of [`Input::rest`] as text; both must be character boundaries.
    #[inline]
    pub(super) fn text(&self, from: usize, to: usize) -> &str {
        let next = self.next - self.text_start;
        &self.text[next + from..next + to]
    }

    /// Returns [`Input::rest`] as text.
    pub(super) fn text_at_hand(&self) -> &str {
        &self.text[self.next - self.text_start..]
    }

    /// Returns the length of the current line without its newline, if it fits into half of the buffer.
    pub(super) fn line_at_hand(&mut self) -> Option<usize> {
        let mut searched = 0;
        loop {
            let rest = self.rest();
            if let Some(found) = memchr::memchr(b'\n', &rest[searched..]) {
                return Some(searched + found);
            }
            searched = rest.len();
            if searched > MAX_CAPACITY / 2 || !self.fill() {
                return None;
            }
        }
    }

    /// Returns the next byte if it is in the buffer.
    #[inline]
    pub(super) fn buffered_byte(&self) -> Option<u8> {
        if self.next < self.valid_end { Some(self.buffer[self.next]) } else { None }
    }

    /// Returns the next byte; `None` at the end of the input and at bytes that are not UTF-8.
    #[inline]
    pub(super) fn peek(&mut self) -> Option<u8> {
        if self.next == self.valid_end && !self.fill() {
            return None;
        }
        self.buffered_byte()
    }

    #[inline]
    pub(super) fn advance(&mut self, bytes: usize) {
        self.next += bytes;
        debug_assert!(self.next <= self.valid_end);
    }

    /// Advances past the `\n` that comes next. Newlines must not be skipped in any other way.
    #[inline]
    pub(super) fn newline(&mut self) {
        self.next += 1;
        self.newlines += 1;
        self.line_start = self.offset();
    }

    /// Whether `bytes` more valid bytes exist; reads no more than needed. For small numbers only.
    pub(super) fn ensure(&mut self, bytes: usize) -> bool {
        while self.valid_end - self.next < bytes {
            if !self.fill() {
                return false;
            }
        }
        true
    }

    /// Returns the next byte if it begins bytes that are not UTF-8.
    pub(super) fn invalid_byte(&self) -> Option<u8> {
        (self.invalid && self.next == self.valid_end).then(|| self.buffer[self.valid_end])
    }

    /// Reads until there are more valid bytes; returns false if there are none.
    #[cold]
    pub(super) fn fill(&mut self) -> bool {
        let before = self.valid_end - self.next;
        while !self.invalid && !self.ended && self.valid_end - self.next == before {
            self.read_once();
            self.validate();
        }
        self.valid_end - self.next > before
    }

    /// Drops the bytes before `next` and reads once.
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

    /// Advances past the next `\n`, whether the bytes are valid or not; returns false if there is none.
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

    /// Whether there may be a noncharacter within the next `bytes` bytes.
    #[inline]
    pub(super) fn noncharacter_within(&self, bytes: usize) -> bool {
        self.noncharacter < self.next + bytes
    }

    /// Returns the offset of the next noncharacter within the next `bytes` bytes; each one once.
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

    /// Saves the offset of the next byte for [`Input::position`].
    #[inline]
    pub(super) fn pin(&mut self, slot: Slot) {
        self.pins[slot as usize] = Pin { offset: self.offset(), position: None };
    }

    /// Returns the position of an offset that is buffered or pinned.
    pub(super) fn position(&self, offset: u64) -> Position {
        let pinned = self.pins.iter().find(|pin| pin.offset == offset).and_then(|pin| pin.position);
        pinned.unwrap_or_else(|| {
            let index = usize::try_from(offset.saturating_sub(self.base.offset)).unwrap_or(self.filled_end);
            self.base.after(&self.buffer[..index.min(self.filled_end)])
        })
    }
}
