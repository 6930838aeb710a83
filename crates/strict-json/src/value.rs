//! Builds `serde_json` values within a memory budget.

use std::io::{self, Read};

use serde_json::{Map, Number, Value};

use super::{Event, JsonType, ReadOptions, ReadSummary, Sink, read_document, read_lines};

/// The result of [`read_value`]: the value of a document, and the problems in the document.
#[derive(Debug, Clone)]
pub struct Document {
    /// The value of the document. `None` after a structural problem, such as a syntax error, or if the document is
    /// longer than `max_bytes` of [`read_value`]. NaN, infinities and numbers that overflow become null. Keys are cut
    /// at 16 KiB. Of members with the same key, the last one counts.
    pub value: Option<Value>,
    /// True if the document is longer than `max_bytes` of [`read_value`]; it then has no value.
    pub too_large: bool,
    /// The problems that the reader found, and counts of records, bytes and problems.
    pub summary: ReadSummary,
}

/// A complete record of JSON Lines.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// Number of the line where the record begins, from 1.
    pub line: u64,
    /// Byte offset of the record in the input.
    pub offset: u64,
    /// The value of the record, converted as in [`Document::value`]. `None` if the record is longer than `max_bytes` of
    /// [`read_records`].
    pub value: Option<Value>,
}

/// Maximum nesting depth of a value. Dropping, comparing and printing a `serde_json` value recurse, so deeper values
/// could overflow the stack.
const MAX_DEPTH: usize = 512;

/// Reads exactly one document like [`read_document`], and builds its value if the document has at most `max_bytes`
/// bytes. A larger document is still read to its end. Values may nest at most 512 deep, even if the options allow more.
pub fn read_value(reader: impl Read, options: &ReadOptions, max_bytes: u64) -> io::Result<Document> {
    let mut builder = Builder { max_bytes, ..Builder::default() };
    let summary = read_document(reader, &limit_depth(options), &mut builder)?;
    let value = builder.root.filter(|_| summary.complete > 0);
    Ok(Document { value, too_large: builder.too_large, summary })
}

/// Reads JSON Lines like [`read_lines`], and calls `on_record` for each complete record, with its value if the record
/// has at most `max_bytes` bytes.
pub fn read_records(
    reader: impl Read,
    options: &ReadOptions,
    max_bytes: u64,
    on_record: impl FnMut(Record),
) -> io::Result<ReadSummary> {
    let builder = Builder { max_bytes, ..Builder::default() };
    read_lines(reader, &limit_depth(options), &mut RecordSink { builder, line: 0, on_record })
}

fn limit_depth(options: &ReadOptions) -> ReadOptions {
    ReadOptions { max_depth: options.max_depth.min(MAX_DEPTH), ..*options }
}

struct RecordSink<F> {
    builder: Builder,
    line: u64,
    on_record: F,
}

impl<F: FnMut(Record)> Sink for RecordSink<F> {
    fn begin_record(&mut self, line: u64, offset: u64) {
        self.line = line;
        self.builder = Builder::new(offset, self.builder.max_bytes);
    }

    fn end_record(&mut self, _offset: u64, whole: bool) {
        let value = self.builder.take();
        if whole {
            (self.on_record)(Record { line: self.line, offset: self.builder.start, value });
        }
    }

    #[inline(always)]
    fn event(&mut self, event: Event<'_>) {
        self.builder.event(event);
    }
}

/// A container whose end has not been read: an object with the key of its next member, or an array.
#[derive(Debug)]
enum OpenContainer {
    Object(Map<String, Value>, String),
    Array(Vec<Value>),
}

/// Builds a `serde_json` value from the events of a reader. Use it as the [`Sink`] of a reader, or pass it the events
/// that another sink receives.
#[derive(Debug, Default)]
pub struct Builder {
    max_bytes: u64,
    start: u64,
    open: Vec<OpenContainer>,
    /// The text so far of a long string, which arrives in parts ([`Event::StringPart`]).
    parts: String,
    root: Option<Value>,
    too_large: bool,
}

impl Builder {
    /// Creates a builder for the value that begins at byte offset `start`. It builds no value of more than `max_bytes`
    /// bytes.
    pub fn new(start: u64, max_bytes: u64) -> Self {
        Self { max_bytes, start, ..Self::default() }
    }

    /// Removes the complete value from the builder and returns it. `None` if the value is not complete or has more than
    /// `max_bytes` bytes.
    pub fn take(&mut self) -> Option<Value> {
        self.root.take()
    }

    /// Returns whether the value has at most `max_bytes` bytes up to offset `end`. If it has more, discards it and
    /// frees its memory.
    fn within_budget(&mut self, end: u64) -> bool {
        if end - self.start > self.max_bytes && !self.too_large {
            *self = Self { max_bytes: self.max_bytes, start: self.start, too_large: true, ..Self::default() };
        }
        !self.too_large
    }

    fn push_value(&mut self, end: u64, value: Value) {
        if !self.within_budget(end) {
            return;
        }
        match self.open.last_mut() {
            None => self.root = Some(value),
            Some(OpenContainer::Array(elements)) => elements.push(value),
            Some(OpenContainer::Object(members, key)) => {
                members.insert(std::mem::take(key), value);
            }
        }
    }

    fn close(&mut self, end: u64) {
        let value = match self.open.pop() {
            Some(OpenContainer::Object(members, _)) => Value::Object(members),
            Some(OpenContainer::Array(elements)) => Value::Array(elements),
            None => return,
        };
        self.push_value(end, value);
    }
}

impl Sink for Builder {
    #[inline(always)]
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Begin(container, start) => {
                if self.within_budget(start + 1) {
                    self.open.push(match container {
                        JsonType::Object => OpenContainer::Object(Map::new(), String::new()),
                        _ => OpenContainer::Array(Vec::new()),
                    });
                }
            }
            Event::End(end) => self.close(end),
            Event::Key(span, text) => {
                if self.within_budget(span.end)
                    && let Some(OpenContainer::Object(_, key)) = self.open.last_mut()
                {
                    text.clone_into(key);
                }
            }
            Event::String(span, text) => {
                if self.within_budget(span.end) {
                    let mut string = std::mem::take(&mut self.parts);
                    string.push_str(text);
                    self.push_value(span.end, Value::String(string));
                }
            }
            Event::StringPart(start, text) => {
                if self.within_budget(start + (self.parts.len() + text.len()) as u64) {
                    self.parts.push_str(text);
                }
            }
            Event::Number(span, text) => {
                let complete = span.end - span.start == text.len() as u64;
                let number = complete.then(|| text.parse::<Number>().ok()).flatten();
                self.push_value(span.end, number.map_or(Value::Null, Value::Number));
            }
            Event::Boolean(span, value) => self.push_value(span.end, Value::Bool(value)),
            Event::Null(span) => self.push_value(span.end, Value::Null),
        }
    }
}
