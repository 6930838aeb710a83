//! Reads a record in which there is nothing to report, straight onto a tape.
//!
//! Most records of most streams are such. This reader knows less than the parser, so that it is fast:
//! where a byte is not plainly right it gives up, and the parser reads the record from its start and
//! reports what there is. Whatever it accepts, the parser accepts without a problem and as the same values.

use super::Tape;
use super::cell::{Cell, Level};
use super::key::{fingerprint, tag};
use crate::JsonType;
use crate::limits::{MAX_KEY, MAX_SAFE};
use crate::plain_text::{plain, plain_in_word};
use crate::utf8::is_noncharacter;

/// Longer records are left to the parser: offsets on a tape have 32 bits.
const MAX_LENGTH: usize = 1 << 30;
/// An object with more keys is left to the parser, which has a set for them.
const MAX_KEYS: usize = 64;
/// Longer numbers are left to the parser: shorter ones, with two digits of exponent, are far from infinity.
const MAX_DIGITS: usize = 100;

struct CleanReader<'t, 'l> {
    tape: &'t mut Tape,
    /// The record, and what is behind it.
    bytes: &'l [u8],
    at: usize,
    max_depth: usize,
}

impl Tape {
    /// Reads the object that is all of the first `length` bytes of `text`, where they are followed by a newline; false
    /// when it may have something to report. Then the tape is empty.
    pub(crate) fn read_clean(&mut self, text: &str, length: usize, max_depth: usize) -> bool {
        if length > MAX_LENGTH {
            return false;
        }
        self.text.push_str(&text[..length]);
        self.levels.clear();
        self.keys.clear();
        self.root_at = self.origin;
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
                let Some(level) = self.tape.levels.last_mut() else {
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

    /// The next byte behind spaces.
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
    fn push(&mut self, json_type: JsonType, at: usize, a: usize, b: usize) {
        self.tape.cells.push(Cell {
            json_type: Some(json_type),
            tag: 0,
            at: at as u32,
            a: a as u32,
            b: b as u32,
        });
    }

    #[inline]
    fn open(&mut self, container: JsonType) -> Option<()> {
        let tape = &mut *self.tape;
        if tape.levels.len() >= self.max_depth {
            return None;
        }
        let object = container == JsonType::Object;
        let level = Level { container: tape.cells.len(), object, count: 0, keys: tape.keys.len(), bits: 0 };
        tape.levels.push(level);
        self.push(container, self.at, 0, 0);
        self.at += 1;
        Some(())
    }

    #[inline]
    fn close(&mut self) {
        self.at += 1;
        let tape = &mut *self.tape;
        let Some(level) = tape.levels.pop() else { return };
        tape.keys.truncate(level.keys);
        let end = tape.cells.len() as u32;
        let container = &mut tape.cells[level.container];
        (container.a, container.b) = (level.count, end);
        if tape.levels.last().is_some_and(|outer| outer.object) {
            tape.cells[level.container - 1].at = end;
        }
    }

    /// The number of bytes from `start` on that are nothing but text.
    #[inline(always)]
    fn plain(&self, start: usize) -> Option<usize> {
        let rest = self.bytes.get(start..)?;
        // Many keys and strings are shorter than a word.
        let first = plain_in_word(*rest.first_chunk()?);
        Some(if first < 8 { first } else { 8 + plain(&rest[8..]) })
    }

    /// Reads a key and the colon behind it.
    #[inline(always)]
    fn key(&mut self) -> Option<()> {
        if self.token()? != b'"' {
            return None;
        }
        let start = self.at + 1;
        let length = self.plain(start)?;
        let end = start + length;
        if self.bytes.get(end) != Some(&b'"') || length > MAX_KEY {
            return None;
        }
        let fingerprint = fingerprint(&self.bytes[start..end]);
        let tape = &mut *self.tape;
        let level = tape.levels.last_mut()?;
        let bit = 1 << (fingerprint >> 58);
        if level.bits & bit != 0 && tape.keys[level.keys..].contains(&fingerprint) {
            return None;
        }
        level.bits |= bit;
        if tape.keys.len() - level.keys >= MAX_KEYS {
            return None;
        }
        tape.keys.push(fingerprint);
        let next = tape.cells.len() + 2;
        let (at, a, b) = (next as u32, start as u32, length as u32);
        tape.cells.push(Cell { json_type: None, tag: tag(fingerprint), at, a, b });
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
        let length = self.plain(start)?;
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

    /// Reads a string of which so many bytes are in front of the first escape.
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
            length = plain(self.bytes.get(from..)?);
        }
        self.at += 1;
        self.push(JsonType::String, start - 1, text, self.tape.text.len() - text);
        Some(())
    }

    /// The character that an escape stands for.
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
        if at == first || leading_zero || value > MAX_SAFE {
            return None;
        }
        if let b'.' | b'e' | b'E' = self.bytes.get(at)? {
            at = self.fraction_and_exponent(at)?;
        }
        self.push(JsonType::Number, start, start, at - start);
        self.at = at;
        Some(())
    }

    /// The end of a number whose fraction or exponent begins here.
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
