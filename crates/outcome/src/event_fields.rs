//! Reads the fields of an event that mappers need, and skips the rest.

use super::fields::{FIELDS, Field, MAX_NAME, MAX_TEXT, TextLimit, expand_path};
use serde_json::Value;
use strict_json::{Builder, Event, JsonType, Sink};

/// Maximum capacity of the buffer of a field that is reused for the next event, in bytes.
const MAX_SPARE: usize = 64 << 10;
/// Maximum number of elements of an array that are kept.
const MAX_ELEMENTS: usize = 1000;

#[derive(Debug, Default)]
struct FieldSlot {
    /// Type of the value; `None` if it is missing or null.
    json_type: Option<JsonType>,
    text: String,
    list: Vec<String>,
    number: f64,
    /// Byte offset of the text in the stream.
    start: u64,
    /// Length of the complete text in bytes.
    length: u64,
}

/// The fields of one event that mappers need.
#[derive(Debug)]
pub(super) struct EventFields {
    slots: Vec<FieldSlot>,
    /// Fields that the current event contains.
    filled: Vec<Field>,
    pub(super) input: Option<Value>,
    /// True if a text was truncated.
    pub(super) truncated: bool,
}

impl EventFields {
    fn new() -> Self {
        let slots = FIELDS.iter().map(|_| FieldSlot::default()).collect();
        Self { slots, filled: Vec::new(), input: None, truncated: false }
    }

    fn clear(&mut self) {
        for field in self.filled.drain(..) {
            let slot = &mut self.slots[field as usize];
            slot.json_type = None;
            slot.start = u64::MAX;
            slot.text.clear();
            slot.text.shrink_to(MAX_SPARE);
            slot.list.clear();
        }
        self.input = None;
        self.truncated = false;
    }

    fn fill(&mut self, field: Field, json_type: JsonType) -> &mut FieldSlot {
        let slot = &mut self.slots[field as usize];
        if slot.json_type.is_none() {
            self.filled.push(field);
        }
        slot.json_type = Some(json_type);
        slot
    }

    fn slot(&self, field: Field, json_type: JsonType) -> Option<&FieldSlot> {
        Some(&self.slots[field as usize]).filter(|slot| slot.json_type == Some(json_type))
    }

    /// True if the event has the field and its value is not null.
    pub(super) fn has(&self, field: Field) -> bool {
        self.slots[field as usize].json_type.is_some()
    }

    /// Returns the text of a field, possibly truncated; `None` if the value is not a string.
    pub(super) fn text(&self, field: Field) -> Option<&str> {
        self.slot(field, JsonType::String).map(|slot| slot.text.as_str())
    }

    /// Returns the text of a field if it is not empty, such as a name or an ID.
    pub(super) fn nonempty(&self, field: Field) -> Option<&str> {
        self.text(field).filter(|text| !text.is_empty())
    }

    /// Returns the text of a field as a `String` if it is not empty.
    pub(super) fn string(&self, field: Field) -> Option<String> {
        self.nonempty(field).map(str::to_owned)
    }

    /// Returns the length of the text of a field, in bytes, before it was truncated.
    pub(super) fn length(&self, field: Field) -> Option<u64> {
        self.slot(field, JsonType::String).map(|slot| slot.length)
    }

    /// Returns the text of a field, unless it was truncated.
    pub(super) fn complete_text(&self, field: Field) -> Option<&str> {
        self.text(field).filter(|text| self.length(field) == Some(text.len() as u64))
    }

    /// Returns the texts of a field whose value is an array of strings. A single string counts as an array with one
    /// element.
    pub(super) fn list(&self, field: Field) -> &[String] {
        &self.slots[field as usize].list
    }

    /// Returns the value of a field if it is a finite number.
    pub(super) fn number(&self, field: Field) -> Option<f64> {
        self.slot(field, JsonType::Number).map(|slot| slot.number).filter(|number| number.is_finite())
    }

    /// Returns the value of a field if it is a non-negative integer.
    pub(super) fn count(&self, field: Field) -> Option<u64> {
        let number = self.number(field).filter(|number| *number >= 0.0 && number.fract() == 0.0)?;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "whole and positive")]
        Some(number as u64)
    }

    pub(super) fn flag(&self, field: Field) -> Option<bool> {
        self.slot(field, JsonType::Boolean).map(|slot| slot.number != 0.0)
    }
}

/// A node in the tree of keys that leads to the fields.
#[derive(Debug, Default)]
struct PathNode {
    /// Children of the node. The key `*` stands for each element of an array.
    members: Vec<Member>,
    field: Option<Field>,
}

#[derive(Debug)]
struct Member {
    /// Result of [`tag`] for the key, which distinguishes most keys without comparing all bytes.
    tag: u32,
    key: &'static str,
    node: usize,
}

/// Returns the length, the first and the last byte of a key as one number, which is fast to compare.
fn tag(key: &[u8]) -> u32 {
    let [first, .., last] = key else { return u32::MAX };
    u32::from_le_bytes([*first, *last, key.len().min(255) as u8, 0])
}

/// Reads the fields of events.
#[derive(Debug)]
pub(super) struct FieldReader {
    pub(super) event: EventFields,
    nodes: Vec<PathNode>,
    full: bool,
    /// Nodes of the open objects and arrays, outermost first. Arrays have the index of the current element.
    open: Vec<(usize, Option<usize>)>,
    /// Node of the next value; `None` if the value is not needed.
    next: Option<usize>,
    /// Number of open objects and arrays that contain no field.
    skipped: u32,
    /// Builds the input of a tool call as a JSON value.
    input_builder: Option<Builder>,
}

impl FieldReader {
    pub(super) fn new(full: bool) -> Self {
        let mut nodes = vec![PathNode::default()];
        for (field, paths) in FIELDS {
            for key_path in paths.iter().flat_map(|path| expand_path(path)) {
                let mut current = 0;
                for key in key_path {
                    let known = nodes[current].members.iter().find(|member| member.key == key);
                    current = known.map(|member| member.node).unwrap_or_else(|| {
                        nodes.push(PathNode::default());
                        let node = nodes.len() - 1;
                        nodes[current].members.push(Member { tag: tag(key.as_bytes()), key, node });
                        node
                    });
                }
                nodes[current].field = Some(*field);
            }
        }
        let event = EventFields::new();
        Self { event, nodes, full, open: Vec::new(), next: None, skipped: 0, input_builder: None }
    }

    pub(super) fn begin(&mut self) {
        self.event.clear();
        self.open.clear();
        self.next = Some(0);
        self.skipped = 0;
        self.input_builder = None;
    }

    /// True if the text of the next value is needed.
    pub(super) fn needs_text(&self) -> bool {
        self.input_builder.is_some()
            || self.field().is_some_and(|field| match field.text_limit() {
                TextLimit::OnlyFull => self.full,
                // Parts of other types have a text as well; most have their type before it.
                _ if field == Field::Text => {
                    let kind = self.event.text(Field::PartType);
                    kind.is_none_or(|kind| kind == "text" || self.full && kind == "reasoning")
                }
                _ => true,
            })
    }

    /// Handles the next token of the event, such as a key or a number.
    pub(super) fn event(&mut self, event: Event<'_>) {
        if let Some(builder) = &mut self.input_builder {
            builder.event(event);
        }
        match event {
            Event::Begin(container, start) => self.open(event, container, start),
            Event::End(_) => self.close(),
            Event::Key(..) => {}
            Event::StringPart(start, text) => self.text(text, start, false),
            Event::String(span, text) => self.text(text, span.start, true),
            Event::Number(_, text) => {
                if let Some(field) = self.field() {
                    self.event.fill(field, JsonType::Number).number = text.parse().unwrap_or(f64::NAN);
                }
                self.end_value();
            }
            Event::Boolean(_, value) => {
                if let Some(field) = self.field() {
                    self.event.fill(field, JsonType::Boolean).number = f64::from(u8::from(value));
                }
                self.end_value();
            }
            Event::Null(_) => self.end_value(),
        }
    }

    fn open(&mut self, event: Event<'_>, container: JsonType, start: u64) {
        let node = self.next.filter(|_| self.skipped == 0);
        let Some(node) = node else {
            self.skipped += 1;
            return;
        };
        if let Some(field) = self.nodes[node].field {
            self.event.fill(field, container);
            if field == Field::ToolInput && self.full {
                let mut builder = Builder::new(start, MAX_TEXT as u64);
                builder.event(event);
                self.input_builder = Some(builder);
            }
        }
        let array = container == JsonType::Array;
        self.open.push((node, array.then_some(0)));
        self.next = if array { self.member(node, b"*") } else { None };
    }

    fn close(&mut self) {
        if self.skipped > 0 {
            self.skipped -= 1;
        } else if let Some((node, _)) = self.open.pop()
            && self.nodes[node].field == Some(Field::ToolInput)
            && let Some(mut builder) = self.input_builder.take()
        {
            self.event.input = builder.take();
            self.event.truncated |= self.event.input.is_none();
        }
        self.end_value();
    }

    /// Ends a value. If it is in an array, moves to the next element.
    fn end_value(&mut self) {
        if self.skipped > 0 {
            return;
        }
        self.next = match self.open.last_mut() {
            Some((node, Some(element))) => {
                *element += 1;
                let node = *node;
                self.member(node, b"*")
            }
            _ => None,
        };
    }

    fn member(&self, node: usize, key: &[u8]) -> Option<usize> {
        let key_tag = tag(key);
        let members = self.nodes[node].members.iter();
        let mut matching = members.filter(|member| member.tag == key_tag && member.key.as_bytes() == key);
        matching.next().map(|member| member.node)
    }

    /// Moves to the member with this key. Returns true if the key itself is needed, because the value around it is
    /// built.
    pub(super) fn needs_key(&mut self, key: &[u8]) -> bool {
        if self.skipped == 0
            && let Some((node, None)) = self.open.last()
        {
            self.next = self.member(*node, key);
        }
        self.input_builder.is_some()
    }

    fn field(&self) -> Option<Field> {
        self.next.filter(|_| self.skipped == 0).and_then(|node| self.nodes[node].field)
    }

    /// Handles a part of a string that begins at the byte offset `start`. `ends` is true for the last part.
    fn text(&mut self, text: &str, start: u64, ends: bool) {
        if let Some(field) = self.field() {
            // Index of the element in the innermost array.
            let element = self.open.iter().rev().find_map(|(_, element)| *element).unwrap_or(0);
            let slot = self.event.fill(field, JsonType::String);
            if slot.start != start {
                slot.start = start;
                slot.text.clear();
                slot.length = 0;
            }
            slot.length += text.len() as u64;
            let max = match field.text_limit() {
                TextLimit::Bytes(max) => max,
                TextLimit::OnlyFull | TextLimit::Name if self.full => MAX_TEXT,
                TextLimit::Name => MAX_NAME,
                TextLimit::OnlyFull | TextLimit::Length => 0,
            };
            let fits = text.floor_char_boundary(max - slot.text.len().min(max));
            slot.text.push_str(&text[..fits]);
            let listed = matches!(field, Field::PatchPaths | Field::PatchKinds | Field::PermissionPatterns);
            if ends && listed && element < MAX_ELEMENTS {
                slot.list.resize(element, String::new());
                slot.list.push(slot.text.clone());
            }
            if ends && field == Field::ToolInput && self.full {
                self.event.input = Some(Value::String(slot.text.clone()));
            }
            self.event.truncated |= fits < text.len() && max == MAX_TEXT;
        }
        if ends {
            self.end_value();
        }
    }
}
