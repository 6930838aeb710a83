//! The syntax tree of a file in one array. Each step from a node to its parent, sibling or child is one access.
//!
//! tree-sitter finds the parent and the siblings of a node by a walk from the root, which makes rules quadratic in
//! nested code.

use ast_grep_core::source::{Edit, SgNode};
use ast_grep_core::tree_sitter::{LanguageExt as _, StrDoc, TSLanguage};
use ast_grep_core::{Doc, Position};
use ast_grep_language::SupportLang;
use std::borrow::Cow;
use std::cell::Cell;
use std::iter::successors;
use std::ops::Range;

/// Maximum depth of nested nodes. It is limited because some matchers recurse.
pub(super) const MAX_DEPTH: usize = 2000;

/// Number of steps that the rules may take in any file. [`STEPS_PER_BYTE`] adds steps for each byte. In hand-written
/// code, the rules take at most 4 steps per byte.
const BASE_STEPS: u64 = 1 << 20;
const STEPS_PER_BYTE: u64 = 64;
/// Number of bytes of a node's text that cost one step.
const BYTES_PER_STEP: usize = 16;

#[derive(Clone)]
pub(super) struct Tree {
    text: String,
    language: SupportLang,
    grammar: TSLanguage,
    /// Nodes in the order of their starts, a parent before its children.
    nodes: Vec<NodeData>,
    /// Number of steps that the rules may still take.
    steps: Cell<u64>,
}

#[derive(Clone, Copy)]
struct NodeData {
    kind: u16,
    /// ID of the field of the parent that contains the node; 0 for none.
    field: u16,
    is_named: bool,
    is_missing: bool,
    is_extra: bool,
    start: u32,
    end: u32,
    parent: Option<u32>,
    previous: Option<u32>,
    next: Option<u32>,
    children: u32,
    /// Index after that of the last descendant in `Tree::nodes`.
    subtree_end: u32,
}

#[derive(Clone, Copy)]
pub(super) struct TreeNode<'t> {
    tree: &'t Tree,
    index: u32,
}

impl Tree {
    /// Creates the tree of a file that was parsed without errors. If a node is nested too deeply, returns the byte
    /// offset of the first such node as an error.
    pub fn new(parsed: StrDoc<SupportLang>) -> Result<Self, usize> {
        let mut nodes: Vec<NodeData> = Vec::new();
        // Ancestors of the current node.
        let mut ancestors: Vec<u32> = Vec::new();
        let mut previous = None;
        let mut cursor = parsed.tree.walk();
        loop {
            let node = cursor.node();
            let parent = ancestors.last().copied();
            let index = to_u32(nodes.len());
            if let Some(previous) = previous {
                nodes[previous as usize].next = Some(index);
            }
            if let Some(parent) = parent {
                nodes[parent as usize].children += 1;
            }
            nodes.push(NodeData {
                kind: node.kind_id(),
                field: cursor.field_id().map_or(0, Into::into),
                is_named: node.is_named(),
                is_missing: node.is_missing(),
                is_extra: node.is_extra(),
                start: to_u32(node.start_byte()),
                end: to_u32(node.end_byte()),
                parent,
                previous,
                next: None,
                children: 0,
                subtree_end: index + 1,
            });
            if cursor.goto_first_child() {
                if ancestors.len() == MAX_DEPTH {
                    return Err(node.start_byte());
                }
                ancestors.push(index);
                previous = None;
                continue;
            }
            previous = Some(index);
            while !cursor.goto_next_sibling() {
                let subtree_end = to_u32(nodes.len());
                previous = ancestors.pop();
                match previous {
                    Some(parent) => nodes[parent as usize].subtree_end = subtree_end,
                    None => {
                        let steps = BASE_STEPS + STEPS_PER_BYTE * parsed.src.len() as u64;
                        let (text, language) = (parsed.src, parsed.lang);
                        let grammar = language.get_ts_language();
                        return Ok(Self { text, language, grammar, nodes, steps: Cell::new(steps) });
                    }
                }
                cursor.goto_parent();
            }
        }
    }

    /// True if the rules have used all steps, so that the matches are incomplete.
    pub fn is_spent(&self) -> bool {
        self.steps.get() == 0
    }

    /// Uses up `steps` of the remaining steps; `None` if too few are left.
    fn use_up_steps(&self, steps: usize) -> Option<()> {
        let left = self.steps.get().saturating_sub(steps as u64);
        self.steps.set(left);
        (left > 0).then_some(())
    }
}

/// Converts an index or byte offset. It always fits, because files are far smaller than 4 GiB.
fn to_u32(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}

impl<'t> TreeNode<'t> {
    fn entry(&self) -> &'t NodeData {
        &self.tree.nodes[self.index as usize]
    }

    fn first_child(self) -> Option<Self> {
        self.node_at((self.entry().children > 0).then_some(self.index + 1))
    }

    fn node_at(self, index: Option<u32>) -> Option<Self> {
        self.tree.use_up_steps(1)?;
        Some(Self { index: index?, ..self })
    }

    fn in_field(self, field: Option<u16>) -> impl Iterator<Item = Self> {
        let field = field.unwrap_or(0);
        successors(self.first_child(), SgNode::next)
            .filter(move |child| field != 0 && child.entry().field == field)
    }

    fn position(self, offset: u32) -> Position {
        let before = &self.tree.text.as_bytes()[..offset as usize];
        let line = memchr::memchr_iter(b'\n', before).count();
        let start = memchr::memrchr(b'\n', before).map_or(0, |newline| newline + 1);
        Position::new(line, before.len() - start, before.len())
    }
}

struct Children<'t> {
    next: Option<TreeNode<'t>>,
    left: usize,
}

impl<'t> Iterator for Children<'t> {
    type Item = TreeNode<'t>;

    fn next(&mut self) -> Option<TreeNode<'t>> {
        let child = self.next?;
        self.left -= 1;
        self.next = if self.left > 0 { child.next() } else { None };
        Some(child)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl ExactSizeIterator for Children<'_> {}

impl<'t> SgNode<'t> for TreeNode<'t> {
    fn parent(&self) -> Option<Self> {
        self.node_at(self.entry().parent)
    }

    fn ancestors(&self, _root: Self) -> impl Iterator<Item = Self> {
        successors(self.parent(), Self::parent)
    }

    fn dfs(&self) -> impl Iterator<Item = Self> {
        let this = *self;
        (self.index..self.entry().subtree_end).map_while(move |index| this.node_at(Some(index)))
    }

    fn children(&self) -> impl ExactSizeIterator<Item = Self> {
        let next = self.first_child();
        Children { next, left: next.map_or(0, |_| self.entry().children as usize) }
    }

    fn next(&self) -> Option<Self> {
        self.node_at(self.entry().next)
    }

    fn prev(&self) -> Option<Self> {
        self.node_at(self.entry().previous)
    }

    fn next_all(&self) -> impl Iterator<Item = Self> {
        successors(SgNode::next(self), SgNode::next)
    }

    fn prev_all(&self) -> impl Iterator<Item = Self> {
        successors(self.prev(), Self::prev)
    }

    fn kind(&self) -> Cow<'_, str> {
        let name = self.tree.grammar.node_kind_for_id(self.kind_id());
        Cow::Borrowed(name.unwrap_or_default())
    }

    fn kind_id(&self) -> u16 {
        self.entry().kind
    }

    fn node_id(&self) -> usize {
        self.index as usize
    }

    fn range(&self) -> Range<usize> {
        self.entry().start as usize..self.entry().end as usize
    }

    fn start_pos(&self) -> Position {
        self.position(self.entry().start)
    }

    fn end_pos(&self) -> Position {
        self.position(self.entry().end)
    }

    fn is_named(&self) -> bool {
        self.entry().is_named
    }

    fn is_named_leaf(&self) -> bool {
        !self.children().any(|child| child.is_named())
    }

    fn is_leaf(&self) -> bool {
        self.entry().children == 0
    }

    fn is_missing(&self) -> bool {
        self.entry().is_missing
    }

    fn is_extra(&self) -> bool {
        self.entry().is_extra
    }

    fn field(&self, name: &str) -> Option<Self> {
        let field = self.tree.grammar.field_id_for_name(name)?;
        self.child_by_field_id(field.into())
    }

    fn field_children(&self, field: Option<u16>) -> impl Iterator<Item = Self> {
        self.in_field(field)
    }

    fn child_by_field_id(&self, field: u16) -> Option<Self> {
        self.in_field(Some(field)).next()
    }
}

impl Doc for Tree {
    type Source = String;
    type Lang = SupportLang;
    type Node<'t> = TreeNode<'t>;

    fn get_lang(&self) -> &SupportLang {
        &self.language
    }

    fn get_source(&self) -> &String {
        &self.text
    }

    fn do_edit(&mut self, _: &Edit<String>) -> Result<(), String> {
        Err("a tree that is matched is not edited".to_owned())
    }

    fn root_node(&self) -> TreeNode<'_> {
        TreeNode { tree: self, index: 0 }
    }

    fn get_node_text<'t>(&'t self, node: &TreeNode<'t>) -> Cow<'t, str> {
        let text = &self.text[node.range()];
        Cow::Borrowed(if self.use_up_steps(1 + text.len() / BYTES_PER_STEP).is_some() { text } else { "" })
    }
}
