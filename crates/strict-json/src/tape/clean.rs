//! The clean reader: writes a record without problems to a tape, faster than the parser.
//!
//! Most records have no problems. The clean reader knows only common cases and gives up at all others; the parser then
//! reads the record from its start and reports the problems. The parser accepts every record that the clean reader
//! accepts, without a problem and with the same values.

use super::Tape;
use super::cell::{Cell, OpenContainer};
use super::key::{fingerprint, tag};
use crate::JsonType;
use crate::limits::{MAX_KEY, MAX_SAFE_INTEGER};
use crate::plain_text::{plain_length, plain_length_in_word};
use crate::utf8::is_noncharacter;

/// Maximum length of a record in bytes, as offsets on a tape have 32 bits; longer records are left to the parser.
const MAX_RECORD: usize = 1 << 30;
/// Maximum number of keys of an object. An object with more keys is left to the parser, which stores them in a set.
const MAX_KEYS: usize = 64;
/// Maximum number of digits of a number; longer numbers are left to the parser. Shorter numbers with at most two digits
/// of exponent cannot overflow.
const MAX_DIGITS: usize = 100;

struct CleanReader<'t, 'l> {
    tape: &'t mut Tape,
    /// The bytes of the record, and all bytes after it.
    bytes: &'l [u8],
    at: usize,
    max_depth: usize,
}

impl Tape {
    /// Reads the object in the first `length` bytes of `text` to the tape. The byte after them must be a newline.
    /// Returns false if the record may have a problem; the tape is then empty.
    pub(crate) fn read_clean(&mut self, text: &str, length: usize, max_depth: usize) -> bool {
        if length > MAX_RECORD {
            return false;
        }
        self.text.push_str(&text[..length]);
        self.clean_open.clear();
        self.key_fingerprints.clear();
        self.root_offset = self.origin;
        let mut reader = CleanReader { tape: self, bytes: text.as_bytes(), at: 0, max_depth };
        let clean = reader.record().is_some() && reader.at == length;
        if !clean {
            self.cells.clear();
            self.text.clear();
        }
        clean
    }
}

impl CleanReader<'_, '_> {
    fn record(&mut self) -> Option<()> {
        loop {
            match self.token()? {
                b'"' => self.string()?,
                b'{' => {
                    self.open(JsonType::Object)?;
                    if self.token()? == b'}' {
                        self.close();
                    } else {
                        self.key()?;
                        continue;
                    }
                }
                b'[' => {
                    self.open(JsonType::Array)?;
                    if self.token()? == b']' {
                        self.close();
                    } else {
                        continue;
                    }
                }
                b'-' | b'0'..=b'9' => self.number()?,
                b't' => self.literal(b"true", JsonType::Boolean, 1)?,
                b'f' => self.literal(b"false", JsonType::Boolean, 0)?,
                b'n' => self.literal(b"null", JsonType::Null, 0)?,
                _ => return None,
            }
            loop {
                let byte = self.token()?;
                let Some(level) = self.tape.clean_open.last_mut() else {
                    self.at += usize::from(byte == b'\r');
                    return Some(());
                };
                level.count += 1;
                match (byte, level.object) {
                    (b',', true) => {
                        self.at += 1;
                        self.key()?;
                        break;
                    }
                    (b',', false) => {
                        self.at += 1;
                        break;
                    }
                    (b'}', true) | (b']', false) => self.close(),
                    _ => return None,
                }
            }
        }
    }

    /// Skips spaces and returns the next byte, without advancing past it. `None` at the end.
    #[inline(always)]
    fn token(&mut self) -> Option<u8> {
        loop {
            let byte = *self.bytes.get(self.at)?;
            if byte != b' ' {
                return Some(byte);
            }
            self.at += 1;
        }
    }

    #[inline(always)]
    fn push(&mut self, json_type: JsonType, at: usize, start_or_count: usize, length_or_end: usize) {
        self.tape.cells.push(Cell {
            json_type: Some(json_type),
            tag: 0,
            offset_or_next: at as u32,
            start_or_count: start_or_count as u32,
            length_or_end: length_or_end as u32,
        });
    }

    #[inline]
    fn open(&mut self, container: JsonType) -> Option<()> {
        let tape = &mut *self.tape;
        if tape.clean_open.len() >= self.max_depth {
            return None;
        }
        let object = container == JsonType::Object;
        let level = OpenContainer {
            container: tape.cells.len(),
            object,
            count: 0,
            keys_start: tape.key_fingerprints.len(),
            key_bits: 0,
        };
        tape.clean_open.push(level);
        self.push(container, self.at, 0, 0);
        self.at += 1;
        Some(())
    }

    #[inline]
    fn close(&mut self) {
        self.at += 1;
        let tape = &mut *self.tape;
        let Some(level) = tape.clean_open.pop() else { return };
        tape.key_fingerprints.truncate(level.keys_start);
        let end = tape.cells.len() as u32;
        let container = &mut tape.cells[level.container];
        (container.start_or_count, container.length_or_end) = (level.count, end);
        if tape.clean_open.last().is_some_and(|outer| outer.object) {
            tape.cells[level.container - 1].offset_or_next = end;
        }
    }

    /// Returns the number of bytes from `start` to the first quote, backslash or control character. `None` if fewer
    /// than eight bytes follow.
    #[inline(always)]
    fn plain_length(&self, start: usize) -> Option<usize> {
        let rest = self.bytes.get(start..)?;
        // Many keys and strings are shorter than a word.
        let first = plain_length_in_word(*rest.first_chunk()?);
        Some(if first < 8 { first } else { 8 + plain_length(&rest[8..]) })
    }

    /// Reads a key and its colon. `None` leaves the record to the parser.
    #[inline(always)]
    fn key(&mut self) -> Option<()> {
        if self.token()? != b'"' {
            return None;
        }
        let start = self.at + 1;
        let length = self.plain_length(start)?;
        let end = start + length;
        if self.bytes.get(end) != Some(&b'"') || length > MAX_KEY {
            return None;
        }
        let fingerprint = fingerprint(&self.bytes[start..end]);
        let tape = &mut *self.tape;
        let level = tape.clean_open.last_mut()?;
        let bit = 1 << (fingerprint >> 58);
        if level.key_bits & bit != 0 && tape.key_fingerprints[level.keys_start..].contains(&fingerprint) {
            return None;
        }
        level.key_bits |= bit;
        if tape.key_fingerprints.len() - level.keys_start >= MAX_KEYS {
            return None;
        }
        tape.key_fingerprints.push(fingerprint);
        let next = tape.cells.len() + 2;
        tape.cells.push(Cell {
            json_type: None,
            tag: tag(fingerprint),
            offset_or_next: next as u32,
            start_or_count: start as u32,
            length_or_end: length as u32,
        });
        self.at = end + 1;
        if self.token()? != b':' {
            return None;
        }
        self.at += 1;
        Some(())
    }

    #[inline(always)]
    fn string(&mut self) -> Option<()> {
        let at = self.at;
        let start = at + 1;
        let length = self.plain_length(start)?;
        match self.bytes.get(start + length)? {
            b'"' => {
                self.push(JsonType::String, at, start, length);
                self.at = start + length + 1;
                Some(())
            }
            b'\\' => self.escaped_string(start, length),
            _ => None,
        }
    }

    /// Reads a string whose text begins at `start` and has its first escape after `length` bytes.
    #[inline(never)]
    fn escaped_string(&mut self, start: usize, mut length: usize) -> Option<()> {
        let (mut from, text) = (start, self.tape.text.len());
        loop {
            self.tape.text.push_str(std::str::from_utf8(self.bytes.get(from..from + length)?).ok()?);
            self.at = from + length;
            match self.bytes.get(self.at)? {
                b'"' => break,
                b'\\' => {
                    let character = self.escape()?;
                    self.tape.text.push(character);
                }
                _ => return None,
            }
            from = self.at;
            length = plain_length(self.bytes.get(from..)?);
        }
        self.at += 1;
        self.push(JsonType::String, start - 1, text, self.tape.text.len() - text);
        Some(())
    }

    /// Reads an escape, such as `\n` or `\u00e4`, and returns its character.
    #[inline]
    fn escape(&mut self) -> Option<char> {
        let character = match self.bytes.get(self.at + 1)? {
            byte @ (b'"' | b'\\' | b'/') => char::from(*byte),
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => return self.unicode_escape(),
            _ => return None,
        };
        self.at += 2;
        Some(character)
    }

    fn unicode_escape(&mut self) -> Option<char> {
        let unit = |at: usize| -> Option<u32> {
            let [b'\\', b'u', digits @ ..] = self.bytes.get(at..at + 6)? else { return None };
            digits.iter().try_fold(0, |code, digit| Some(code << 4 | char::from(*digit).to_digit(16)?))
        };
        let (mut code, mut length) = (unit(self.at)?, 6);
        if let 0xd800..0xdc00 = code {
            let low = unit(self.at + 6).filter(|low| (0xdc00..0xe000).contains(low))?;
            code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
            length = 12;
        }
        self.at += length;
        char::from_u32(code).filter(|_| !is_noncharacter(code))
    }

    #[inline]
    fn number(&mut self) -> Option<()> {
        let start = self.at;
        let first = start + usize::from(self.bytes[start] == b'-');
        let (mut at, mut value) = (first, 0);
        while let Some(byte @ b'0'..=b'9') = self.bytes.get(at)
            && at < first + 17
        {
            value = value * 10 + u64::from(byte - b'0');
            at += 1;
        }
        let leading_zero = self.bytes.get(first) == Some(&b'0') && at > first + 1;
        if at == first || leading_zero || value > MAX_SAFE_INTEGER {
            return None;
        }
        if let b'.' | b'e' | b'E' = self.bytes.get(at)? {
            at = self.fraction_and_exponent(at)?;
        }
        self.push(JsonType::Number, start, start, at - start);
        self.at = at;
        Some(())
    }

    /// Returns the index after a number whose fraction or exponent begins at index `at`.
    fn fraction_and_exponent(&self, mut at: usize) -> Option<usize> {
        let digits = |from: usize| {
            let run = self.bytes.get(from..)?.iter().take_while(|byte| byte.is_ascii_digit());
            Some(run.take(MAX_DIGITS).count())
        };
        if self.bytes.get(at) == Some(&b'.') {
            let length = digits(at + 1).filter(|length| (1..MAX_DIGITS).contains(length))?;
            at += 1 + length;
        }
        if let Some(b'e' | b'E') = self.bytes.get(at) {
            at += 1 + usize::from(matches!(self.bytes.get(at + 1), Some(b'+' | b'-')));
            at += digits(at).filter(|length| (1..3).contains(length))?;
        }
        Some(at)
    }

    #[inline]
    fn literal(&mut self, literal: &[u8], json_type: JsonType, value: usize) -> Option<()> {
        if !self.bytes[self.at..].starts_with(literal) {
            return None;
        }
        self.push(json_type, self.at, value, 0);
        self.at += literal.len();
        Some(())
    }
}
