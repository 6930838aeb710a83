//! JSON values in two flat buffers, which are filled by the strict reader and reused for the next record.
//!
//! To build a tree of allocated values costs more than to validate it.

mod cell;
mod clean;
mod events;
mod key;
mod key_map;
mod open;

pub use key::TapeKey;
pub use key_map::KeyMap;

use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Number, Value};

use cell::{Cell, OpenContainer};
use key::{fingerprint, tag};

use super::JsonType;

/// A JSON value in flat buffers.
#[derive(Debug, Default)]
pub struct Tape {
    cells: Vec<Cell>,
    text: String,
    /// Indices of the open containers, while events are written.
    open: Vec<usize>,
    /// The open containers, while the clean reader reads a record.
    levels: Vec<OpenContainer>,
    /// Fingerprints of the keys of `levels`, concatenated.
    key_fingerprints: Vec<u64>,
    /// Offset of the record in the bytes that are read.
    start: u64,
    /// Offset of the record in the input.
    origin: u64,
    /// Offset of the root in the input.
    root_offset: u64,
    /// Start in `text` of a long string that is not complete.
    partial_start: Option<usize>,
    /// Truncated strings: index of the cell, and number of omitted characters.
    truncated: Vec<(usize, u64)>,
    /// Number of omitted characters of the string that is not complete.
    omitted: u64,
    /// True after [`TapeNode::as_str`] on a truncated string.
    truncated_was_read: AtomicBool,
    /// True if the value does not fit into 32-bit indices; the tape is then incomplete.
    overflow: bool,
}

/// Maximum number of bytes of a string on the tape; longer strings are truncated.
const MAX_TEXT: usize = 1 << 20;

/// A value or key on a tape.
#[derive(Debug, Clone, Copy)]
pub struct TapeNode<'a> {
    tape: &'a Tape,
    index: usize,
}

/// The kind of a value, with the value of a scalar.
#[derive(Debug, Clone)]
pub enum JsonKind<'a> {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number.
    Number(Number),
    /// A string, truncated at 1 MiB.
    Text(&'a str),
    /// An array.
    Array,
    /// An object.
    Object,
}

impl Tape {
    /// Removes the value. The next value begins at offset `start` in the bytes that are read, and at `origin` in the
    /// input.
    pub fn clear(&mut self, start: u64, origin: u64) {
        self.cells.clear();
        self.text.clear();
        self.open.clear();
        (self.start, self.origin) = (start, origin);
        (self.partial_start, self.overflow, self.omitted) = (None, false, 0);
        self.truncated.clear();
        *self.truncated_was_read.get_mut() = false;
        // Do not keep the memory of one huge record.
        self.cells.shrink_to(1 << 20);
        self.text.shrink_to(8 << 20);
    }

    /// Returns the value, if the tape has a complete one.
    pub fn root(&self) -> Option<TapeNode<'_>> {
        (!self.cells.is_empty() && !self.overflow).then_some(TapeNode { tape: self, index: 0 })
    }

    /// Returns the last element of the root, while the root is an open array.
    pub fn last_element(&self) -> Option<TapeNode<'_>> {
        (self.cells.len() > 1).then_some(TapeNode { tape: self, index: 1 })
    }

    /// Removes the elements of the root, which remain counted. The next element begins after offset `end`.
    pub fn clear_elements(&mut self, end: u64) {
        self.cells.truncate(1);
        self.text.clear();
        self.truncated.clear();
        self.origin += end - self.start;
        self.start = end;
    }

    /// Returns whether a result may be wrong because a string was truncated or the value too large, and resets this.
    pub fn take_inconclusive(&mut self) -> bool {
        std::mem::take(self.truncated_was_read.get_mut()) || self.overflow
    }

    /// Whether the root is an open array and its last element is complete.
    pub fn is_element_complete(&self) -> bool {
        self.open.len() == 1 && self.root().is_some_and(|root| root.has_type(JsonType::Array))
    }

    /// Replaces the value on the tape.
    pub fn fill(&mut self, value: &Value) {
        self.clear(0, 0);
        self.push_value(value);
    }

    /// Replaces the value on the tape by a string.
    pub fn fill_string(&mut self, string: &str) {
        self.clear(0, 0);
        self.push_text(Some(JsonType::String), 0, string);
    }

    fn push_value(&mut self, value: &Value) {
        match value {
            Value::Null => self.push(Some(JsonType::Null), 0, 0, 0),
            Value::Bool(value) => self.push(Some(JsonType::Boolean), 0, usize::from(*value), 0),
            Value::Number(number) => self.push_complete_text(Some(JsonType::Number), &number.to_string()),
            Value::String(text) => self.push_complete_text(Some(JsonType::String), text),
            Value::Array(elements) => {
                self.open(JsonType::Array, 0);
                elements.iter().for_each(|element| self.push_value(element));
                self.close();
            }
            Value::Object(members) => {
                self.open(JsonType::Object, 0);
                for (key, value) in members {
                    self.push_complete_text(None, key);
                    self.push_value(value);
                }
                self.close();
            }
        }
    }

    /// Pushes a text without truncation.
    fn push_complete_text(&mut self, json_type: Option<JsonType>, text: &str) {
        let from = self.text.len();
        self.text.push_str(text);
        self.push(json_type, 0, from, text.len());
    }

    #[inline]
    fn push(&mut self, json_type: Option<JsonType>, start: u64, start_or_count: usize, length_or_end: usize) {
        self.overflow |= self.text.len().max(self.cells.len() + 1) >= u32::MAX as usize;
        if self.overflow {
            // The value is incomplete and no longer accessible.
            self.cells.truncate(1);
            self.text.clear();
            return;
        }
        let (offset_or_next, tag) = if json_type.is_none() {
            (self.cells.len() as u32 + 2, tag(fingerprint(&self.text.as_bytes()[start_or_count..])))
        } else {
            match self.open.last().and_then(|container| self.cells.get_mut(*container)) {
                Some(container) => container.start_or_count = container.start_or_count.saturating_add(1),
                None => self.root_offset = self.origin + (start - self.start),
            }
            (u32::try_from(start.saturating_sub(self.start)).unwrap_or(u32::MAX), 0)
        };
        self.cells.push(Cell {
            json_type,
            tag,
            offset_or_next,
            start_or_count: start_or_count as u32,
            length_or_end: length_or_end as u32,
        });
    }

    fn push_text(&mut self, json_type: Option<JsonType>, start: u64, text: &str) {
        let from = self.partial_start.take().unwrap_or(self.text.len());
        self.append(from, text);
        if self.omitted > 0 {
            self.truncated.push((self.cells.len(), std::mem::take(&mut self.omitted)));
        }
        self.push(json_type, start, from, self.text.len() - from);
    }

    /// Appends to the string that starts at `from`, up to the maximum length.
    #[inline]
    fn append(&mut self, from: usize, text: &str) {
        if self.omitted == 0 && self.text.len() - from + text.len() <= MAX_TEXT {
            self.text.push_str(text);
        } else {
            self.append_truncated(from, text);
        }
    }

    #[cold]
    fn append_truncated(&mut self, from: usize, text: &str) {
        let room = if self.omitted > 0 { 0 } else { MAX_TEXT.saturating_sub(self.text.len() - from) };
        let kept = text.floor_char_boundary(room);
        self.text.push_str(&text[..kept]);
        self.omitted += text[kept..].chars().count() as u64;
    }

    fn close(&mut self) {
        let end = self.cells.len();
        if let Some(container) = self.open.pop().filter(|_| !self.overflow) {
            let end = u32::try_from(end).unwrap_or(u32::MAX);
            self.cells[container].length_or_end = end;
            if let Some(key) = container.checked_sub(1).filter(|key| self.cells[*key].json_type.is_none()) {
                self.cells[key].offset_or_next = end;
            }
        }
    }

    fn open(&mut self, container: JsonType, start: u64) {
        self.push(Some(container), start, 0, 0);
        self.open.push(self.cells.len().saturating_sub(1));
    }
}

impl<'a> TapeNode<'a> {
    fn cell(self) -> Cell {
        self.tape.cells[self.index]
    }

    /// Whether the node is a value of this type.
    pub fn has_type(self, json_type: JsonType) -> bool {
        self.cell().json_type == Some(json_type)
    }

    /// Whether the node is a key.
    pub fn is_key(self) -> bool {
        self.cell().json_type.is_none()
    }

    /// Returns the type of the value; a key is a string.
    pub fn json_type(self) -> JsonType {
        self.cell().json_type.unwrap_or(JsonType::String)
    }

    /// Returns the number of elements or members of a container.
    pub fn count(self) -> usize {
        self.cell().start_or_count as usize
    }

    /// Returns its offset in the input.
    pub fn offset(self) -> u64 {
        if self.index == 0 {
            self.tape.root_offset
        } else {
            self.tape.origin + u64::from(self.cell().offset_or_next)
        }
    }

    /// Returns the index after the node and its content; for a key, after its value.
    fn end(self) -> usize {
        let cell = self.cell();
        match cell.json_type {
            Some(JsonType::Array | JsonType::Object) => cell.length_or_end as usize,
            Some(_) => self.index + 1,
            None => cell.offset_or_next as usize,
        }
    }

    /// Returns the text of a string or key (truncated at 1 MiB) or of a number as it is written; otherwise `""`.
    #[inline]
    pub fn text(self) -> &'a str {
        let cell = self.cell();
        match cell.json_type {
            None | Some(JsonType::String | JsonType::Number) => {
                let (start, length) = (cell.start_or_count as usize, cell.length_or_end as usize);
                &self.tape.text[start..start + length]
            }
            Some(_) => "",
        }
    }

    /// Returns the text if the node is a string. If the string is truncated, [`Tape::take_inconclusive`] then returns true.
    pub fn as_str(self) -> Option<&'a str> {
        if self.omitted_chars() > 0 {
            self.tape.truncated_was_read.store(true, Ordering::Relaxed);
        }
        self.has_type(JsonType::String).then(|| self.text())
    }

    /// Returns the value if the node is a boolean.
    pub fn as_bool(self) -> Option<bool> {
        self.has_type(JsonType::Boolean).then(|| self.cell().start_or_count == 1)
    }

    /// Returns the number of cells of the node with its content.
    pub fn cell_count(self) -> usize {
        self.end() - self.index
    }

    /// Returns the index of the node on the tape.
    pub fn index(self) -> usize {
        self.index
    }

    /// Returns the node with this index on the same tape, if there is one.
    pub fn at(self, index: usize) -> Option<Self> {
        (index < self.tape.cells.len()).then_some(Self { index, ..self })
    }

    /// Returns a number that is unique to this node while the tape is unchanged.
    pub fn identity(self) -> usize {
        std::ptr::from_ref(&self.tape.cells[self.index]).addr()
    }

    /// Returns the number of characters of a string that are omitted from its text.
    pub fn omitted_chars(self) -> u64 {
        let found = self.tape.truncated.iter().find(|(index, _)| *index == self.index);
        found.map_or(0, |(_, omitted)| *omitted)
    }

    /// Returns the value of a number. Values outside of its range (1e400, NaN) become the largest finite number.
    pub fn number(self) -> Number {
        let written = self.text();
        if let Ok(natural) = written.parse::<u64>() {
            return natural.into();
        }
        let parsed = written.parse::<Number>().ok();
        let sign = if written.starts_with('-') { -1.0 } else { 1.0 };
        parsed.or_else(|| Number::from_f64(sign * f64::MAX)).unwrap_or_else(|| 0.into())
    }

    /// Returns the kind of the value; a key is a text.
    pub fn kind(self) -> JsonKind<'a> {
        match self.json_type() {
            JsonType::Null => JsonKind::Null,
            JsonType::Boolean => JsonKind::Bool(self.cell().start_or_count == 1),
            JsonType::Number => JsonKind::Number(self.number()),
            JsonType::String => JsonKind::Text(self.text()),
            JsonType::Array => JsonKind::Array,
            JsonType::Object => JsonKind::Object,
        }
    }

    /// Returns the member of an object with this key, or the element of an array with this index (digits without a
    /// leading zero).
    #[inline]
    pub fn get(self, token: &TapeKey) -> Option<Self> {
        if self.has_type(JsonType::Object) { self.member(token) } else { self.element(token.text()) }
    }

    fn element(self, token: &str) -> Option<Self> {
        let index =
            token.bytes().all(|byte| byte.is_ascii_digit()) && (token == "0" || !token.starts_with('0'));
        self.elements().nth(token.parse().ok().filter(|_| index)?)
    }

    /// Returns the value of a key of an object.
    #[inline]
    pub fn member(self, key: &TapeKey) -> Option<Self> {
        let matches = |found: &Self| {
            let (tag, text) = found.key();
            key.matches(tag, text)
        };
        self.keys().find(matches).map(Self::value)
    }

    /// Whether the node is this key.
    #[inline]
    pub fn is_named(self, key: &TapeKey) -> bool {
        let (tag, text) = self.key();
        self.is_key() && key.matches(tag, text)
    }

    /// Returns the tag and text of a key.
    #[inline]
    fn key(self) -> (u16, &'a [u8]) {
        let cell = self.cell();
        let (start, length) = (cell.start_or_count as usize, cell.length_or_end as usize);
        (cell.tag, &self.tape.text.as_bytes()[start..start + length])
    }

    /// Returns the value of a key.
    #[inline]
    pub fn value(self) -> Self {
        Self { index: self.index + 1, ..self }
    }

    /// Returns the keys of an object; none for other types.
    #[inline]
    pub fn keys(self) -> Elements<'a> {
        self.cells_of(JsonType::Object)
    }

    /// Converts the value to a `serde_json` value.
    pub fn to_value(self) -> Value {
        match self.kind() {
            JsonKind::Null => Value::Null,
            JsonKind::Bool(value) => Value::Bool(value),
            JsonKind::Number(number) => Value::Number(number),
            JsonKind::Text(text) => Value::String(text.to_owned()),
            JsonKind::Array => Value::Array(self.elements().map(Self::to_value).collect()),
            JsonKind::Object => {
                Value::Object(self.members().map(|(key, value)| (key.to_owned(), value.to_value())).collect())
            }
        }
    }

    /// Returns the keys and values of an object; none for other types.
    pub fn members(self) -> Members<'a> {
        Members(self.keys())
    }

    /// Returns the elements of an array; none for other types.
    pub fn elements(self) -> Elements<'a> {
        self.cells_of(JsonType::Array)
    }

    fn cells_of(self, container: JsonType) -> Elements<'a> {
        let end = if self.has_type(container) { self.end() } else { 0 };
        Elements { tape: self.tape, next: self.index + 1, end }
    }
}

/// Iterator over the elements of an array or the keys of an object.
pub struct Elements<'a> {
    tape: &'a Tape,
    next: usize,
    end: usize,
}

impl<'a> Iterator for Elements<'a> {
    type Item = TapeNode<'a>;

    fn next(&mut self) -> Option<Self::Item> {
        let node = (self.next < self.end).then_some(TapeNode { tape: self.tape, index: self.next })?;
        self.next = node.end();
        Some(node)
    }
}

/// Iterator over the keys and values of an object.
pub struct Members<'a>(Elements<'a>);

impl<'a> Iterator for Members<'a> {
    type Item = (&'a str, TapeNode<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        let key = self.0.next()?;
        Some((key.text(), key.value()))
    }
}
