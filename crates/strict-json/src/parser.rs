//! Parses JSON values without recursion.

use std::io::Read;

use super::expected::{Expected, Scope};
use super::input::{Input, Slot};
use super::path::Path;
use super::utf8::valid_text;
use super::{Event, JsonType, ProblemKind, ReadOptions, ReadSummary, Sink, Span};

/// The error that ends the reading of a document or record. Its problem is already reported, or the sink needs no more.
pub(super) struct Stop;

pub(super) type Step<T = ()> = Result<T, Stop>;

/// State of reading JSON Lines, which the module `lines` uses.
#[derive(Default)]
pub(super) struct LineState {
    /// True if the input is JSON Lines.
    pub(super) is_json_lines: bool,
    /// Offset of the first byte of the current line.
    pub(super) start: u64,
    /// Offset of the first byte of the current record.
    pub(super) record: u64,
    /// True if the current record continues over several lines.
    pub(super) spans: bool,
    /// Number of the current line, from 1.
    pub(super) number: u64,
    /// True if the parser has already advanced to the line after a torn (incomplete) record.
    pub(super) resume: bool,
}

/// The literals of JSON, each with the boolean that it stands for; `None` for `null`.
const LITERALS: [(&[u8], Option<bool>); 3] =
    [(b"true", Some(true)), (b"false", Some(false)), (b"null", None)];

/// Reads the values of one input and passes them to a sink.
pub(super) struct Parser<'s, R, S> {
    pub(super) input: Input<R>,
    pub(super) sink: &'s mut S,
    pub(super) path: Path,
    pub(super) line: LineState,
    pub(super) summary: ReadSummary,
    pub(super) scratch: Vec<u8>,
    pub(super) options: ReadOptions,
}

impl<'s, R: Read, S: Sink> Parser<'s, R, S> {
    pub(super) fn new(reader: R, options: &ReadOptions, sink: &'s mut S) -> Self {
        Self {
            input: Input::new(reader),
            sink,
            path: Path::default(),
            line: LineState::default(),
            summary: ReadSummary::default(),
            scratch: Vec::new(),
            options: *options,
        }
    }

    /// Ends the parser. Returns the summary, or the I/O error of the reader.
    pub(super) fn finish(mut self) -> std::io::Result<ReadSummary> {
        self.summary.bytes = self.input.offset();
        self.summary.unchecked_keys = self.path.unchecked_keys;
        self.input.into_error().map_or(Ok(self.summary), Err)
    }

    /// Reads one value, including its members or elements.
    pub(super) fn value(&mut self) -> Step {
        let mut expected = Expected::Value;
        loop {
            match self.token(expected)? {
                b'"' => self.string_value()?,
                b'{' => {
                    self.open(JsonType::Object)?;
                    if self.token(Expected::KeyOrEnd)? == b'}' {
                        self.close();
                    } else {
                        self.member(Expected::KeyOrEnd)?;
                        expected = Expected::Value;
                        continue;
                    }
                }
                b'[' => {
                    self.open(JsonType::Array)?;
                    if self.token(Expected::ElementOrEnd)? == b']' {
                        self.close();
                    } else {
                        expected = Expected::ElementOrEnd;
                        continue;
                    }
                }
                b'0'..=b'9' | b'-' => self.number()?,
                b't' | b'f' | b'n' => self.literal()?,
                _ => self.non_finite(expected)?,
            }
            loop {
                if self.sink.is_done() {
                    return Err(Stop);
                }
                let Some(object) = self.path.in_object() else { return Ok(()) };
                if object {
                    match self.token(Expected::CommaOrBrace)? {
                        b',' => {
                            self.input.advance(1);
                            self.token(Expected::Key)?;
                            self.member(Expected::Key)?;
                            break;
                        }
                        b'}' => self.close(),
                        _ => return Err(self.unexpected(Expected::CommaOrBrace)),
                    }
                } else {
                    match self.token(Expected::CommaOrBracket)? {
                        b',' => {
                            self.input.advance(1);
                            self.path.next_element();
                            break;
                        }
                        b']' => self.close(),
                        _ => return Err(self.unexpected(Expected::CommaOrBracket)),
                    }
                }
            }
            expected = Expected::Value;
        }
    }

    fn member(&mut self, expected: Expected) -> Step {
        if self.input.buffered_byte() != Some(b'"') {
            return Err(self.unexpected(expected));
        }
        self.key()?;
        if self.token(Expected::Colon)? != b':' {
            return Err(self.unexpected(Expected::Colon));
        }
        self.input.advance(1);
        Ok(())
    }

    fn open(&mut self, container: JsonType) -> Step {
        let at = self.input.offset();
        if self.path.depth() >= self.options.max_depth {
            let levels = self.options.max_depth;
            return Err(self.report(ProblemKind::Depth, at, Scope::Value, |_| {
                format!("expected at most {levels} levels of nesting, found more")
            }));
        }
        self.input.advance(1);
        self.path.open(container == JsonType::Object);
        self.sink.event(Event::Begin(container, at));
        Ok(())
    }

    fn close(&mut self) {
        self.input.advance(1);
        self.path.close();
        self.sink.event(Event::End(self.input.offset()));
    }

    /// Skips white space and returns the next byte. At the end of the input, reports that `expected` is missing.
    #[inline]
    fn token(&mut self, expected: Expected) -> Step<u8> {
        match self.input.buffered_byte() {
            Some(byte) if byte > b' ' => Ok(byte),
            _ => self.token_after_space(expected),
        }
    }

    fn token_after_space(&mut self, expected: Expected) -> Step<u8> {
        loop {
            let one_line = self.line.is_json_lines && !self.line.spans;
            match self.space(!one_line) {
                Some(b'\n') if one_line => self.line_ends(expected)?,
                Some(byte) => return Ok(byte),
                None => return Err(self.ended(expected)),
            }
        }
    }

    /// Skips white space and returns the next byte; `None` at the end of the input and at bytes that are not UTF-8. A
    /// `\n` is white space only if `newlines` is true.
    pub(super) fn space(&mut self, newlines: bool) -> Option<u8> {
        loop {
            match self.input.peek()? {
                b' ' | b'\t' => {
                    let run = self.input.rest().iter().take_while(|byte| matches!(**byte, b' ' | b'\t'));
                    let run = run.count();
                    self.input.advance(run);
                }
                b'\n' if newlines => self.newline(),
                b'\r' => self.carriage_return(),
                byte => return Some(byte),
            }
        }
    }

    /// Advances past a `\n` and counts the line.
    pub(super) fn newline(&mut self) {
        self.input.newline();
        self.line.start = self.input.offset();
        self.line.number += 1;
    }

    /// Advances past a `\r` outside of strings; reports the `\r` if no `\n` follows.
    pub(super) fn carriage_return(&mut self) {
        if !(self.input.ensure(2) && self.input.rest()[1] == b'\n') {
            self.report(ProblemKind::BareCr, self.input.offset(), Scope::Container, |_| {
                "expected a newline after the carriage return".into()
            });
        }
        self.input.advance(1);
    }

    fn literal(&mut self) -> Step {
        for (literal, value) in LITERALS {
            if self.starts_with(literal) {
                let start = self.input.offset();
                self.input.advance(literal.len());
                let span = Span { start, end: self.input.offset() };
                self.sink.event(value.map_or(Event::Null(span), |value| Event::Boolean(span, value)));
                return Ok(());
            }
        }
        self.non_finite(Expected::Value)
    }

    /// Returns whether the input continues with `bytes`; reads no more than needed.
    pub(super) fn starts_with(&mut self, bytes: &[u8]) -> bool {
        self.input.rest().starts_with(bytes)
            || (1..=bytes.len())
                .all(|length| self.input.ensure(length) && self.input.rest()[..length] == bytes[..length])
    }

    /// Reads a spelling of NaN or infinity, such as `NaN` or `-Infinity`, where a value is expected. Reports it as a
    /// problem and continues. Any other text is an error.
    pub(super) fn non_finite(&mut self, expected: Expected) -> Step {
        let sign = usize::from(matches!(self.input.buffered_byte(), Some(b'-' | b'+')));
        let mut length = sign;
        while length < 12 && self.input.ensure(length + 1) && self.input.rest()[length].is_ascii_alphabetic()
        {
            length += 1;
        }
        let word = &self.input.rest()[sign..length];
        if !["nan", "inf", "infinity"].iter().any(|name| word.eq_ignore_ascii_case(name.as_bytes())) {
            let literal_begins = !word.is_empty()
                && sign == 0
                && LITERALS.iter().any(|(literal, _)| literal.starts_with(word));
            if literal_begins
                && self.input.rest().get(length).is_none_or(|byte| self.line.is_json_lines && *byte == b'\n')
            {
                self.input.advance(length);
                let at_end = self.input.peek().is_none();
                return Err(if at_end {
                    self.ended(Expected::Literal)
                } else {
                    self.unexpected(Expected::Literal)
                });
            }
            return Err(self.unexpected(expected));
        }
        self.report(ProblemKind::NonFinite, self.input.offset(), Scope::Value, |parser| {
            let word = String::from_utf8_lossy(&parser.input.rest()[..length]).into_owned();
            format!("expected a JSON value, found `{word}`: JSON has no such number")
        });
        if S::NEEDS_TEXT && self.sink.wants_text() {
            let start = self.input.offset();
            let span = Span { start, end: start + length as u64 };
            self.sink.event(Event::Number(span, valid_text(&self.input.rest()[..length])));
        }
        self.input.advance(length);
        Ok(())
    }

    /// Skips a byte order mark before a document or record, and reports it. Does nothing if there is none.
    pub(super) fn byte_order_mark(&mut self) {
        if self.starts_with(b"\xef\xbb\xbf") {
            self.report(ProblemKind::Bom, self.input.offset(), Scope::Container, |_| {
                "expected a JSON value, found a byte order mark".into()
            });
            self.input.advance(3);
        }
    }

    /// Saves the offset of the next byte, the start of a token, so that its line and column can be reported later.
    /// Returns the offset.
    #[inline]
    pub(super) fn pin(&mut self) -> u64 {
        self.input.pin(Slot::Token);
        self.input.offset()
    }
}
