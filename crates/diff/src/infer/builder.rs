//! One value as a flat list, from the parser's events, with what inferring needs of its texts.
//!
//! The list stays small whatever the size of the value: when it grows, the members and elements that are
//! over are merged into partial shapes of the objects and arrays that are still open.

use super::nodes::{Node, NodeKind, Nodes};
use super::shape::{PLACES, Shape, Tag};
use super::text;
use agentnative_contract::DISCRIMINATORS;
use strict_json::{Event, JsonType, Sink};

/// So many nodes or bytes of text are kept before what is over is merged.
const MOST: usize = 1 << 16;

/// An object or array that is not over.
struct Open {
    node: usize,
    /// The best tag so far, and its place in the order of tags.
    tag: Option<Tag>,
    rank: usize,
    /// The place in the order of the key that waits for its value, if it can be a tag.
    waiting: usize,
    /// What of it is merged already.
    partial: Option<Box<Shape>>,
}

/// Takes values and merges each into a shape.
#[derive(Default)]
pub(super) struct ShapeBuilder {
    nodes: Nodes,
    open: Vec<Open>,
    /// What all values merged into.
    pub shape: Shape,
    /// How many values were merged.
    pub records: u64,
    /// The string that comes has had parts already.
    parts: bool,
    /// There are too many places: no more is taken.
    pub full: bool,
}

impl ShapeBuilder {
    /// Forgets a value that did not come to its end.
    pub fn clear(&mut self) {
        self.nodes.clear();
        self.open.clear();
    }

    fn key(&mut self, text: &str) {
        self.nodes.push(NodeKind::Key);
        self.nodes.keep(text);
        if let Some(open) = self.open.last_mut() {
            let known = (2..=7).contains(&text.len());
            let rank = if known { DISCRIMINATORS.iter().position(|known| known.key == text) } else { None };
            open.waiting = rank.unwrap_or(DISCRIMINATORS.len());
        }
    }

    fn string(&mut self, text: &str) {
        self.nodes.push(NodeKind::Value(JsonType::String));
        // A string that had parts is neither a word nor of a format.
        if !std::mem::take(&mut self.parts) {
            if text::is_word(text) {
                self.nodes.keep(text);
                self.offer(text, false);
            }
            if let Some(node) = self.nodes.list.last_mut() {
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
        if self.nodes.list.len() > MOST || self.nodes.text.len() > 8 * MOST || self.nodes.merged.len() > 64 {
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
        let node = self.nodes.list.len();
        self.nodes.push(NodeKind::Value(container));
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
        if let Some(mut shape) = open.partial {
            shape.absorb_parts(&self.nodes, at + 1, self.nodes.list.len(), self.open.len() + 1);
            if let Some(objects) = &mut shape.objects {
                objects.groups[0].tag = open.tag;
            }
            self.nodes.list.truncate(at);
            self.nodes.push(NodeKind::Merged);
            self.nodes.list[at].at = self.nodes.merged.len() as u32;
            self.nodes.merged.push(*shape);
        } else {
            let tag = open.tag.map_or(0, |tag| {
                self.nodes.tags.push(tag);
                self.nodes.tags.len() as u32
            });
            let end = self.nodes.list.len() as u32;
            let node = &mut self.nodes.list[at];
            (node.at, node.end) = (tag, end);
        }
        self.ended();
    }

    #[cold]
    fn merge_what_is_over(&mut self) {
        let mut open = std::mem::take(&mut self.open);
        let (mut nodes, mut text) = (Vec::new(), String::new());
        for level in 0..open.len() {
            let node = open[level].node;
            let next = open.get(level + 1).map(|inner| inner.node);
            let object = self.nodes.list[node].kind == NodeKind::Value(JsonType::Object);
            // The key of an object or array that is not over stays.
            let key = next.filter(|_| object).map(|inner| self.nodes.list[inner - 1]);
            let to = next.map_or(self.nodes.list.len(), |inner| inner - usize::from(object));
            let partial = open[level].partial.get_or_insert_with(|| Box::new(Shape::of_one(object)));
            partial.absorb_parts(&self.nodes, node + 1, to, level + 1);
            open[level].node = nodes.len();
            nodes.push(Node { end: nodes.len() as u32 + 1, ..self.nodes.list[node] });
            if let Some(key) = key {
                let start = key.at as usize;
                let at = text.len() as u32;
                text.push_str(&self.nodes.text[start..start + usize::from(key.len)]);
                nodes.push(Node { at, end: nodes.len() as u32 + 1, ..key });
            }
        }
        (self.nodes.list, self.nodes.text, self.open) = (nodes, text, open);
        self.nodes.tags.clear();
        self.nodes.merged.clear();
        self.full |= self.places() > PLACES;
    }

    /// How many places are remembered.
    pub fn places(&self) -> usize {
        let partial = self.open.iter().filter_map(|open| open.partial.as_deref());
        self.shape.places() + partial.map(Shape::places).sum::<usize>()
    }

    /// The value is over: merges it.
    fn take(&mut self) {
        if !self.nodes.list.is_empty() {
            self.shape.absorb(&self.nodes, 0, 0);
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
                self.nodes.push(if integer { NodeKind::Integer } else { NodeKind::Value(JsonType::Number) });
                self.ended();
            }
            Event::Boolean(_, value) => {
                self.nodes.push(NodeKind::Value(JsonType::Boolean));
                self.offer(if value { "true" } else { "false" }, true);
                self.ended();
            }
            Event::Null(_) => {
                self.nodes.push(NodeKind::Value(JsonType::Null));
                self.ended();
            }
        }
    }

    fn done(&self) -> bool {
        self.full
    }
}
