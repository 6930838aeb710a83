//! The merged shape of a document or of records: which keys and types stand where, and how many.
//!
//! Memory depends on the number of different places, which is bounded, not on the number of values.

use agentnative_contract::type_keys;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use strict_json::{Event, JsonType, Sink};
use xxhash_rust::xxh3::xxh3_64;

/// More keys at one place than this are a map of data, not a record: the rest is not kept.
const MAX_KEYS: usize = 4096;
/// Deeper places than this are not kept.
const MAX_DEPTH: usize = 64;
/// More kinds of records at one place than this are not told apart.
const MAX_KINDS: usize = 1024;

/// All values seen at one place.
#[derive(Debug, Clone, Default)]
pub struct Node {
    /// How many of each type.
    pub types: BTreeMap<JsonType, u64>,
    /// The members of the objects.
    pub keys: BTreeMap<String, Node>,
    /// Some keys were not kept.
    pub more_keys: bool,
    /// The elements of the arrays, merged; absent when there were none.
    pub items: Option<Box<Node>>,
    /// For a root of records or an array: the kinds of objects in it.
    pub kinds: Kinds,
}

impl Node {
    pub fn count(&self) -> u64 {
        self.types.values().sum()
    }

    pub fn objects(&self) -> u64 {
        self.types.get(&JsonType::Object).copied().unwrap_or(0)
    }

    pub fn elements(&self) -> u64 {
        self.items.as_ref().map_or(0, |items| items.count())
    }
}

/// Kinds of objects by their keys and types, each with how many there were and a sum over the values
/// in them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Kinds {
    /// With all keys.
    pub whole: BTreeMap<String, Kind>,
    /// Without the key that says the kind of record ([`type_keys`]), where there is one.
    pub untagged: BTreeMap<String, Kind>,
    /// There were more kinds than are kept.
    pub more: bool,
}

/// Objects that are alike.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Kind {
    pub count: u64,
    /// Sum of hashes over their keys and values, in which the order of objects does not matter. Strings
    /// that name a format are left out: they differ between formats by right.
    pub values: u64,
}

/// The shape of a whole stream.
pub type Shape = Node;

/// Builds a [`Shape`] while reading.
#[derive(Default)]
pub struct ShapeSink {
    root: Node,
    frames: Vec<Frame>,
    /// Whether the last part of a longer string is met, which is left out.
    in_parts: bool,
}

struct Frame {
    /// Its node, taken from its place until it is closed; none where it is too deep or under a key that is
    /// not kept.
    node: Option<Node>,
    is_object: bool,
    /// The member that comes next.
    key: String,
    /// For an object: its keys with their types, and what says its kind.
    members: BTreeMap<String, JsonType>,
    tag: Option<(&'static str, u64)>,
    values: u64,
}

impl ShapeSink {
    /// The shape of what was read.
    pub fn finish(mut self) -> Shape {
        while !self.frames.is_empty() {
            self.close();
        }
        self.root
    }

    /// Does something with the node that the next value belongs to, if that is kept.
    fn with_place<R>(&mut self, then: impl FnOnce(&mut Node) -> R) -> Option<R> {
        let Some(frame) = self.frames.last_mut() else { return Some(then(&mut self.root)) };
        let node = frame.node.as_mut()?;
        if !frame.is_object {
            return Some(then(node.items.get_or_insert_default()));
        }
        if let Some(child) = node.keys.get_mut(&frame.key) {
            return Some(then(child));
        }
        node.more_keys |= node.keys.len() >= MAX_KEYS;
        (!node.more_keys).then(|| then(node.keys.entry(frame.key.clone()).or_default()))
    }

    fn enter(&mut self, of: JsonType) {
        if let Some(frame) = self.frames.last_mut().filter(|frame| frame.is_object)
            && frame.members.len() < MAX_KEYS
        {
            frame.members.insert(frame.key.clone(), of);
        }
        self.with_place(|node| *node.types.entry(of).or_default() += 1);
    }

    fn open(&mut self, of: JsonType) {
        self.enter(of);
        let is_deep = self.frames.len() >= MAX_DEPTH;
        let node = if is_deep { None } else { self.with_place(std::mem::take) };
        self.frames.push(Frame {
            node,
            is_object: of == JsonType::Object,
            key: String::new(),
            members: BTreeMap::new(),
            tag: None,
            values: 0,
        });
    }

    fn close(&mut self) {
        let Some(mut frame) = self.frames.pop() else { return };
        if let Some(node) = frame.node.take() {
            self.with_place(|place| *place = node);
        }
        // Where the object counts as one of several: records, and elements of an array.
        let list = match self.frames.last_mut() {
            None => Some(&mut self.root),
            Some(parent) => {
                parent.values = parent.values.wrapping_add(frame.values);
                parent.node.as_mut().filter(|_| !parent.is_object)
            }
        };
        if let (true, Some(list)) = (frame.is_object, list) {
            list.kinds.add(&frame);
        }
    }

    fn value(&mut self, text: &[u8]) -> u64 {
        let Some(frame) = self.frames.last_mut() else { return 0 };
        let hash = xxh3_64(frame.key.as_bytes()).rotate_left(17) ^ xxh3_64(text);
        frame.values = frame.values.wrapping_add(hash);
        hash
    }
}

impl Kinds {
    fn add(&mut self, object: &Frame) {
        let tag = object.tag.map(|(key, _)| key);
        let values = object.values.wrapping_sub(object.tag.map_or(0, |(_, hash)| hash));
        self.more |= !count(&mut self.whole, signature(object, None), object.values);
        self.more |= !count(&mut self.untagged, signature(object, tag), values);
    }

    /// How many objects there are.
    pub fn count(&self) -> u64 {
        self.whole.values().map(|kind| kind.count).sum()
    }
}

fn signature(object: &Frame, without: Option<&str>) -> String {
    let members = object.members.iter().filter(|(key, _)| Some(key.as_str()) != without);
    members.map(|(key, of)| format!("{key}: {}", of.name())).collect::<Vec<_>>().join(", ")
}

fn count(kinds: &mut BTreeMap<String, Kind>, signature: String, values: u64) -> bool {
    let full = kinds.len() >= MAX_KINDS;
    let kind = match kinds.entry(signature) {
        Entry::Occupied(entry) => entry.into_mut(),
        Entry::Vacant(_) if full => return false,
        Entry::Vacant(entry) => entry.insert(Kind::default()),
    };
    kind.count += 1;
    kind.values = kind.values.wrapping_add(values);
    true
}

impl Sink for ShapeSink {
    fn end_record(&mut self, _offset: u64, _whole: bool) {
        while !self.frames.is_empty() {
            self.close();
        }
    }

    #[inline(always)]
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Begin(json_type, _) => self.open(json_type),
            Event::End(_) => self.close(),
            Event::Key(_, text) => self.key(text),
            Event::StringPart(..) => self.in_parts = true,
            Event::String(_, text) => self.string(text),
            Event::Number(_, text) => {
                // 1.0 and 1 are one number.
                match text.parse::<f64>() {
                    Ok(number) => self.value(&number.to_bits().to_le_bytes()),
                    Err(_) => self.value(text.as_bytes()),
                };
                self.enter(JsonType::Number);
            }
            Event::Boolean(_, value) => {
                self.value(if value { b"true" } else { b"false" });
                self.enter(JsonType::Boolean);
            }
            Event::Null(_) => {
                self.enter(JsonType::Null);
            }
        }
    }
}

impl ShapeSink {
    fn key(&mut self, text: &str) {
        let Some(frame) = self.frames.last_mut() else { return };
        frame.key.clear();
        frame.key.push_str(text);
    }

    fn string(&mut self, text: &str) {
        let long = std::mem::take(&mut self.in_parts);
        let counts = !long && !text.contains("json");
        let hash = if counts { self.value(text.as_bytes()) } else { 0 };
        if let Some(frame) = self.frames.last_mut().filter(|frame| frame.is_object && frame.tag.is_none())
            && let Some(tag) = type_keys().find(|tag| *tag == frame.key)
        {
            frame.tag = Some((tag, hash));
        }
        self.enter(JsonType::String);
    }
}
