//! A JSON value in two flat buffers: filled by the strict reader, looked at by schemas and rules.
//!
//! A tree of boxes costs more to build than all the rest of validating; this is filled once per
//! record and used again for the next.

mod adapter;

pub(crate) use adapter::FlatJson;

use super::view::{Seen, View, index};
use adapter::FlatNumber;
use std::borrow::Cow;
use std::sync::atomic::AtomicBool;
use strict_json::{JsonType, Sink, Span};

/// A value or key. Those inside of a container follow it.
#[derive(Debug, Clone, Copy)]
struct Cell {
    /// None of a key; its value follows.
    json_type: Option<JsonType>,
    /// Where it begins, from the start of the record; saturated. Of a key: the index of the next.
    at: u32,
    /// Of a text: where it starts. Of a container: how many elements or members it has. Of a boolean:
    /// 1 if it is true.
    a: u32,
    /// Of a text: its length. Of a container: the index behind all that is in it.
    b: u32,
}

/// The buffers.
#[derive(Debug, Default)]
pub(crate) struct Flat {
    cells: Vec<Cell>,
    text: String,
    open: Vec<usize>,
    /// Where the record starts in the input.
    start: u64,
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
pub(crate) struct FlatNode<'a> {
    flat: &'a Flat,
    index: usize,
}

impl Flat {
    /// Forgets the value; the next begins at this offset of the input.
    pub fn clear(&mut self, start: u64) {
        self.cells.clear();
        self.text.clear();
        self.open.clear();
        (self.start, self.part, self.overflow, self.beyond) = (start, None, false, 0);
        self.long.clear();
        *self.undecided.get_mut() = false;
        // One huge record is no reason to keep its room for ever.
        self.cells.shrink_to(1 << 20);
        self.text.shrink_to(8 << 20);
    }

    /// The value, if there is one.
    pub fn root(&self) -> Option<FlatNode<'_>> {
        (!self.cells.is_empty() && !self.overflow).then_some(FlatNode { flat: self, index: 0 })
    }

    /// The last element of the root, while that is an open array.
    pub fn element(&self) -> Option<FlatNode<'_>> {
        (self.cells.len() > 1).then_some(FlatNode { flat: self, index: 1 })
    }

    /// Forgets the elements of the root, which stay counted; the next begins behind this offset.
    pub fn forget_elements(&mut self, end: u64) {
        self.cells.truncate(1);
        self.text.clear();
        self.long.clear();
        self.start = end;
    }

    /// Whether there was something that could not be judged since this was asked last.
    pub fn take_unjudged(&mut self) -> bool {
        std::mem::take(self.undecided.get_mut()) || self.overflow
    }

    /// How many containers are open.
    pub fn depth(&self) -> usize {
        self.open.len()
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
            self.root_at = start;
        }
        let at = if json_type.is_none() {
            small(self.cells.len() + 2)
        } else {
            u32::try_from(start.saturating_sub(self.start)).unwrap_or(u32::MAX)
        };
        self.cells.push(Cell { json_type, at, a: small(a), b: small(b) });
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

impl Sink for Flat {
    // What is read for a second time.
    const COMPARES_KEYS: bool = false;

    fn begin_object(&mut self, start: u64) {
        self.open(JsonType::Object, start);
    }
    fn end_object(&mut self, _end: u64) {
        self.close();
    }
    fn begin_array(&mut self, start: u64) {
        self.open(JsonType::Array, start);
    }
    fn end_array(&mut self, _end: u64) {
        self.close();
    }
    fn key(&mut self, span: Span, text: &str) {
        self.push_text(None, span.start, text);
    }
    fn string(&mut self, span: Span, text: &str) {
        self.push_text(Some(JsonType::String), span.start, text);
    }
    fn string_part(&mut self, _start: u64, text: &str) {
        let from = *self.part.get_or_insert(self.text.len());
        self.keep(from, text);
    }
    fn number(&mut self, span: Span, text: &str) {
        self.push_text(Some(JsonType::Number), span.start, text);
    }
    fn bool(&mut self, span: Span, value: bool) {
        self.push(Some(JsonType::Boolean), span.start, usize::from(value), 0);
    }
    fn null(&mut self, span: Span) {
        self.push(Some(JsonType::Null), span.start, 0, 0);
    }
}

impl<'a> FlatNode<'a> {
    fn cell(self) -> Cell {
        self.flat.cells[self.index]
    }

    fn is(self, json_type: JsonType) -> bool {
        self.cell().json_type == Some(json_type)
    }

    /// The type of a value; a key is a string.
    fn json_type(self) -> JsonType {
        self.cell().json_type.unwrap_or(JsonType::String)
    }

    /// Where it begins in the input.
    pub fn offset(self) -> u64 {
        if self.index == 0 { self.flat.root_at } else { self.flat.start + u64::from(self.cell().at) }
    }

    /// The index behind it and all that is in it.
    fn end(self) -> usize {
        let cell = self.cell();
        if matches!(cell.json_type, Some(JsonType::Array | JsonType::Object)) {
            cell.b as usize
        } else {
            self.index + 1
        }
    }

    fn text(self) -> &'a str {
        let cell = self.cell();
        &self.flat.text[cell.a as usize..cell.a as usize + cell.b as usize]
    }

    /// How many characters more than its text it has.
    fn beyond(self) -> u64 {
        let long = self.flat.long.iter().find(|(index, _)| *index == self.index);
        long.map_or(0, |(_, beyond)| *beyond)
    }

    fn number(self) -> FlatNumber<'a> {
        FlatNumber(self.text())
    }

    fn member(self, name: &str) -> Option<Self> {
        // Not by `pairs`: hardly a key has the length that is looked for.
        let text = self.flat.text.as_bytes();
        let end = if self.is(JsonType::Object) { self.end() } else { 0 };
        let cells = &self.flat.cells[..end];
        let mut at = self.index + 1;
        while let Some(key) = cells.get(at) {
            let from = key.a as usize;
            if key.b as usize == name.len() && &text[from..from + name.len()] == name.as_bytes() {
                return Some(Self { flat: self.flat, index: at + 1 });
            }
            at = key.at as usize;
        }
        None
    }

    fn pairs(self) -> Members<'a> {
        let end = if self.is(JsonType::Object) { self.end() } else { 0 };
        Members { flat: self.flat, next: self.index + 1, end }
    }

    fn items(self) -> Elements<'a> {
        let end = if self.is(JsonType::Array) { self.end() } else { 0 };
        Elements { flat: self.flat, next: self.index + 1, end }
    }
}

/// The members of an object: keys and values.
pub(crate) struct Members<'a> {
    flat: &'a Flat,
    next: usize,
    end: usize,
}

impl<'a> Iterator for Members<'a> {
    type Item = (&'a str, FlatNode<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        if self.next >= self.end {
            return None;
        }
        let key = FlatNode { flat: self.flat, index: self.next };
        let value = FlatNode { flat: self.flat, index: self.next + 1 };
        self.next = key.cell().at as usize;
        Some((key.text(), value))
    }
}

/// The elements of an array.
pub(crate) struct Elements<'a> {
    flat: &'a Flat,
    next: usize,
    end: usize,
}

impl<'a> Iterator for Elements<'a> {
    type Item = FlatNode<'a>;

    fn next(&mut self) -> Option<Self::Item> {
        let node = (self.next < self.end).then_some(FlatNode { flat: self.flat, index: self.next })?;
        self.next = node.end();
        Some(node)
    }
}

impl<'a> View<'a> for FlatNode<'a> {
    fn seen(self) -> Seen<'a> {
        match self.json_type() {
            JsonType::Null => Seen::Null,
            JsonType::Boolean => Seen::Bool(self.cell().a == 1),
            JsonType::Number => Seen::Number(self.number().to_number_owned()),
            JsonType::String => Seen::Text(Cow::Borrowed(self.text())),
            JsonType::Array => Seen::Array,
            JsonType::Object => Seen::Object,
        }
    }

    fn get(self, token: &str) -> Option<Self> {
        match self.json_type() {
            JsonType::Object => self.member(token),
            JsonType::Array => self.items().nth(index(token)?),
            _ => None,
        }
    }

    fn each_element(self, each: impl FnMut(Self)) -> bool {
        let array = self.is(JsonType::Array);
        self.items().for_each(each);
        array
    }

    fn each_key(self, mut each: impl FnMut(&str)) -> bool {
        let object = self.is(JsonType::Object);
        self.pairs().for_each(|(key, _)| each(key));
        object
    }
}
