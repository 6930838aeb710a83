//! Building `serde_json` values from what is read.

use std::io::{self, Read};

use serde_json::{Map, Number, Value};

use super::{Event, JsonType, ReadOptions, Sink, Summary, read_document, read_lines};

/// One document as a value.
#[derive(Debug, Clone)]
pub struct Document {
    /// The value; none when a structural problem was met or the budget did not suffice. NaN, infinities
    /// and numbers that overflow are null in it, keys are cut at 16 KiB, and of members with the same key the last
    /// one counts.
    pub value: Option<Value>,
    /// The document is larger than the budget.
    pub too_large: bool,
    /// All about its problems.
    pub summary: Summary,
}

/// One record of JSON lines that was read to its end.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// Its line, from 1.
    pub line: u64,
    /// Offset of its first byte.
    pub offset: u64,
    /// Its value, as in [`Document::value`]; none when it is larger than the budget.
    pub value: Option<Value>,
}

/// A value this deep can still be dropped, compared and printed with recursion.
const MAX_DEPTH: usize = 512;

/// Reads exactly one document as [`read_document`] does and builds its value if it has at most
/// `max_bytes` bytes. A larger one is read to its end all the same. Values nest at most 512 deep,
/// whatever the options say.
pub fn read_value(reader: impl Read, options: &ReadOptions, max_bytes: u64) -> io::Result<Document> {
    let mut builder = Builder { max_bytes, ..Builder::default() };
    let summary = read_document(reader, &shallow(options), &mut builder)?;
    let value = builder.root.filter(|_| summary.whole > 0);
    Ok(Document { value, too_large: builder.too_large, summary })
}

/// Reads JSON lines as [`read_lines`] does and gives each whole record to `take`, with its value if
/// the record has at most `max_bytes` bytes.
pub fn read_records(
    reader: impl Read,
    options: &ReadOptions,
    max_bytes: u64,
    take: impl FnMut(Record),
) -> io::Result<Summary> {
    let builder = Builder { max_bytes, ..Builder::default() };
    read_lines(reader, &shallow(options), &mut Records { builder, line: 0, take })
}

fn shallow(options: &ReadOptions) -> ReadOptions {
    ReadOptions { max_depth: options.max_depth.min(MAX_DEPTH), ..*options }
}

struct Records<F> {
    builder: Builder,
    line: u64,
    take: F,
}

impl<F: FnMut(Record)> Sink for Records<F> {
    fn begin_record(&mut self, line: u64, offset: u64) {
        self.line = line;
        self.builder = Builder::new(offset, self.builder.max_bytes);
    }

    fn end_record(&mut self, _offset: u64, whole: bool) {
        let value = self.builder.take();
        if whole {
            (self.take)(Record { line: self.line, offset: self.builder.start, value });
        }
    }

    #[inline(always)]
    fn event(&mut self, event: Event<'_>) {
        self.builder.event(event);
    }
}

/// An object with the key of the member that comes next, or an array.
#[derive(Debug)]
enum Open {
    Object(Map<String, Value>, String),
    Array(Vec<Value>),
}

/// Builds the value of the events that it is given, as a [`Sink`] or on behalf of one.
#[derive(Debug, Default)]
pub struct Builder {
    max_bytes: u64,
    start: u64,
    open: Vec<Open>,
    /// The parts of a long string.
    parts: String,
    root: Option<Value>,
    too_large: bool,
}

impl Builder {
    /// A builder of the value that begins at `start`, with a budget as in [`read_value`].
    pub fn new(start: u64, max_bytes: u64) -> Self {
        Self { max_bytes, start, ..Self::default() }
    }

    /// The value, once all of it was given; none when it was larger than the budget.
    pub fn take(&mut self) -> Option<Value> {
        self.root.take()
    }

    /// Whether the budget suffices up to this offset; gives all memory back when not.
    fn within(&mut self, end: u64) -> bool {
        if end - self.start > self.max_bytes && !self.too_large {
            *self = Self { max_bytes: self.max_bytes, start: self.start, too_large: true, ..Self::default() };
        }
        !self.too_large
    }

    fn add(&mut self, end: u64, value: Value) {
        if !self.within(end) {
            return;
        }
        match self.open.last_mut() {
            None => self.root = Some(value),
            Some(Open::Array(elements)) => elements.push(value),
            Some(Open::Object(members, key)) => {
                members.insert(std::mem::take(key), value);
            }
        }
    }

    fn close(&mut self, end: u64) {
        let value = match self.open.pop() {
            Some(Open::Object(members, _)) => Value::Object(members),
            Some(Open::Array(elements)) => Value::Array(elements),
            None => return,
        };
        self.add(end, value);
    }
}

impl Sink for Builder {
    #[inline(always)]
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Begin(container, start) => {
                if self.within(start + 1) {
                    self.open.push(match container {
                        JsonType::Object => Open::Object(Map::new(), String::new()),
                        _ => Open::Array(Vec::new()),
                    });
                }
            }
            Event::End(end) => self.close(end),
            Event::Key(span, text) => {
                if self.within(span.end)
                    && let Some(Open::Object(_, key)) = self.open.last_mut()
                {
                    text.clone_into(key);
                }
            }
            Event::String(span, text) => {
                if self.within(span.end) {
                    let mut all = std::mem::take(&mut self.parts);
                    all.push_str(text);
                    self.add(span.end, Value::String(all));
                }
            }
            Event::StringPart(start, text) => {
                if self.within(start + (self.parts.len() + text.len()) as u64) {
                    self.parts.push_str(text);
                }
            }
            Event::Number(span, text) => {
                let complete = span.end - span.start == text.len() as u64;
                let number = complete.then(|| text.parse::<Number>().ok()).flatten();
                self.add(span.end, number.map_or(Value::Null, Value::Number));
            }
            Event::Boolean(span, value) => self.add(span.end, Value::Bool(value)),
            Event::Null(span) => self.add(span.end, Value::Null),
        }
    }
}
