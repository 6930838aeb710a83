//! One value as a flat list, from the parser's events, with what inferring needs of its texts.
//!
//! The list stays small whatever the size of the value: when it grows, the members and elements that are
//! over are merged into partial shapes of the objects and arrays that are still open.

use super::PLACES;
use super::objects::{Fields, Objects, Tag};
use super::shape::{Elements, Shape};
use super::text::{self, Formats};
use crate::DISCRIMINATORS;
use std::cell::Cell;
use strict_json::{Event, JsonType, Sink};

/// So many nodes or bytes of text are kept before what is over is merged.
const MOST: usize = 1 << 16;

/// What a node is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum NodeKind {
    Value(JsonType),
    /// A number that is written as an integer.
    Integer,
    /// A key; its value is the next node.
    Key,
    /// A value that was merged into a shape already.
    Merged,
}

/// A node of the list.
#[derive(Clone, Copy)]
pub(super) struct Node {
    pub kind: NodeKind,
    /// The formats that a string has.
    pub formats: Formats,
    /// The length of the text of a key or word.
    len: u16,
    /// A key or word: where its text begins. An object: the number of its tag in `tags`, from 1, or 0.
    /// What is merged: the number of its shape.
    at: u32,
    /// The index behind the value.
    pub end: u32,
}

/// The length of a text that is not kept.
const NOT_KEPT: u16 = u16::MAX;

/// An object or array that is not over.
struct Open {
    node: usize,
    /// The best tag so far, and its place in the order of tags.
    tag: Option<Tag>,
    rank: usize,
    /// The place in the order of the key that waits for its value, if it can be a tag.
    waiting: usize,
    partial: Option<Box<Partial>>,
}

/// What of an open object or array is merged already.
enum Partial {
    Object(Fields),
    Array(Elements),
}

impl Partial {
    fn places(&self) -> usize {
        match self {
            Self::Object(fields) => fields.places(),
            Self::Array(elements) => elements.places(),
        }
    }
}

/// Takes values and merges each into a shape.
#[derive(Default)]
pub(super) struct ShapeBuilder {
    nodes: Vec<Node>,
    text: String,
    tags: Vec<Tag>,
    merged: Vec<Shape>,
    open: Vec<Open>,
    /// What all values merged into.
    pub shape: Shape,
    /// How many values were merged.
    pub records: u64,
    /// Grows with each place that is remembered.
    places: Cell<usize>,
    /// The string that comes has had parts already.
    parts: bool,
    /// There are too many places: no more is taken.
    pub full: bool,
}

impl ShapeBuilder {
    pub fn node(&self, at: usize) -> Node {
        self.nodes[at]
    }

    /// The text of a key or word; none of other strings.
    pub fn text(&self, node: Node) -> Option<&str> {
        if node.len == NOT_KEPT {
            return None;
        }
        let start = node.at as usize;
        self.text.get(start..start + usize::from(node.len))
    }

    /// The tag of an object.
    pub fn tag(&self, node: Node) -> Option<&Tag> {
        self.tags.get((node.at as usize).checked_sub(1)?)
    }

    pub fn merged(&self, node: Node) -> &Shape {
        &self.merged[node.at as usize]
    }

    /// Remembers that there are so many places more.
    pub fn place(&self, more: usize) {
        self.places.set(self.places.get() + more);
    }

    /// Forgets a value that did not come to its end.
    pub fn clear(&mut self) {
        self.nodes.clear();
        self.text.clear();
        self.tags.clear();
        self.merged.clear();
        self.open.clear();
    }

    fn push(&mut self, kind: NodeKind) {
        let end = self.nodes.len() as u32 + 1;
        self.nodes.push(Node { kind, formats: Formats::NONE, len: NOT_KEPT, at: 0, end });
    }

    /// Keeps a text for the node pushed last.
    fn keep(&mut self, text: &str) {
        if let (Some(node), Ok(len)) = (self.nodes.last_mut(), u16::try_from(text.len())) {
            node.at = self.text.len() as u32;
            node.len = len;
            self.text.push_str(text);
        }
    }

    fn key(&mut self, text: &str) {
        self.push(NodeKind::Key);
        self.keep(text);
        if let Some(open) = self.open.last_mut() {
            let known = (2..=7).contains(&text.len());
            let rank = if known { DISCRIMINATORS.iter().position(|known| known.key == text) } else { None };
            open.waiting = rank.unwrap_or(DISCRIMINATORS.len());
        }
    }

    fn string(&mut self, text: &str) {
        self.push(NodeKind::Value(JsonType::String));
        // A string that had parts is neither a word nor of a format.
        if !std::mem::take(&mut self.parts) {
            if text::is_word(text) {
                self.keep(text);
                self.offer(text, false);
            }
            if let Some(node) = self.nodes.last_mut() {
                node.formats = text::formats(text);
            }
        }
        self.ended();
    }

    /// A value is over.
    fn ended(&mut self) {
        if self.open.is_empty() {
            return;
        }
        if self.nodes.len() > MOST || self.text.len() > 8 * MOST || self.merged.len() > 64 {
            self.merge_what_is_over();
        }
    }

    /// Takes a value of a tag key.
    fn offer(&mut self, value: &str, bool: bool) {
        if let Some(open) = self.open.last_mut()
            && open.waiting < open.rank
            && DISCRIMINATORS[open.waiting].boolean == bool
        {
            open.rank = open.waiting;
            open.tag = Some(Tag { key: open.waiting, value: value.into() });
        }
    }

    fn begin(&mut self, container: JsonType) {
        let node = self.nodes.len();
        self.push(NodeKind::Value(container));
        self.open.push(Open {
            node,
            tag: None,
            rank: DISCRIMINATORS.len(),
            waiting: DISCRIMINATORS.len(),
            partial: None,
        });
    }

    fn end(&mut self) {
        let Some(open) = self.open.pop() else { return };
        let at = open.node;
        if let Some(partial) = open.partial {
            let partial = self.go_on(*partial, at + 1, self.nodes.len(), self.open.len() + 1);
            let shape = match partial {
                Partial::Object(fields) => Shape::of_objects(Objects::of_one(open.tag, fields)),
                Partial::Array(elements) => Shape::of_arrays(elements),
            };
            self.nodes.truncate(at);
            self.push(NodeKind::Merged);
            self.nodes[at].at = self.merged.len() as u32;
            self.merged.push(shape);
        } else {
            let tag = open.tag.map_or(0, |tag| {
                self.tags.push(tag);
                self.tags.len() as u32
            });
            let end = self.nodes.len() as u32;
            let node = &mut self.nodes[at];
            (node.at, node.end) = (tag, end);
        }
        self.ended();
    }

    /// Merges the members or elements between two nodes, which are at this depth, into what is merged of
    /// their object or array.
    fn go_on(&self, partial: Partial, from: usize, to: usize, depth: usize) -> Partial {
        let mut at = from;
        match partial {
            Partial::Object(mut fields) => {
                while at + 1 < to {
                    fields.absorb(self, at, depth);
                    at = self.nodes[at + 1].end as usize;
                }
                Partial::Object(fields)
            }
            Partial::Array(mut elements) => {
                while at < to {
                    elements.push(self, at, depth);
                    at = self.nodes[at].end as usize;
                }
                Partial::Array(elements)
            }
        }
    }

    #[cold]
    fn merge_what_is_over(&mut self) {
        let mut open = std::mem::take(&mut self.open);
        let (mut nodes, mut text) = (Vec::new(), String::new());
        for level in 0..open.len() {
            let node = open[level].node;
            let next = open.get(level + 1).map(|inner| inner.node);
            let object = self.nodes[node].kind == NodeKind::Value(JsonType::Object);
            // The key of an object or array that is not over stays.
            let key = next.filter(|_| object).map(|inner| self.nodes[inner - 1]);
            let to = next.map_or(self.nodes.len(), |inner| inner - usize::from(object));
            let partial = open[level].partial.take().map_or_else(
                || {
                    if object {
                        Partial::Object(Fields::default())
                    } else {
                        Partial::Array(Elements::default())
                    }
                },
                |partial| *partial,
            );
            let partial = self.go_on(partial, node + 1, to, level + 1);
            open[level].partial = Some(Box::new(partial));
            open[level].node = nodes.len();
            nodes.push(Node { end: nodes.len() as u32 + 1, ..self.nodes[node] });
            if let Some(key) = key {
                let start = key.at as usize;
                let at = text.len() as u32;
                text.push_str(&self.text[start..start + usize::from(key.len)]);
                nodes.push(Node { at, end: nodes.len() as u32 + 1, ..key });
            }
        }
        (self.nodes, self.text, self.open) = (nodes, text, open);
        self.tags.clear();
        self.merged.clear();
        self.full |= self.count() > PLACES;
    }

    /// How many places are remembered, exactly once they are too many.
    pub fn count(&self) -> usize {
        if self.places.get() > PLACES {
            let partial = self.open.iter().filter_map(|open| open.partial.as_deref());
            let open: usize = partial.map(Partial::places).sum();
            self.places.set(self.shape.places() + open);
        }
        self.places.get()
    }

    /// The value is over: merges it.
    fn take(&mut self) {
        if !self.nodes.is_empty() {
            let mut shape = std::mem::take(&mut self.shape);
            shape.absorb(self, 0, 0);
            self.shape = shape;
            self.records += 1;
        }
        self.clear();
    }

    /// A document is over.
    pub fn end_document(&mut self, whole: bool) {
        if whole {
            self.take();
        } else {
            self.clear();
        }
    }
}

impl Sink for ShapeBuilder {
    fn begin_record(&mut self, _line: u64, _offset: u64) {
        self.clear();
    }

    fn end_record(&mut self, _offset: u64, whole: bool) {
        self.end_document(whole);
    }

    #[inline(always)]
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Begin(container, _) => self.begin(container),
            Event::End(_) => self.end(),
            Event::Key(_, text) => self.key(text),
            Event::String(_, text) => self.string(text),
            Event::StringPart(..) => self.parts = true,
            Event::Number(_, text) => {
                let integer = text.bytes().all(|byte| byte == b'-' || byte.is_ascii_digit());
                self.push(if integer { NodeKind::Integer } else { NodeKind::Value(JsonType::Number) });
                self.ended();
            }
            Event::Boolean(_, value) => {
                self.push(NodeKind::Value(JsonType::Boolean));
                self.offer(if value { "true" } else { "false" }, true);
                self.ended();
            }
            Event::Null(_) => {
                self.push(NodeKind::Value(JsonType::Null));
                self.ended();
            }
        }
    }

    fn done(&self) -> bool {
        self.full
    }
}
