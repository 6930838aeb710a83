//! Reads strings and keys with their escapes, and reports surrogates and noncharacters.

use std::io::Read;

use xxhash_rust::xxh3::{Xxh3Default, xxh3_64};

use super::expected::{Expected, Scope};
use super::limits::MAX_KEY;
use super::parser::{Parser, Step, Stop};
use super::plain_text::plain_length;
use super::utf8::{first_code_point, fitting_length, is_noncharacter, valid_text};
use super::{Event, ProblemKind, Sink, Span};

/// Maximum number of bytes of a string in one event; longer strings are sent in parts.
const MAX_STRING_PART: usize = 64 * 1024;

/// State of a string or key whose text is assembled in `Parser::scratch`.
struct TextState {
    start: u64,
    expected: Expected,
    wanted: bool,
    /// Hash of the key; `None` if the text is a string.
    hash: Option<Box<Xxh3Default>>,
    /// Combined with the hash to distinguish keys that differ in unpaired surrogates only, all of which become U+FFFD.
    salt: u64,
    /// True if the text of the key is cut at its maximum length; the rest is only hashed.
    truncated: bool,
}

impl<R: Read, S: Sink> Parser<'_, R, S> {
    /// Reads a string that is a value, not a key. The next byte of the input must be its opening quote.
    #[inline]
    pub(super) fn string_value(&mut self) -> Step {
        let start = self.input.offset();
        let rest = &self.input.rest()[1..];
        let length = plain_length(rest);
        if length > MAX_STRING_PART
            || rest.get(length) != Some(&b'"')
            || self.input.noncharacter_within(length + 1)
        {
            return self.string_slow(start);
        }
        if S::NEEDS_TEXT && self.sink.wants_text() {
            let span = Span { start, end: start + length as u64 + 2 };
            self.sink.event(Event::String(span, self.input.text(1, length + 1)));
        }
        self.input.advance(length + 2);
        Ok(())
    }

    #[inline(never)]
    fn string_slow(&mut self, start: u64) -> Step {
        self.scratch.clear();
        let wanted = S::NEEDS_TEXT && self.sink.wants_text();
        if !wanted
            && let Some(length) = skippable_length(&self.input.rest()[1..])
            && !self.input.noncharacter_within(length + 1)
        {
            self.input.advance(length + 1);
            return Ok(());
        }
        let mut state = TextState {
            start,
            expected: Expected::StringText,
            wanted,
            hash: None,
            salt: 0,
            truncated: false,
        };
        self.quoted(&mut state)?;
        if wanted {
            let span = Span { start, end: self.input.offset() };
            self.sink.event(Event::String(span, valid_text(&self.scratch)));
        }
        Ok(())
    }

    /// Reads the key of a member. The next byte of the input must be its opening quote.
    #[inline]
    pub(super) fn key(&mut self) -> Step {
        let start = self.input.offset();
        let rest = &self.input.rest()[1..];
        let length = plain_length(rest);
        if length > MAX_KEY || rest.get(length) != Some(&b'"') || self.input.noncharacter_within(length + 1) {
            return self.key_slow();
        }
        let key = &rest[..length];
        let new = if S::COMPARES_KEYS {
            self.path.member(key, xxh3_64(key))
        } else {
            self.path.uncompared_member();
            true
        };
        if S::NEEDS_TEXT && self.sink.wants_key(key) {
            let span = Span { start, end: start + length as u64 + 2 };
            self.sink.event(Event::Key(span, self.input.text(1, length + 1)));
        }
        if !new {
            self.report_duplicate_key(start);
        }
        self.input.advance(length + 2);
        Ok(())
    }

    #[inline(never)]
    fn key_slow(&mut self) -> Step {
        let start = self.pin();
        self.scratch.clear();
        let hash = Some(Box::new(Xxh3Default::new()));
        let mut key =
            TextState { start, expected: Expected::KeyText, wanted: true, hash, salt: 0, truncated: false };
        self.quoted(&mut key)?;
        let hash = key.hash.map_or(0, |hash| hash.digest()) ^ key.salt;
        let new = if S::COMPARES_KEYS {
            self.path.member(&self.scratch, hash)
        } else {
            self.path.uncompared_member();
            true
        };
        if S::NEEDS_TEXT && self.sink.wants_key(&self.scratch) {
            let span = Span { start, end: self.input.offset() };
            self.sink.event(Event::Key(span, valid_text(&self.scratch)));
        }
        if !new {
            self.report_duplicate_key(start);
        }
        Ok(())
    }

    fn report_duplicate_key(&mut self, start: u64) {
        self.report(ProblemKind::DuplicateKey, start, Scope::Value, |_| {
            "expected unique keys, found a duplicate; parsers differ in which value they keep".into()
        });
    }

    /// Reads a string or key from its opening quote to its closing quote.
    fn quoted(&mut self, state: &mut TextState) -> Step {
        self.input.advance(1);
        loop {
            let rest = self.input.rest();
            let length = plain_length(rest);
            let end = rest.get(length).copied();
            while let Some(at) = self.input.next_noncharacter(length) {
                self.report_noncharacter(at, state.expected);
            }
            self.push_run(state, length);
            self.input.advance(length);
            match end {
                Some(b'"') => {
                    self.input.advance(1);
                    return Ok(());
                }
                Some(b'\\') => self.escape(state)?,
                Some(b'\n') if self.line.is_json_lines => {
                    return Err(self.torn(self.input.offset(), state.expected));
                }
                Some(byte) => {
                    let kind = if byte == 0 { ProblemKind::Nul } else { ProblemKind::ControlInString };
                    return Err(self.report(kind, self.input.offset(), state.expected.scope(), |_| {
                        format!("expected control characters in strings to be escaped, found {byte:#04x}")
                    }));
                }
                None if self.sink.is_done() => return Err(Stop),
                None if self.input.read_more() => {}
                None => return Err(self.ended(state.expected)),
            }
        }
    }

    /// Appends the next `length` bytes of the input to the text, without advancing past them.
    fn push_run(&mut self, state: &mut TextState, length: usize) {
        if !state.wanted {
            return;
        }
        let mut run = &self.input.rest()[..length];
        if let Some(hash) = &mut state.hash {
            hash.update(run);
            if !state.truncated {
                let fits = fitting_length(run, MAX_KEY - self.scratch.len());
                self.scratch.extend_from_slice(&run[..fits]);
                state.truncated = fits < run.len();
            }
            return;
        }
        loop {
            let fits = fitting_length(run, MAX_STRING_PART - self.scratch.len());
            self.scratch.extend_from_slice(&run[..fits]);
            run = &run[fits..];
            if run.is_empty() {
                return;
            }
            self.sink.event(Event::StringPart(state.start, valid_text(&self.scratch)));
            self.scratch.clear();
        }
    }

    /// Appends a character, which was written as an escape, to the text.
    fn push_char(&mut self, state: &mut TextState, character: char) {
        let mut bytes = [0; 4];
        let bytes = character.encode_utf8(&mut bytes).as_bytes();
        if let Some(hash) = &mut state.hash {
            hash.update(bytes);
            state.truncated |= self.scratch.len() + bytes.len() > MAX_KEY;
        } else if !state.wanted {
            return;
        } else if self.scratch.len() + bytes.len() > MAX_STRING_PART {
            self.sink.event(Event::StringPart(state.start, valid_text(&self.scratch)));
            self.scratch.clear();
        }
        if !state.truncated {
            self.scratch.extend_from_slice(bytes);
        }
    }

    /// Reads an escape, such as `\n`. The next byte of the input must be its backslash.
    fn escape(&mut self, state: &mut TextState) -> Step {
        if !self.input.ensure(2) {
            self.input.advance(1);
            return Err(self.ended(state.expected));
        }
        let character = match self.input.rest()[1] {
            byte @ (b'"' | b'\\' | b'/') => char::from(byte),
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => return self.unicode_escape(state),
            // The control character is reported, not the escape.
            0..0x20 => {
                self.input.advance(1);
                return Ok(());
            }
            _ => {
                let code = first_code_point(&self.input.rest()[1..]);
                self.invalid_escape(state, 1 + char::from_u32(code).map_or(1, char::len_utf8));
                return Ok(());
            }
        };
        self.input.advance(2);
        self.push_char(state, character);
        Ok(())
    }

    fn invalid_escape(&mut self, state: &mut TextState, length: usize) {
        self.report(ProblemKind::InvalidEscape, self.input.offset(), state.expected.scope(), |parser| {
            let found = parser.input.rest()[..length].escape_ascii();
            format!("expected one of the escapes \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX, found {found}")
        });
        self.input.advance(length);
        self.push_char(state, char::REPLACEMENT_CHARACTER);
    }

    /// Reads a `\u` escape, or two that form a surrogate pair.
    fn unicode_escape(&mut self, state: &mut TextState) -> Step {
        let high = match self.hex_digits(2, state.expected)? {
            Ok(code) => code,
            Err(digits) => {
                // If a control character ends the escape, that is reported instead.
                if self.input.rest()[2 + digits] < 0x20 {
                    self.input.advance(2 + digits);
                } else {
                    self.invalid_escape(state, 2 + digits);
                }
                return Ok(());
            }
        };
        let mut length = 6;
        let mut code = high;
        if (0xd800..0xdc00).contains(&high) {
            if !self.input.ensure(7) {
                self.input.advance(6);
                return Err(self.ended(state.expected));
            }
            if self.input.rest()[6] == b'\\'
                && self.input.ensure(8)
                && self.input.rest()[7] == b'u'
                && let Ok(low @ 0xdc00..0xe000) = self.hex_digits(8, state.expected)?
            {
                length = 12;
                code = 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
            }
        }
        let at = self.input.offset();
        let character = char::from_u32(code).unwrap_or_else(|| {
            self.report(ProblemKind::UnpairedSurrogate, at, state.expected.scope(), |_| {
                format!("expected the two halves of a surrogate pair, found \\u{code:04x} alone")
            });
            let before = state.salt.wrapping_add(self.scratch.len() as u64);
            state.salt = xxh3_64(&(before << 16 | u64::from(code)).to_le_bytes());
            char::REPLACEMENT_CHARACTER
        });
        if is_noncharacter(code) {
            self.report_noncharacter(at, state.expected);
        }
        self.input.advance(length);
        self.push_char(state, character);
        Ok(())
    }

    /// Reads four hexadecimal digits that begin `from` bytes after the next byte. The inner result is their value, or
    /// as an error the number of digits found.
    fn hex_digits(&mut self, from: usize, expected: Expected) -> Step<Result<u32, usize>> {
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

    fn report_noncharacter(&mut self, at: u64, expected: Expected) {
        self.report(ProblemKind::Noncharacter, at, expected.scope(), |_| {
            "expected a character, found a Unicode noncharacter".into()
        });
    }
}

/// Returns the number of bytes up to and including the closing quote of a string. `None` if the string is not
/// completely buffered, or has other escapes than those of two characters, such as `\n`.
fn skippable_length(bytes: &[u8]) -> Option<usize> {
    let mut length = 0;
    loop {
        length += plain_length(&bytes[length..]);
        match bytes.get(length..)? {
            [b'"', ..] => return Some(length + 1),
            [b'\\', b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't', ..] => length += 2,
            _ => return None,
        }
    }
}
