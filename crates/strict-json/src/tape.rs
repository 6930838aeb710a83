//! A JSON value in two flat buffers: filled by the strict reader, looked at by schemas and rules.
//!
//! A tree of boxes costs more to build than all the rest of validating; this is filled once per
//! record and used again for the next.

mod cell;
mod clean;
mod events;
mod key;
mod key_map;

pub use key::Key;
pub use key_map::KeyMap;

use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Number, Value};

use cell::{Cell, Level};
use key::{fingerprint, tag};

use super::JsonType;

/// The buffers.
#[derive(Debug, Default)]
pub struct Tape {
    cells: Vec<Cell>,
    text: String,
    open: Vec<usize>,
    /// What is open in a record that is read cleanly, and what its keys are told by.
    levels: Vec<Level>,
    keys: Vec<u64>,
    /// Where the record starts in what is read.
    start: u64,
    /// Where that is in the input.
    origin: u64,
    /// Where the root begins in the input.
    root_at: u64,
    /// Where the text of a long string starts that is still coming in.
    part: Option<usize>,
    /// Texts of which the head is kept only: index, and how many characters more they have.
    long: Vec<(usize, u64)>,
    /// Characters of the long string that is coming in beyond what is kept.
    beyond: u64,
    /// Something looked into a text of which the head is kept only.
    undecided: AtomicBool,
    /// It does not fit into 32 bits, and what is kept is not all of it.
    overflow: bool,
}

/// This much of a string is kept.
const HEAD: usize = 1 << 20;

/// A value in the buffers.
#[derive(Debug, Clone, Copy)]
pub struct TapeNode<'a> {
    tape: &'a Tape,
    index: usize,
}

/// What a value is.
#[derive(Debug, Clone)]
pub enum JsonKind<'a> {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number.
    Number(Number),
    /// A string, up to 1 MiB of it.
    Text(&'a str),
    /// An array.
    Array,
    /// An object.
    Object,
}

impl Tape {
    /// Forgets the value; the next is read from this offset on, which is that of `origin` in the input.
    pub fn clear(&mut self, start: u64, origin: u64) {
        self.cells.clear();
        self.text.clear();
        self.open.clear();
        (self.start, self.origin) = (start, origin);
        (self.part, self.overflow, self.beyond) = (None, false, 0);
        self.long.clear();
        *self.undecided.get_mut() = false;
        // One huge record is no reason to keep its room for ever.
        self.cells.shrink_to(1 << 20);
        self.text.shrink_to(8 << 20);
    }

    /// The value, if there is one.
    pub fn root(&self) -> Option<TapeNode<'_>> {
        (!self.cells.is_empty() && !self.overflow).then_some(TapeNode { tape: self, index: 0 })
    }

    /// The last element of the root, while that is an open array.
    pub fn element(&self) -> Option<TapeNode<'_>> {
        (self.cells.len() > 1).then_some(TapeNode { tape: self, index: 1 })
    }

    /// Forgets the elements of the root, which stay counted; the next begins behind this offset.
    pub fn forget_elements(&mut self, end: u64) {
        self.cells.truncate(1);
        self.text.clear();
        self.long.clear();
        self.origin += end - self.start;
        self.start = end;
    }

    /// Whether there was something that could not be judged since this was asked last.
    pub fn take_unjudged(&mut self) -> bool {
        std::mem::take(self.undecided.get_mut()) || self.overflow
    }

    /// Whether what was read last ends an element of the root, which is an open array.
    pub fn is_element_complete(&self) -> bool {
        self.open.len() == 1 && self.root().is_some_and(|root| root.is(JsonType::Array))
    }

    /// Holds this value instead.
    pub fn fill(&mut self, value: &Value) {
        self.clear(0, 0);
        self.add(value);
    }

    /// Holds this string instead.
    pub fn fill_string(&mut self, string: &str) {
        self.clear(0, 0);
        self.push_text(Some(JsonType::String), 0, string);
    }

    fn add(&mut self, value: &Value) {
        match value {
            Value::Null => self.push(Some(JsonType::Null), 0, 0, 0),
            Value::Bool(value) => self.push(Some(JsonType::Boolean), 0, usize::from(*value), 0),
            Value::Number(number) => self.add_text(Some(JsonType::Number), &number.to_string()),
            Value::String(text) => self.add_text(Some(JsonType::String), text),
            Value::Array(elements) => {
                self.open(JsonType::Array, 0);
                elements.iter().for_each(|element| self.add(element));
                self.close();
            }
            Value::Object(members) => {
                self.open(JsonType::Object, 0);
                for (key, value) in members {
                    self.add_text(None, key);
                    self.add(value);
                }
                self.close();
            }
        }
    }

    /// Adds a text, all of which is kept.
    fn add_text(&mut self, json_type: Option<JsonType>, text: &str) {
        let from = self.text.len();
        self.text.push_str(text);
        self.push(json_type, 0, from, text.len());
    }

    fn push(&mut self, json_type: Option<JsonType>, start: u64, a: usize, b: usize) {
        self.overflow |= self.text.len().max(self.cells.len() + 1) >= u32::MAX as usize;
        if self.overflow {
            // Nobody looks at it any more.
            self.cells.truncate(1);
            self.text.clear();
            return;
        }
        if json_type.is_some()
            && let Some(container) = self.open.last()
        {
            self.cells[*container].a = self.cells[*container].a.saturating_add(1);
        }
        let small = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        if self.cells.is_empty() {
            self.root_at = self.origin + (start - self.start);
        }
        let at = if json_type.is_none() {
            small(self.cells.len() + 2)
        } else {
            u32::try_from(start.saturating_sub(self.start)).unwrap_or(u32::MAX)
        };
        let tag = if json_type.is_some() { 0 } else { tag(fingerprint(&self.text.as_bytes()[a..a + b])) };
        self.cells.push(Cell { json_type, tag, at, a: small(a), b: small(b) });
    }

    fn push_text(&mut self, json_type: Option<JsonType>, start: u64, text: &str) {
        let from = self.part.take().unwrap_or(self.text.len());
        self.keep(from, text);
        if self.beyond > 0 {
            self.long.push((self.cells.len(), std::mem::take(&mut self.beyond)));
        }
        self.push(json_type, start, from, self.text.len() - from);
    }

    /// Adds to the string that starts there what there is room for.
    #[inline]
    fn keep(&mut self, from: usize, text: &str) {
        if self.beyond == 0 && self.text.len() - from + text.len() <= HEAD {
            self.text.push_str(text);
        } else {
            self.keep_head(from, text);
        }
    }

    #[cold]
    fn keep_head(&mut self, from: usize, text: &str) {
        let room = if self.beyond > 0 { 0 } else { HEAD.saturating_sub(self.text.len() - from) };
        let kept = text.floor_char_boundary(room);
        self.text.push_str(&text[..kept]);
        self.beyond += text[kept..].chars().count() as u64;
    }

    fn close(&mut self) {
        let end = self.cells.len();
        if let Some(container) = self.open.pop().filter(|_| !self.overflow) {
            let end = u32::try_from(end).unwrap_or(u32::MAX);
            self.cells[container].b = end;
            if let Some(key) = container.checked_sub(1).filter(|key| self.cells[*key].json_type.is_none()) {
                self.cells[key].at = end;
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

    /// Whether it is a value of this type.
    pub fn is(self, json_type: JsonType) -> bool {
        self.cell().json_type == Some(json_type)
    }

    /// Whether it is a key.
    pub fn is_key(self) -> bool {
        self.cell().json_type.is_none()
    }

    /// The type of a value; a key is a string.
    pub fn json_type(self) -> JsonType {
        self.cell().json_type.unwrap_or(JsonType::String)
    }

    /// How many elements or members a container has.
    pub fn count(self) -> usize {
        self.cell().a as usize
    }

    /// Where it begins in the input.
    pub fn offset(self) -> u64 {
        if self.index == 0 { self.tape.root_at } else { self.tape.origin + u64::from(self.cell().at) }
    }

    /// The index behind it and all that is in it; behind a key and its value.
    fn end(self) -> usize {
        let cell = self.cell();
        match cell.json_type {
            Some(JsonType::Array | JsonType::Object) => cell.b as usize,
            Some(_) => self.index + 1,
            None => cell.at as usize,
        }
    }

    /// The text of a string or key, up to 1 MiB; a number as it is written; nothing of anything else.
    #[inline]
    pub fn text(self) -> &'a str {
        let cell = self.cell();
        match cell.json_type {
            None | Some(JsonType::String | JsonType::Number) => {
                &self.tape.text[cell.a as usize..cell.a as usize + cell.b as usize]
            }
            Some(_) => "",
        }
    }

    /// A string, if it is one. Where its text is not all of it, [`Tape::take_unjudged`] says so from now on.
    pub fn as_str(self) -> Option<&'a str> {
        if self.beyond() > 0 {
            self.tape.undecided.store(true, Ordering::Relaxed);
        }
        self.is(JsonType::String).then(|| self.text())
    }

    /// The truth value, if it is a boolean.
    pub fn as_bool(self) -> Option<bool> {
        self.is(JsonType::Boolean).then(|| self.cell().a == 1)
    }

    /// How many cells of the tape it takes, with all that is in it.
    pub fn cells(self) -> usize {
        self.end() - self.index
    }

    /// Its index on the tape.
    pub fn index(self) -> usize {
        self.index
    }

    /// The value with this index on the same tape, if there is one.
    pub fn at(self, index: usize) -> Option<Self> {
        (index < self.tape.cells.len()).then_some(Self { index, ..self })
    }

    /// A number that tells this value from all others on the tape.
    pub fn identity(self) -> usize {
        std::ptr::from_ref(&self.tape.cells[self.index]).addr()
    }

    /// How many characters more than its text a string has.
    pub fn beyond(self) -> u64 {
        let long = self.tape.long.iter().find(|(index, _)| *index == self.index);
        long.map_or(0, |(_, beyond)| *beyond)
    }

    /// The number that its text says. What no number can hold (1e400, NaN) is the greatest that one can.
    pub fn number(self) -> Number {
        let written = self.text();
        if let Ok(natural) = written.parse::<u64>() {
            return natural.into();
        }
        let parsed = written.parse::<Number>().ok();
        let sign = if written.starts_with('-') { -1.0 } else { 1.0 };
        parsed.or_else(|| Number::from_f64(sign * f64::MAX)).unwrap_or_else(|| 0.into())
    }

    /// What it is; a key is a text.
    pub fn kind(self) -> JsonKind<'a> {
        match self.json_type() {
            JsonType::Null => JsonKind::Null,
            JsonType::Boolean => JsonKind::Bool(self.cell().a == 1),
            JsonType::Number => JsonKind::Number(self.number()),
            JsonType::String => JsonKind::Text(self.text()),
            JsonType::Array => JsonKind::Array,
            JsonType::Object => JsonKind::Object,
        }
    }

    /// The value of a key of an object, or the element of an array with this index: digits without a
    /// leading zero.
    #[inline]
    pub fn get(self, token: &Key) -> Option<Self> {
        if self.is(JsonType::Object) { self.member(token) } else { self.element(token.text()) }
    }

    fn element(self, token: &str) -> Option<Self> {
        let index =
            token.bytes().all(|byte| byte.is_ascii_digit()) && (token == "0" || !token.starts_with('0'));
        self.items().nth(token.parse().ok().filter(|_| index)?)
    }

    /// The value of a key of an object.
    #[inline]
    pub fn member(self, key: &Key) -> Option<Self> {
        let is_it = |found: &Self| {
            let (tag, text) = found.key();
            key.is(tag, text)
        };
        self.keys().find(is_it).map(Self::value)
    }

    /// Whether it is this key.
    #[inline]
    pub fn is_named(self, key: &Key) -> bool {
        let (tag, text) = self.key();
        self.is_key() && key.is(tag, text)
    }

    /// Its tag and its text, if it is a key.
    #[inline]
    fn key(self) -> (u16, &'a [u8]) {
        let cell = self.cell();
        (cell.tag, &self.tape.text.as_bytes()[cell.a as usize..cell.a as usize + cell.b as usize])
    }

    /// The value of a key.
    #[inline]
    pub fn value(self) -> Self {
        Self { index: self.index + 1, ..self }
    }

    /// The keys of an object; none of anything else.
    #[inline]
    pub fn keys(self) -> Elements<'a> {
        self.cells_of(JsonType::Object)
    }

    /// The value with all that is in it, as `serde_json` has it.
    pub fn to_value(self) -> Value {
        match self.kind() {
            JsonKind::Null => Value::Null,
            JsonKind::Bool(value) => Value::Bool(value),
            JsonKind::Number(number) => Value::Number(number),
            JsonKind::Text(text) => Value::String(text.to_owned()),
            JsonKind::Array => Value::Array(self.items().map(Self::to_value).collect()),
            JsonKind::Object => {
                Value::Object(self.pairs().map(|(key, value)| (key.to_owned(), value.to_value())).collect())
            }
        }
    }

    /// The keys and values of an object; none of anything else.
    pub fn pairs(self) -> Members<'a> {
        Members(self.keys())
    }

    /// The elements of an array; none of anything else.
    pub fn items(self) -> Elements<'a> {
        self.cells_of(JsonType::Array)
    }

    fn cells_of(self, container: JsonType) -> Elements<'a> {
        let end = if self.is(container) { self.end() } else { 0 };
        Elements { tape: self.tape, next: self.index + 1, end }
    }
}

/// The elements of an array, or the keys of an object.
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

/// The members of an object: keys and values.
pub struct Members<'a>(Elements<'a>);

impl<'a> Iterator for Members<'a> {
    type Item = (&'a str, TapeNode<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        let key = self.0.next()?;
        Some((key.text(), key.value()))
    }
}
