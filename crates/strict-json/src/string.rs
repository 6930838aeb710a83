//! Strings and keys: their end, escapes, surrogates and noncharacters.

use std::io::Read;

use xxhash_rust::xxh3::{Xxh3Default, xxh3_64};

use super::expected::{Expected, Scope};
use super::limits::MAX_KEY;
use super::parser::{Parser, Step};
use super::plain_text::plain;
use super::utf8::{decode, fitting, is_noncharacter, text};
use super::{Event, ProblemKind, Sink, Span};

/// A sink gets a longer string in parts of this many bytes.
const MAX_PART: usize = 64 * 1024;

/// The text of a string or key that is put together in `Parser::scratch`.
struct Text {
    start: u64,
    expected: Expected,
    /// Whether the sink gets a string's text.
    wanted: bool,
    /// Hash of a key; none for a string.
    hash: Option<Box<Xxh3Default>>,
    /// Tells keys apart that differ in half surrogate pairs only.
    salt: u64,
    /// A key that has become longer than what is kept of it.
    cut: bool,
}

impl<R: Read, S: Sink> Parser<'_, R, S> {
    /// Reads a string that is a value; the next byte is its opening quote.
    #[inline]
    pub(super) fn string_value(&mut self) -> Step {
        let start = self.input.offset();
        let rest = &self.input.rest()[1..];
        let length = plain(rest);
        if length > MAX_PART || rest.get(length) != Some(&b'"') || self.input.noncharacter_within(length + 1)
        {
            return self.any_string(start);
        }
        if S::TEXT && self.sink.wants_text() {
            let span = Span { start, end: start + length as u64 + 2 };
            self.sink.event(Event::String(span, self.input.text(1, length + 1)));
        }
        self.input.advance(length + 2);
        Ok(())
    }

    #[inline(never)]
    fn any_string(&mut self, start: u64) -> Step {
        self.scratch.clear();
        let wanted = S::TEXT && self.sink.wants_text();
        if !wanted
            && let Some(length) = unwanted(&self.input.rest()[1..])
            && !self.input.noncharacter_within(length + 1)
        {
            self.input.advance(length + 1);
            return Ok(());
        }
        let mut to = Text { start, expected: Expected::StringText, wanted, hash: None, salt: 0, cut: false };
        self.quoted(&mut to)?;
        if wanted {
            let span = Span { start, end: self.input.offset() };
            self.sink.event(Event::String(span, text(&self.scratch)));
        }
        Ok(())
    }

    /// Reads the key of a member; the next byte is its opening quote.
    #[inline]
    pub(super) fn key(&mut self) -> Step {
        let start = self.input.offset();
        let rest = &self.input.rest()[1..];
        let length = plain(rest);
        if length > MAX_KEY || rest.get(length) != Some(&b'"') || self.input.noncharacter_within(length + 1) {
            return self.any_key();
        }
        let key = &rest[..length];
        let new = if S::COMPARES_KEYS {
            self.path.member(key, xxh3_64(key))
        } else {
            self.path.uncompared_member();
            true
        };
        if S::TEXT && self.sink.wants_key(key) {
            let span = Span { start, end: start + length as u64 + 2 };
            self.sink.event(Event::Key(span, self.input.text(1, length + 1)));
        }
        if !new {
            self.duplicate(start);
        }
        self.input.advance(length + 2);
        Ok(())
    }

    #[inline(never)]
    fn any_key(&mut self) -> Step {
        let start = self.pin();
        self.scratch.clear();
        let hash = Some(Box::new(Xxh3Default::new()));
        let mut key = Text { start, expected: Expected::KeyText, wanted: true, hash, salt: 0, cut: false };
        self.quoted(&mut key)?;
        let hash = key.hash.map_or(0, |hash| hash.digest()) ^ key.salt;
        let new = if S::COMPARES_KEYS {
            self.path.member(&self.scratch, hash)
        } else {
            self.path.uncompared_member();
            true
        };
        if S::TEXT && self.sink.wants_key(&self.scratch) {
            let span = Span { start, end: self.input.offset() };
            self.sink.event(Event::Key(span, text(&self.scratch)));
        }
        if !new {
            self.duplicate(start);
        }
        Ok(())
    }

    fn duplicate(&mut self, start: u64) {
        self.report(ProblemKind::DuplicateKey, start, Scope::Value, |_| {
            "expected unique keys, found a duplicate; parsers differ in which value they keep".into()
        });
    }

    /// Goes from the opening quote behind the closing one.
    fn quoted(&mut self, to: &mut Text) -> Step {
        self.input.advance(1);
        loop {
            let rest = self.input.rest();
            let length = plain(rest);
            let end = rest.get(length).copied();
            while let Some(at) = self.input.take_noncharacter(length) {
                self.noncharacter(at, to.expected);
            }
            self.keep_run(to, length);
            self.input.advance(length);
            match end {
                Some(b'"') => {
                    self.input.advance(1);
                    return Ok(());
                }
                Some(b'\\') => self.escape(to)?,
                Some(b'\n') if self.line.wanted => {
                    return Err(self.torn(self.input.offset(), to.expected));
                }
                Some(byte) => {
                    let kind = if byte == 0 { ProblemKind::Nul } else { ProblemKind::ControlInString };
                    return Err(self.report(kind, self.input.offset(), to.expected.scope(), |_| {
                        format!("expected control characters in strings to be escaped, found {byte:#04x}")
                    }));
                }
                None if self.input.fill() => {}
                None => return Err(self.ended(to.expected)),
            }
        }
    }

    /// Keeps the next bytes of the input as text.
    fn keep_run(&mut self, to: &mut Text, length: usize) {
        if !to.wanted {
            return;
        }
        let mut run = &self.input.rest()[..length];
        if let Some(hash) = &mut to.hash {
            hash.update(run);
            if !to.cut {
                let fits = fitting(run, MAX_KEY - self.scratch.len());
                self.scratch.extend_from_slice(&run[..fits]);
                to.cut = fits < run.len();
            }
            return;
        }
        loop {
            let fits = fitting(run, MAX_PART - self.scratch.len());
            self.scratch.extend_from_slice(&run[..fits]);
            run = &run[fits..];
            if run.is_empty() {
                return;
            }
            self.sink.event(Event::StringPart(to.start, text(&self.scratch)));
            self.scratch.clear();
        }
    }

    /// Keeps an escaped character as text.
    fn keep_char(&mut self, to: &mut Text, character: char) {
        let mut bytes = [0; 4];
        let bytes = character.encode_utf8(&mut bytes).as_bytes();
        if let Some(hash) = &mut to.hash {
            hash.update(bytes);
            to.cut |= self.scratch.len() + bytes.len() > MAX_KEY;
        } else if !to.wanted {
            return;
        } else if self.scratch.len() + bytes.len() > MAX_PART {
            self.sink.event(Event::StringPart(to.start, text(&self.scratch)));
            self.scratch.clear();
        }
        if !to.cut {
            self.scratch.extend_from_slice(bytes);
        }
    }

    /// Takes an escape; the next byte is its backslash.
    fn escape(&mut self, to: &mut Text) -> Step {
        if !self.input.ensure(2) {
            self.input.advance(1);
            return Err(self.ended(to.expected));
        }
        let character = match self.input.rest()[1] {
            byte @ (b'"' | b'\\' | b'/') => char::from(byte),
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => return self.unicode(to),
            // The control character is what gets reported.
            0..0x20 => {
                self.input.advance(1);
                return Ok(());
            }
            _ => {
                let code = decode(&self.input.rest()[1..]);
                self.invalid_escape(to, 1 + char::from_u32(code).map_or(1, char::len_utf8));
                return Ok(());
            }
        };
        self.input.advance(2);
        self.keep_char(to, character);
        Ok(())
    }

    fn invalid_escape(&mut self, to: &mut Text, length: usize) {
        self.report(ProblemKind::InvalidEscape, self.input.offset(), to.expected.scope(), |parser| {
            let found = parser.input.rest()[..length].escape_ascii();
            format!("expected one of the escapes \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX, found {found}")
        });
        self.input.advance(length);
        self.keep_char(to, char::REPLACEMENT_CHARACTER);
    }

    /// Takes a `\u` escape, or two that make up one character.
    fn unicode(&mut self, to: &mut Text) -> Step {
        let high = match self.hex(2, to.expected)? {
            Ok(code) => code,
            Err(digits) => {
                // A control character that cuts the escape short is what gets reported.
                if self.input.rest()[2 + digits] < 0x20 {
                    self.input.advance(2 + digits);
                } else {
                    self.invalid_escape(to, 2 + digits);
                }
                return Ok(());
            }
        };
        let mut length = 6;
        let mut code = high;
        if (0xd800..0xdc00).contains(&high) {
            if !self.input.ensure(7) {
                self.input.advance(6);
                return Err(self.ended(to.expected));
            }
            if self.input.rest()[6] == b'\\'
                && self.input.ensure(8)
                && self.input.rest()[7] == b'u'
                && let Ok(low @ 0xdc00..0xe000) = self.hex(8, to.expected)?
            {
                length = 12;
                code = 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
            }
        }
        let at = self.input.offset();
        let character = char::from_u32(code).unwrap_or_else(|| {
            self.report(ProblemKind::UnpairedSurrogate, at, to.expected.scope(), |_| {
                format!("expected the two halves of a surrogate pair, found \\u{code:04x} alone")
            });
            let before = to.salt.wrapping_add(self.scratch.len() as u64);
            to.salt = xxh3_64(&(before << 16 | u64::from(code)).to_le_bytes());
            char::REPLACEMENT_CHARACTER
        });
        if is_noncharacter(code) {
            self.noncharacter(at, to.expected);
        }
        self.input.advance(length);
        self.keep_char(to, character);
        Ok(())
    }

    /// The four hexadecimal digits at `from` in the rest, or how many there are instead.
    fn hex(&mut self, from: usize, expected: Expected) -> Step<Result<u32, usize>> {
        let mut code = 0;
        for digit in 0..4 {
            if !self.input.ensure(from + digit + 1) {
                self.input.advance(from + digit);
                return Err(self.ended(expected));
            }
            let Some(value) = char::from(self.input.rest()[from + digit]).to_digit(16) else {
                return Ok(Err(digit));
            };
            code = code << 4 | value;
        }
        Ok(Ok(code))
    }

    fn noncharacter(&mut self, at: u64, expected: Expected) {
        self.report(ProblemKind::Noncharacter, at, expected.scope(), |_| {
            "expected a character, found a Unicode noncharacter".into()
        });
    }
}

/// The number of bytes up to a string's end, if it is at hand with none but short escapes before it.
fn unwanted(bytes: &[u8]) -> Option<usize> {
    let mut length = 0;
    loop {
        length += plain(&bytes[length..]);
        match bytes.get(length..)? {
            [b'"', ..] => return Some(length + 1),
            [b'\\', b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't', ..] => length += 2,
            _ => return None,
        }
    }
}
