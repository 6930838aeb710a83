//! Reads JSON Lines: one record per line.

use std::io::{self, Read};

use super::expected::{Expected, Scope};
use super::input::Slot;
use super::parser::{Parser, Step};
use super::utf8::find_noncharacter;
use super::{JsonType, Position, ProblemKind, ReadOptions, ReadSummary, Sink};

/// Reads JSON Lines in constant memory. Empty input is valid.
///
/// After a structural problem, reading continues with the next line. A record on several lines, such as pretty-printed
/// JSON, is one problem and is read to its end.
///
/// # Errors
/// If the reader fails.
pub fn read_lines<R: Read, S: Sink>(
    reader: R,
    options: &ReadOptions,
    sink: &mut S,
) -> io::Result<ReadSummary> {
    let mut parser = Parser::new(reader, options, sink);
    parser.read_all(1);
    parser.finish()
}

/// Reads JSON Lines like [`read_lines`], but from bytes in memory. Faster if the sink has a tape ([`Sink::tape`]).
pub fn read_lines_in_memory<S: Sink>(bytes: &[u8], options: &ReadOptions, sink: &mut S) -> ReadSummary {
    let (mut start, mut line) = (0, 1);
    if let Ok(text) = simdutf8::basic::from_utf8(bytes) {
        let clean = &text[..find_noncharacter(bytes, 0).min(text.len())];
        for newline in memchr::memchr_iter(b'\n', clean.as_bytes()) {
            if sink.is_done() || bytes[start] != b'{' || sink.tape().is_none() {
                break;
            }
            sink.begin_record(line, start as u64);
            let Some(tape) = sink.tape() else { break };
            if !tape.read_clean(&clean[start..], newline - start, options.max_depth) {
                break;
            }
            (start, line) = (newline + 1, line + 1);
            sink.end_record(start as u64, true);
        }
    }
    let (offset, records) = (start as u64, line - 1);
    let read = ReadSummary { bytes: offset, records, complete: records, ..ReadSummary::default() };
    let rest = &bytes[start..];
    if rest.is_empty() {
        return read;
    }
    // The rest begins with the first record that may have a problem.
    let mut parser = Parser::new(rest, options, sink);
    parser.input.begin_at(Position { offset, line, column: 1 });
    parser.summary = read;
    parser.read_all(line);
    // Reading from memory cannot fail.
    parser.finish().unwrap_or_default()
}

impl<R: Read, S: Sink> Parser<'_, R, S> {
    /// Reads all lines of the input. `number` is the line number of the first one.
    fn read_all(&mut self, number: u64) {
        self.line.is_json_lines = true;
        self.line.number = number;
        while !self.sink.is_done() && self.read_line() {}
    }

    /// Reads the next line, or the next record if it continues over several lines. Returns false at the end of the
    /// input.
    fn read_line(&mut self) -> bool {
        self.line.start = self.input.offset();
        self.line.spans = false;
        self.byte_order_mark();
        let mut first = self.space(false);
        if self.options.event_stream && matches!(first, Some(b'd' | b'e' | b'i' | b'r' | b':' | b'\n')) {
            if self.starts_with(b"data:") {
                self.input.advance(5);
                first = self.space(false);
            }
            let other_fields: [&[u8]; 5] = [b"event:", b"id:", b"retry:", b":", b"\n"];
            if other_fields.into_iter().any(|field| self.starts_with(field)) {
                self.skip_line();
                return true;
            }
        }
        let start = self.input.offset();
        match first {
            Some(b'\n') => {
                self.report_blank_line();
                self.newline();
                return true;
            }
            None if self.input.invalid_byte().is_none() => {
                if start > self.line.start {
                    self.report_blank_line();
                }
                return false;
            }
            _ => {}
        }
        self.line.record = start;
        self.input.pin(Slot::Record);
        self.summary.records += 1;
        self.sink.begin_record(self.line.number, start);
        if first == Some(b'{') && self.read_clean_record() {
            return true;
        }
        let whole = self.read_record(first).is_ok();
        self.sink.end_record(self.input.offset(), whole);
        if whole {
            self.summary.complete += 1;
        } else if !self.sink.is_done() {
            self.recover();
        }
        true
    }

    /// Reads the next record to the tape of the sink. Returns false if the sink has no tape, or the record may have a
    /// problem; the caller then reads the record as events.
    fn read_clean_record(&mut self) -> bool {
        let Some(tape) = self.sink.tape() else { return false };
        let Some(length) = self.input.line_at_hand() else { return false };
        if self.input.noncharacter_within(length)
            || !tape.read_clean(self.input.text_at_hand(), length, self.options.max_depth)
        {
            return false;
        }
        self.input.advance(length);
        self.newline();
        self.summary.complete += 1;
        self.sink.end_record(self.input.offset(), true);
        true
    }

    fn report_blank_line(&mut self) {
        self.report(ProblemKind::BlankLine, self.input.offset(), Scope::Root, |_| {
            "expected a record, found a blank line".into()
        });
    }

    /// Reads a record and the newline after it; reports a record that is not an object. `first` is the first byte of
    /// the record.
    fn read_record(&mut self, first: Option<u8>) -> Step {
        self.value()?;
        match self.space(false) {
            Some(b'\n') => self.newline(),
            Some(_) => return Err(self.unexpected(Expected::End)),
            None if self.input.invalid_byte().is_some() => return Err(self.ended(Expected::End)),
            None => {
                self.report(ProblemKind::NoFinalNewline, self.input.offset(), Scope::Root, |_| {
                    "expected a newline after the last record".into()
                });
            }
        }
        if first != Some(b'{') && !self.line.spans {
            self.report(ProblemKind::NotObject, self.line.record, Scope::Root, |_| {
                let found = match first {
                    Some(b'[') => JsonType::Array,
                    Some(b'"') => JsonType::String,
                    Some(b't' | b'f') => JsonType::Boolean,
                    Some(b'n') => JsonType::Null,
                    _ => JsonType::Number,
                };
                format!("expected an object, found {}", found.with_article())
            });
        }
        Ok(())
    }

    /// Handles a newline inside a value. If the value continues on the next line, reports the record as pretty-printed
    /// (several lines); otherwise reports the line as torn (incomplete).
    pub(super) fn line_ends(&mut self, expected: Expected) -> Step {
        let at = self.pin();
        // The first line of pretty-printed JSON has brackets only; a torn line has more.
        let brackets_only =
            matches!(expected, Expected::ElementOrEnd | Expected::KeyOrEnd) && self.path.only_opened();
        let continues = self.space(true).is_some_and(|byte| {
            let is_new_record = byte == b'{' && self.input.offset() == self.line.start;
            expected.admits(byte) && (brackets_only || !is_new_record)
        });
        if !continues {
            self.line.resume = true;
            return Err(self.torn(at, expected));
        }
        self.line.spans = true;
        self.report(ProblemKind::MultiLine, self.line.record, Scope::Root, |_| {
            "expected the record on one line, found that it continues on the next line".into()
        });
        Ok(())
    }

    /// Skips from a structural problem to the place where the next record may begin.
    fn recover(&mut self) {
        self.path.clear();
        if std::mem::take(&mut self.line.resume) {
            return;
        }
        let spans = self.line.spans;
        if !(spans && self.input.offset() == self.line.start) {
            self.skip_line();
        }
        if spans {
            self.skip_record();
        }
    }

    /// Skips the rest of a record on several lines, to the end of its last line or to the next record.
    fn skip_record(&mut self) {
        loop {
            let first = self.input.peek();
            if first == Some(b'{') || !self.skip_line() || matches!(first, Some(b'}' | b']')) {
                return;
            }
        }
    }

    /// Skips to the next line; returns false if there is none.
    fn skip_line(&mut self) -> bool {
        let found = self.input.skip_line();
        self.line.number += u64::from(found);
        found
    }
}
