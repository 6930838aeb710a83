//! Reading a run's streams as lines, words or a value, where they are small enough.

use super::case::Seen;
use super::verdict::{Finding, Look};
use crate::report::{Evidence, OutputFormat, Stream};
use serde_json::Value;
use std::io::Read;
use strict_json::Position;

/// Streams longer than this are judged by their scan alone.
const SMALL: u64 = 8 << 20;

impl Seen<'_> {
    /// A stream's lines, invalid UTF-8 replaced; none when it is too long to be held.
    pub fn lines(&self, stream: Stream) -> Option<Vec<String>> {
        let bytes = self.bytes(stream);
        if bytes.len() > SMALL {
            return None;
        }
        let mut text = Vec::new();
        bytes.reader().read_to_end(&mut text).ok()?;
        Some(String::from_utf8_lossy(&text).lines().map(str::to_owned).collect())
    }

    /// A stream's lines with all that may change from run to run (words with a digit in them) made the
    /// same; none when it is too long to be held.
    pub fn words(&self, stream: Stream) -> Option<Vec<String>> {
        let steady = |word: &str| {
            if word.bytes().any(|byte| byte.is_ascii_digit()) { "#".into() } else { word.to_owned() }
        };
        let lines = self.lines(stream)?;
        Some(
            lines
                .iter()
                .map(|line| line.split_whitespace().map(steady).collect::<Vec<_>>().join(" "))
                .collect(),
        )
    }

    /// A stream as one JSON value; none when it is none, or too long to be held.
    pub fn value(&self, stream: Stream) -> Option<Value> {
        let bytes = self.bytes(stream);
        if bytes.len() > SMALL || self.document(stream).structural().is_some() {
            return None;
        }
        strict_json::read_value(bytes.reader(), &strict_json::Options::default(), SMALL).ok()?.value
    }

    /// Evidence at the start of a line, counted from 0.
    pub fn at_line(&self, stream: Stream, line: usize, detail: impl Into<String>) -> Evidence {
        let mut offset = 0;
        if let Some(lines) = self.raw_line_starts(stream) {
            offset = lines.get(line).copied().unwrap_or_else(|| self.bytes(stream).len());
        }
        self.at(stream, Position { offset, line: line as u64 + 1, column: 1 }, detail)
    }

    fn raw_line_starts(&self, stream: Stream) -> Option<Vec<u64>> {
        let mut text = Vec::new();
        self.bytes(stream).reader().read_to_end(&mut text).ok()?;
        let newlines = memchr::memchr_iter(b'\n', &text).map(|at| at as u64 + 1);
        Some(std::iter::once(0).chain(newlines).collect())
    }

    /// A broken look at the start of a stream.
    pub fn broken_at_start(&self, stream: Stream, detail: impl Into<String>) -> Look {
        Look::Broken(Finding::new(self.start_of(stream, detail)))
    }

    /// A broken look at the value that a JSON pointer names in standard output.
    pub fn broken_at_pointer(&self, pointer: &str, detail: impl Into<String>) -> Look {
        let at = self.place_of(pointer).unwrap_or(Position::START);
        self.broken_at(Stream::Stdout, at, detail)
    }

    /// Where the value that a JSON pointer names stands in the document on standard output.
    pub fn place_of(&self, pointer: &str) -> Option<Position> {
        let bytes = self.bytes(Stream::Stdout);
        let span = strict_json::find_span(bytes.reader(), pointer).ok()??;
        strict_json::locate(bytes.reader(), span.start).ok()
    }

    /// Why a check that needs parsed data can't use this run, and which check says so.
    pub fn not_data(&self) -> String {
        let check = match self.format() {
            OutputFormat::Jsonl => "p2-output-jsonl",
            OutputFormat::Json | OutputFormat::Text => "p2-output-json",
        };
        let check = if self.scan().control().is_some() { "p2-output-pure" } else { check };
        format!("stdout of {} could not be parsed: see {check}", self.label())
    }
}
