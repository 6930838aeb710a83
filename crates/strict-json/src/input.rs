//! A buffered window on the bytes of a reader, validated as UTF-8 a buffer at a time.

use std::io::{self, Read};

use super::Position;
use super::utf8::{find_noncharacter, text};

/// The buffer at first, which is enough for most documents, and at most.
const FIRST_CAPACITY: usize = 4 * 1024;
const CAPACITY: usize = 128 * 1024;

/// A remembered offset whose position outlives the bytes around it.
#[derive(Clone, Copy)]
struct Pin {
    offset: u64,
    position: Option<Position>,
}

/// What [`Input::pin`] can remember.
#[derive(Clone, Copy)]
pub(super) enum Slot {
    /// The start of a key or number, or the end of a line.
    Token,
    /// The start of a record.
    Record,
}

/// The bytes at hand and how they are counted.
pub(super) struct Input<R> {
    reader: R,
    buffer: Vec<u8>,
    /// Position of the first byte of `buffer`.
    base: Position,
    /// How many newlines are behind us, and where the line at hand begins.
    newlines: u64,
    line_start: u64,
    /// The next byte.
    next: usize,
    /// Up to here the bytes are UTF-8 and whole characters.
    valid: usize,
    /// Up to here there are bytes.
    filled: usize,
    /// The bytes at `valid` are not UTF-8.
    invalid: bool,
    ended: bool,
    error: Option<io::Error>,
    /// The valid bytes as text, from this index of `buffer` on: so that what is cut from it has not to be
    /// validated again.
    text: String,
    text_from: usize,
    /// Index of the first noncharacter at or behind `next`, or `usize::MAX`.
    noncharacter: usize,
    pins: [Pin; 2],
}

impl<R: Read> Input<R> {
    pub(super) fn new(reader: R) -> Self {
        Self {
            reader,
            buffer: vec![0; FIRST_CAPACITY],
            base: Position::START,
            newlines: 0,
            line_start: 0,
            next: 0,
            valid: 0,
            filled: 0,
            invalid: false,
            ended: false,
            error: None,
            text: String::new(),
            text_from: 0,
            noncharacter: usize::MAX,
            pins: [Pin { offset: u64::MAX, position: None }; 2],
        }
    }

    /// The first byte is at this position, at the start of a line; said before anything is read.
    pub(super) fn begin_at(&mut self, position: Position) {
        self.base = position;
        self.newlines = position.line - 1;
        self.line_start = position.offset;
    }

    /// The error of the reader, if it had one; the bytes end there.
    pub(super) fn into_error(self) -> Option<io::Error> {
        self.error
    }

    /// Offset of the next byte.
    #[inline]
    pub(super) fn offset(&self) -> u64 {
        self.base.offset + self.next as u64
    }

    /// The valid bytes at hand; never none before the end if `peek` gave a byte.
    #[inline]
    pub(super) fn rest(&self) -> &[u8] {
        &self.buffer[self.next..self.valid]
    }

    /// This range of [`Input::rest`], which begins and ends at characters.
    #[inline]
    pub(super) fn text(&self, from: usize, to: usize) -> &str {
        let next = self.next - self.text_from;
        &self.text[next + from..next + to]
    }

    /// As [`Input::rest`], as text.
    pub(super) fn text_at_hand(&self) -> &str {
        &self.text[self.next - self.text_from..]
    }

    /// The length of the line, without its newline, if it fits into half of the window.
    pub(super) fn line_at_hand(&mut self) -> Option<usize> {
        let mut searched = 0;
        loop {
            let rest = self.rest();
            if let Some(found) = memchr::memchr(b'\n', &rest[searched..]) {
                return Some(searched + found);
            }
            searched = rest.len();
            if searched > CAPACITY / 2 || !self.fill() {
                return None;
            }
        }
    }

    /// The next byte if it is at hand.
    #[inline]
    pub(super) fn at_hand(&self) -> Option<u8> {
        if self.next < self.valid { Some(self.buffer[self.next]) } else { None }
    }

    /// The next byte; none at the end and where the bytes are not UTF-8.
    #[inline]
    pub(super) fn peek(&mut self) -> Option<u8> {
        if self.next == self.valid && !self.fill() {
            return None;
        }
        self.at_hand()
    }

    #[inline]
    pub(super) fn advance(&mut self, bytes: usize) {
        self.next += bytes;
        debug_assert!(self.next <= self.valid);
    }

    /// Goes behind a `\n`, which comes next; there is no other way to do so.
    #[inline]
    pub(super) fn newline(&mut self) {
        self.next += 1;
        self.newlines += 1;
        self.line_start = self.offset();
    }

    /// Whether `bytes` valid bytes are there; waits for no more than that. For a few bytes only.
    pub(super) fn ensure(&mut self, bytes: usize) -> bool {
        while self.valid - self.next < bytes {
            if !self.fill() {
                return false;
            }
        }
        true
    }

    /// The first of the bytes that are not UTF-8, when those come next.
    pub(super) fn invalid_byte(&self) -> Option<u8> {
        (self.invalid && self.next == self.valid).then(|| self.buffer[self.valid])
    }

    /// Gets more valid bytes; false when there are none.
    #[cold]
    pub(super) fn fill(&mut self) -> bool {
        let before = self.valid - self.next;
        while !self.invalid && !self.ended && self.valid - self.next == before {
            self.read();
            self.validate();
        }
        self.valid - self.next > before
    }

    /// Drops what is behind us and reads once.
    fn read(&mut self) {
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
        self.buffer.copy_within(self.next..self.filled, 0);
        self.text.drain(..self.next - self.text_from);
        self.text_from = 0;
        self.filled -= self.next;
        self.valid -= self.next;
        self.noncharacter = if self.noncharacter == usize::MAX {
            usize::MAX
        } else if self.noncharacter >= self.next {
            self.noncharacter - self.next
        } else {
            find_noncharacter(&self.buffer[..self.valid], 0)
        };
        self.next = 0;
        match self.reader.read(&mut self.buffer[self.filled..]) {
            Ok(0) => self.ended = true,
            Ok(read) => {
                self.filled += read;
                if self.filled == self.buffer.len() && self.filled < CAPACITY {
                    self.buffer.resize(CAPACITY, 0);
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
        let from = self.valid;
        let text = match simdutf8::compat::from_utf8(&self.buffer[from..self.filled]) {
            Ok(text) => text,
            Err(error) => {
                self.invalid = error.error_len().is_some() || self.ended;
                text(&self.buffer[from..from + error.valid_up_to()])
            }
        };
        self.valid += text.len();
        self.text.push_str(text);
        if self.noncharacter == usize::MAX && !self.buffer[from..self.valid].is_ascii() {
            self.noncharacter = find_noncharacter(&self.buffer[..self.valid], from);
        }
    }

    /// Goes behind the next `\n`, whatever the bytes are; false when the input ends before.
    pub(super) fn skip_line(&mut self) -> bool {
        let found = loop {
            if let Some(index) = memchr::memchr(b'\n', &self.buffer[self.next..self.filled]) {
                self.next += index;
                self.newline();
                break true;
            }
            self.next = self.filled;
            self.forget();
            if self.ended {
                break false;
            }
            self.read();
        };
        if self.next > self.valid {
            self.forget();
            self.validate();
        }
        found
    }

    /// Forgets what is known about the bytes behind `next`.
    fn forget(&mut self) {
        self.valid = self.next;
        self.text.clear();
        self.text_from = self.next;
        self.invalid = false;
        self.noncharacter = usize::MAX;
    }

    /// Whether there may be a noncharacter within the next `bytes`.
    #[inline]
    pub(super) fn noncharacter_within(&self, bytes: usize) -> bool {
        self.noncharacter < self.next + bytes
    }

    /// The offset of the next noncharacter within the next `bytes`; each is given once.
    pub(super) fn take_noncharacter(&mut self, bytes: usize) -> Option<u64> {
        while self.noncharacter < self.next + bytes {
            let index = self.noncharacter;
            self.noncharacter = find_noncharacter(&self.buffer[..self.valid], index + 3);
            if index >= self.next {
                return Some(self.base.offset + index as u64);
            }
        }
        None
    }

    /// Remembers the next byte's position for [`Input::position`].
    #[inline]
    pub(super) fn pin(&mut self, slot: Slot) {
        self.pins[slot as usize] = Pin { offset: self.offset(), position: None };
    }

    /// The position of an offset that is at hand or pinned.
    pub(super) fn position(&self, offset: u64) -> Position {
        let pinned = self.pins.iter().find(|pin| pin.offset == offset).and_then(|pin| pin.position);
        pinned.unwrap_or_else(|| {
            let index = usize::try_from(offset.saturating_sub(self.base.offset)).unwrap_or(self.filled);
            self.base.after(&self.buffer[..index.min(self.filled)])
        })
    }
}
