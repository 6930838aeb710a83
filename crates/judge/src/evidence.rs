//! Creates evidence that points to a place in the streams of a run, and failed assertions with such evidence.

use super::context::RunView;
use super::lines::{WINDOW, excerpt, quotation, reason_line};
use super::verdict::{Assertion, Finding};
use agentnative_core::model::{Evidence, Stream};
use std::io::{BufRead as _, BufReader};
use strict_json::Position;

impl RunView<'_> {
    pub fn evidence(&self, detail: impl Into<String>) -> Evidence {
        let key = &self.observation.key;
        Evidence {
            probe: Some(self.probe.name.clone()),
            format: Some(key.format),
            variant: Some(key.variant),
            nth: Some(key.nth),
            argv: self.observation.command_line(),
            detail: detail.into(),
            ..Evidence::default()
        }
    }

    /// Returns evidence that points to the position `at` in a stream, with an excerpt. If the stream is empty, the
    /// evidence names only the stream.
    pub fn evidence_at(&self, stream: Stream, at: Position, detail: impl Into<String>) -> Evidence {
        if self.bytes(stream).is_empty() {
            return Evidence { stream: Some(stream), ..self.evidence(detail) };
        }
        let (excerpt, caret) = excerpt(self.bytes(stream), at.offset);
        Evidence {
            stream: Some(stream),
            offset: Some(at.offset),
            line: Some(at.line),
            column: Some(at.column),
            excerpt: Some(excerpt),
            caret: Some(caret),
            ..self.evidence(detail)
        }
    }

    /// Returns the byte offset at which line number `line` (from 0) begins; the length of the stream if it has fewer
    /// lines.
    pub fn line_start(&self, stream: Stream, line: u64) -> u64 {
        let mut reader = BufReader::new(self.bytes(stream).reader());
        // An unreadable capture counts as empty; checks that need it report the error.
        let lengths = (0..line).map_while(|_| reader.skip_until(b'\n').ok().filter(|length| *length > 0));
        lengths.sum::<usize>() as u64
    }

    /// Returns the position on stdout of the value to which a JSON pointer refers; `None` if there is no such value.
    pub fn locate(&self, pointer: &str) -> Option<Position> {
        let bytes = self.bytes(Stream::Stdout);
        let span = strict_json::find_span(bytes.reader(), pointer).ok()??;
        strict_json::locate(bytes.reader(), span.start).ok()
    }

    /// Returns a failed assertion about the run as a whole, without a position. `kind` is one of the kinds of problems
    /// that the check declares, such as `not-json`. If a limit ended the run, the assertion is inconclusive instead.
    pub fn failed(&self, kind: &str, detail: impl Into<String>) -> Assertion {
        self.not_ended_by_limit()?;
        Err(Finding::new(kind, self.evidence(detail)).into())
    }

    pub fn failed_at(
        &self,
        kind: &str,
        stream: Stream,
        at: Position,
        detail: impl Into<String>,
    ) -> Assertion {
        self.not_ended_by_limit()?;
        Err(Finding::new(kind, self.evidence_at(stream, at, detail)).into())
    }

    /// Returns a failed assertion at the start of a stream, after leading white space.
    pub fn failed_at_start(&self, kind: &str, stream: Stream, detail: impl Into<String>) -> Assertion {
        let mut window = [0; WINDOW as usize];
        let n = self.bytes(stream).read_at(0, &mut window).unwrap_or(0);
        let blank = window[..n].iter().position(|byte| !byte.is_ascii_whitespace()).unwrap_or(0);
        let newlines = || memchr::memchr_iter(b'\n', &window[..blank]);
        let line_start = newlines().next_back().map_or(0, |newline| newline + 1);
        let at = Position {
            offset: blank as u64,
            line: newlines().count() as u64 + 1,
            column: (blank - line_start) as u64 + 1,
        };
        self.failed_at(kind, stream, at, detail)
    }

    /// Returns a failed assertion at the line that states why the run failed, such as `error: no such file`. The line
    /// is searched for in `stream`, or in the other stream if `stream` is empty. Without such a line, the assertion
    /// points to the start.
    pub fn failed_at_reason(&self, kind: &str, stream: Stream, detail: impl Into<String>) -> Assertion {
        let stream = self.used_stream(stream);
        match self.lines(stream).as_deref().and_then(reason_line) {
            Some(line) => self.failed_at_line(kind, stream, line, detail),
            None => self.failed_at_start(kind, stream, detail),
        }
    }

    /// Returns a quotation of the line that states why the run failed. Empty if there is no such line.
    pub fn quoted_reason(&self) -> String {
        let lines = self.lines(self.used_stream(Stream::Stderr)).unwrap_or_default();
        reason_line(&lines).map_or_else(String::new, |at| quotation(&lines[at]))
    }

    /// Returns `stream`, or the other stream if only that one has output.
    fn used_stream(&self, stream: Stream) -> Stream {
        let other = match stream {
            Stream::Stdout => Stream::Stderr,
            Stream::Stderr => Stream::Stdout,
        };
        if self.bytes(stream).is_empty() && !self.bytes(other).is_empty() { other } else { stream }
    }

    /// Returns a failed assertion at the start of line number `line` (from 0) of a stream.
    pub fn failed_at_line(
        &self,
        kind: &str,
        stream: Stream,
        line: usize,
        detail: impl Into<String>,
    ) -> Assertion {
        let offset = self.line_start(stream, line as u64);
        self.failed_at(kind, stream, Position { offset, line: line as u64 + 1, column: 1 }, detail)
    }

    /// Returns a failed assertion at the last line of stderr, or of stdout if stderr is empty.
    pub fn failed_at_last_line(&self, kind: &str, detail: impl Into<String>) -> Assertion {
        let stream = if self.bytes(Stream::Stderr).is_empty() { Stream::Stdout } else { Stream::Stderr };
        match self.lines(stream).map(|lines| lines.len()) {
            Some(lines) if lines > 0 => self.failed_at_line(kind, stream, lines - 1, detail),
            _ => self.failed(kind, detail),
        }
    }

    /// Returns a failed assertion at a byte offset in a stream.
    pub fn failed_at_offset(
        &self,
        kind: &str,
        stream: Stream,
        offset: u64,
        detail: impl Into<String>,
    ) -> Assertion {
        let at = strict_json::locate(self.bytes(stream).reader(), offset).unwrap_or(Position::START);
        self.failed_at(kind, stream, at, detail)
    }

    /// Returns a failed assertion at the value on stdout to which a JSON pointer refers, such as `/items/0/id`.
    pub fn failed_at_pointer(&self, kind: &str, pointer: &str, detail: impl Into<String>) -> Assertion {
        let at = self.locate(pointer).unwrap_or(Position::START);
        self.failed_at(kind, Stream::Stdout, at, detail)
    }
}
