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

/// A JSON value in two reusable buffers: cells for its structure, and the text of its keys, strings and numbers.
#[derive(Debug, Default)]
pub struct Tape {
    cells: Vec<Cell>,
    text: String,
    /// While events are written to the tape: the index in `cells` of each open container.
    open: Vec<usize>,
    /// While a record is read without events: its open containers.
    clean_open: Vec<OpenContainer>,
    /// Hashes of the keys of all `levels`, concatenated.
    key_fingerprints: Vec<u64>,
    /// Offset of the record in the bytes that are read, to which the offsets of events refer.
    start: u64,
    /// Offset of the record in the complete input, of which the bytes that are read may be a part.
    origin: u64,
    /// Offset of the root value in the complete input.
    root_offset: u64,
    /// Index in `text` of a long string of which only the first parts have arrived.
    partial_start: Option<usize>,
    /// For each truncated string: the index of its cell, and the number of omitted characters.
    truncated: Vec<(usize, u64)>,
    /// Number of characters that are omitted so far from the string that is being read.
    omitted: u64,
    /// True if [`TapeNode::as_str`] has returned the text of a truncated string.
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

/// The type of a JSON value, with the value itself if it is a boolean, number or string.
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
    /// Removes the value from the tape. The next value begins at offset `start` of the bytes that are read, and at
    /// offset `origin` of the complete input. The two differ if the input is read in chunks.
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

    /// Returns the value on the tape. `None` if the tape is empty, or if the value is too large for a tape.
    pub fn root(&self) -> Option<TapeNode<'_>> {
        (!self.cells.is_empty() && !self.overflow).then_some(TapeNode { tape: self, index: 0 })
    }

    /// Returns the last element of the root, while the root is an open array. Requires that earlier elements were
    /// removed with [`Tape::clear_elements`].
    pub fn last_element(&self) -> Option<TapeNode<'_>> {
        (self.cells.len() > 1).then_some(TapeNode { tape: self, index: 1 })
    }

    /// Removes the elements of the root array from the tape; [`TapeNode::count`] of the root still includes them. The
    /// next element begins after offset `end`.
    pub fn clear_elements(&mut self, end: u64) {
        self.cells.truncate(1);
        self.text.clear();
        self.truncated.clear();
        self.origin += end - self.start;
        self.start = end;
    }

    /// Returns whether a check of the value may have a wrong result, because it read a truncated string or the value
    /// was too large. Resets the mark for truncated strings.
    pub fn take_inconclusive(&mut self) -> bool {
        std::mem::take(self.truncated_was_read.get_mut()) || self.overflow
    }

    /// Returns whether the root is an open array whose last element is complete.
    pub fn is_element_complete(&self) -> bool {
        self.open.len() == 1 && self.root().is_some_and(|root| root.has_type(JsonType::Array))
    }

    /// Replaces the value on the tape by `value`.
    pub fn fill(&mut self, value: &Value) {
        self.clear(0, 0);
        self.push_value(value);
    }

    /// Replaces the value on the tape by the value `string`.
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

    /// Adds a string, number or key (type `None`) with its complete text, without truncation.
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

    /// Appends `text` to the string that starts at index `from` of the text buffer, up to the maximum length.
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

    /// Returns whether the node is a value of this type; false for a key.
    pub fn has_type(self, json_type: JsonType) -> bool {
        self.cell().json_type == Some(json_type)
    }

    /// Returns whether the node is a key of an object.
    pub fn is_key(self) -> bool {
        self.cell().json_type.is_none()
    }

    /// Returns the type of the value; for a key, [`JsonType::String`].
    pub fn json_type(self) -> JsonType {
        self.cell().json_type.unwrap_or(JsonType::String)
    }

    /// Returns the number of elements of an array or of members of an object. Only for these types.
    pub fn count(self) -> usize {
        self.cell().start_or_count as usize
    }

    /// Returns the byte offset of a value in the input. Only for values, not for keys.
    pub fn offset(self) -> u64 {
        if self.index == 0 {
            self.tape.root_offset
        } else {
            self.tape.origin + u64::from(self.cell().offset_or_next)
        }
    }

    /// Returns the index of the first cell after the node and its content. For a key: the first cell after its value.
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

    /// Returns the text if the node is a string. If this string is truncated, [`Tape::take_inconclusive`] returns true
    /// afterwards.
    pub fn as_str(self) -> Option<&'a str> {
        if self.omitted_chars() > 0 {
            self.tape.truncated_was_read.store(true, Ordering::Relaxed);
        }
        self.has_type(JsonType::String).then(|| self.text())
    }

    /// Returns the boolean if the node is one, or else `None`.
    pub fn as_bool(self) -> Option<bool> {
        self.has_type(JsonType::Boolean).then(|| self.cell().start_or_count == 1)
    }

    /// Returns the number of cells on the tape that the node takes, including its members or elements.
    pub fn cell_count(self) -> usize {
        self.end() - self.index
    }

    /// Returns the index of this node on the tape; see [`TapeNode::at`].
    pub fn index(self) -> usize {
        self.index
    }

    /// Returns the node with this index on the same tape; `None` if the tape is shorter.
    pub fn at(self, index: usize) -> Option<Self> {
        (index < self.tape.cells.len()).then_some(Self { index, ..self })
    }

    /// Returns a number that is unique to this node while the tape is unchanged.
    pub fn identity(self) -> usize {
        std::ptr::from_ref(&self.tape.cells[self.index]).addr()
    }

    /// Returns the number of characters by which a string is truncated; 0 if its text is complete.
    pub fn omitted_chars(self) -> u64 {
        let found = self.tape.truncated.iter().find(|(index, _)| *index == self.index);
        found.map_or(0, |(_, omitted)| *omitted)
    }

    /// Returns the value of a number. A number outside of the range of binary64 (1e400) or NaN becomes the largest
    /// finite number.
    pub fn number(self) -> Number {
        let written = self.text();
        if let Ok(natural) = written.parse::<u64>() {
            return natural.into();
        }
        let parsed = written.parse::<Number>().ok();
        let sign = if written.starts_with('-') { -1.0 } else { 1.0 };
        parsed.or_else(|| Number::from_f64(sign * f64::MAX)).unwrap_or_else(|| 0.into())
    }

    /// Returns the type of the value, with the value of a scalar. A key is a [`JsonKind::Text`].
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

    /// Looks up a token of a JSON pointer: returns the value of this key in an object, or the element of an array with
    /// this index (digits without a leading zero).
    #[inline]
    pub fn get(self, token: &TapeKey) -> Option<Self> {
        if self.has_type(JsonType::Object) { self.member(token) } else { self.element(token.text()) }
    }

    fn element(self, token: &str) -> Option<Self> {
        let index =
            token.bytes().all(|byte| byte.is_ascii_digit()) && (token == "0" || !token.starts_with('0'));
        self.elements().nth(token.parse().ok().filter(|_| index)?)
    }

    /// Returns the value of the member with this key; `None` if the node is not an object or has no such member.
    #[inline]
    pub fn member(self, key: &TapeKey) -> Option<Self> {
        let matches = |found: &Self| {
            let (tag, text) = found.key();
            key.matches(tag, text)
        };
        self.keys().find(matches).map(Self::value)
    }

    /// Returns whether the node is a key that equals `key`.
    #[inline]
    pub fn is_named(self, key: &TapeKey) -> bool {
        let (tag, text) = self.key();
        self.is_key() && key.matches(tag, text)
    }

    /// Returns the tag (a part of the hash) and the text of this node, which must be a key.
    #[inline]
    fn key(self) -> (u16, &'a [u8]) {
        let cell = self.cell();
        let (start, length) = (cell.start_or_count as usize, cell.length_or_end as usize);
        (cell.tag, &self.tape.text.as_bytes()[start..start + length])
    }

    /// Returns the value that belongs to this node, which must be a key.
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
