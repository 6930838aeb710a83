//! Builds `serde_json` values within a memory budget.

use std::io::{self, Read};

use serde_json::{Map, Number, Value};

use super::{Event, JsonType, ReadOptions, ReadSummary, Sink, read_document, read_lines};

/// A document with its value and its problems.
#[derive(Debug, Clone)]
pub struct Document {
    /// The value; `None` after a structural problem or if the document exceeds the budget. NaN, infinities and numbers
    /// that overflow become null, keys are cut at 16 KiB, and of members with the same key the last one counts.
    pub value: Option<Value>,
    /// True if the document exceeds the budget.
    pub too_large: bool,
    /// Problems and counts.
    pub summary: ReadSummary,
}

/// A record of JSON Lines that was read to its end.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// Line, from 1.
    pub line: u64,
    /// Offset of the first byte.
    pub offset: u64,
    /// The value, as in [`Document::value`]; `None` if the record exceeds the budget.
    pub value: Option<Value>,
}

/// Maximum depth at which a value can be dropped, compared and printed with recursion.
const MAX_DEPTH: usize = 512;

/// Reads exactly one document like [`read_document`], and builds its value if it has at most `max_bytes` bytes. A
/// larger document is still read to its end. Values may nest at most 512 deep, even if the options allow more.
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

/// An open object, with the key of its next member, or an open array.
#[derive(Debug)]
enum OpenContainer {
    Object(Map<String, Value>, String),
    Array(Vec<Value>),
}

/// Builds a value from events, as a [`Sink`] or as a part of one.
#[derive(Debug, Default)]
pub struct Builder {
    max_bytes: u64,
    start: u64,
    open: Vec<OpenContainer>,
    /// The parts of a long string.
    parts: String,
    root: Option<Value>,
    too_large: bool,
}

impl Builder {
    /// Creates a builder for the value at offset `start`, with a budget as in [`read_value`].
    pub fn new(start: u64, max_bytes: u64) -> Self {
        Self { max_bytes, start, ..Self::default() }
    }

    /// Takes the value, once it is complete; `None` if it exceeded the budget.
    pub fn take(&mut self) -> Option<Value> {
        self.root.take()
    }

    /// Whether the budget suffices up to this offset; frees all memory if not.
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
