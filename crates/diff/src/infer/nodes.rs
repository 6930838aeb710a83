//! A value as a flat list of nodes.

use super::shape::{Shape, Tag};
use super::text::Formats;
use strict_json::JsonType;

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
    pub len: u16,
    /// A key or word: where its text begins. An object: the number of its tag in `tags`, from 1, or 0.
    /// What is merged: the number of its shape.
    pub at: u32,
    /// The index behind the value.
    pub end: u32,
}

/// The length of a text that is not kept.
const NOT_KEPT: u16 = u16::MAX;

/// The nodes of a value, with what they refer to.
#[derive(Default)]
pub(super) struct Nodes {
    pub list: Vec<Node>,
    pub text: String,
    pub tags: Vec<Tag>,
    pub merged: Vec<Shape>,
}

impl Nodes {
    pub fn node(&self, at: usize) -> Node {
        self.list[at]
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

    /// The elements, or the keys of the members, between two nodes.
    pub fn parts(&self, from: usize, to: usize) -> impl Iterator<Item = usize> {
        let mut next = from;
        std::iter::from_fn(move || {
            let at = Some(next).filter(|at| *at < to)?;
            let value = at + usize::from(self.list[at].kind == NodeKind::Key);
            next = self.list[value].end as usize;
            Some(at)
        })
    }

    pub fn push(&mut self, kind: NodeKind) {
        let end = self.list.len() as u32 + 1;
        self.list.push(Node { kind, formats: Formats::NONE, len: NOT_KEPT, at: 0, end });
    }

    /// Keeps a text for the node pushed last.
    pub fn keep(&mut self, text: &str) {
        if let (Some(node), Ok(len)) = (self.list.last_mut(), u16::try_from(text.len())) {
            node.at = self.text.len() as u32;
            node.len = len;
            self.text.push_str(text);
        }
    }

    /// Forgets the value.
    pub fn clear(&mut self) {
        self.list.clear();
        self.text.clear();
        self.tags.clear();
        self.merged.clear();
    }
}
