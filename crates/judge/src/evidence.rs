//! Evidence that points into the streams of a run, and failed assertions with it.

use super::context::RunView;
use super::lines::{WINDOW, excerpt, reason_line};
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

    /// Returns evidence with a position in a stream; an empty stream has no position.
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

    /// Returns the offset of a line, counted from 0; the end of the stream if it has fewer lines.
    pub fn line_start(&self, stream: Stream, line: u64) -> u64 {
        let mut reader = BufReader::new(self.bytes(stream).reader());
        // An unreadable capture counts as empty; checks that need it report the error.
        let lengths = (0..line).map_while(|_| reader.skip_until(b'\n').ok().filter(|length| *length > 0));
        lengths.sum::<usize>() as u64
    }

    /// Returns the position of the value at a JSON pointer in the document on stdout.
    pub fn locate(&self, pointer: &str) -> Option<Position> {
        let bytes = self.bytes(Stream::Stdout);
        let span = strict_json::find_span(bytes.reader(), pointer).ok()??;
        strict_json::locate(bytes.reader(), span.start).ok()
    }

    /// Returns a failed assertion about the run as a whole. As in the other functions, `kind` is one that the check
    /// declares.
    pub fn failed(&self, kind: &str, detail: impl Into<String>) -> Assertion {
        self.undisturbed()?;
        Err(Finding::new(kind, self.evidence(detail)).into())
    }

    pub fn failed_at(
        &self,
        kind: &str,
        stream: Stream,
        at: Position,
        detail: impl Into<String>,
    ) -> Assertion {
        self.undisturbed()?;
        Err(Finding::new(kind, self.evidence_at(stream, at, detail)).into())
    }

    /// Returns a failed assertion at the first byte of a stream that is not white space.
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

    /// Returns a failed assertion at the line of a stream that states the reason of a failure, or at the start if there
    /// is none; in the other stream if this one is empty.
    pub fn failed_at_reason(&self, kind: &str, stream: Stream, detail: impl Into<String>) -> Assertion {
        let other = match stream {
            Stream::Stdout => Stream::Stderr,
            Stream::Stderr => Stream::Stdout,
        };
        let stream =
            if self.bytes(stream).is_empty() && !self.bytes(other).is_empty() { other } else { stream };
        match self.lines(stream).as_deref().and_then(reason_line) {
            Some(line) => self.failed_at_line(kind, stream, line, detail),
            None => self.failed_at_start(kind, stream, detail),
        }
    }

    /// Returns a failed assertion at the start of a line, counted from 0.
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

    /// Returns a failed assertion at a byte of a stream, counted from 0.
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

    /// Returns a failed assertion at the value at a JSON pointer in stdout.
    pub fn failed_at_pointer(&self, kind: &str, pointer: &str, detail: impl Into<String>) -> Assertion {
        let at = self.locate(pointer).unwrap_or(Position::START);
        self.failed_at(kind, Stream::Stdout, at, detail)
    }
}
