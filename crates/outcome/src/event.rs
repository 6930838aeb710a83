//! One event, reduced to the fields that are needed; the rest of it is passed over.

use super::fields::{FIELDS, Field, Keep, MAX_NAME, MAX_TEXT, ways};
use serde_json::Value;
use strict_json::{Builder, Event, JsonType, Sink};

/// A text buffer that grew over this many bytes is given back when its event is over.
const SPARE: usize = 64 << 10;
/// So many elements of an array are kept.
const MAX_LIST: usize = 1000;

#[derive(Debug, Default)]
struct Slot {
    /// The type of what the field holds; none where it is missing or null.
    json_type: Option<JsonType>,
    text: String,
    list: Vec<String>,
    number: f64,
    /// Where the text begins.
    start: u64,
    /// Length of the whole text in bytes, kept or not.
    length: u64,
}

/// The fields of one event.
#[derive(Debug)]
pub(super) struct EventFields {
    slots: Vec<Slot>,
    /// The fields that were filled.
    filled: Vec<Field>,
    pub(super) input: Option<Value>,
    /// A text was longer than what is kept.
    pub(super) cut: bool,
}

impl EventFields {
    fn new() -> Self {
        let slots = FIELDS.iter().map(|_| Slot::default()).collect();
        Self { slots, filled: Vec::new(), input: None, cut: false }
    }

    fn clear(&mut self) {
        for field in self.filled.drain(..) {
            let slot = &mut self.slots[field as usize];
            slot.json_type = None;
            slot.start = u64::MAX;
            slot.text.clear();
            slot.text.shrink_to(SPARE);
            slot.list.clear();
        }
        self.input = None;
        self.cut = false;
    }

    fn fill(&mut self, field: Field, json_type: JsonType) -> &mut Slot {
        let slot = &mut self.slots[field as usize];
        if slot.json_type.is_none() {
            self.filled.push(field);
        }
        slot.json_type = Some(json_type);
        slot
    }

    fn slot(&self, field: Field, json_type: JsonType) -> Option<&Slot> {
        Some(&self.slots[field as usize]).filter(|slot| slot.json_type == Some(json_type))
    }

    /// Whether the field is there and not null.
    pub(super) fn has(&self, field: Field) -> bool {
        self.slots[field as usize].json_type.is_some()
    }

    /// A text, or what is kept of it.
    pub(super) fn text(&self, field: Field) -> Option<&str> {
        self.slot(field, JsonType::String).map(|slot| slot.text.as_str())
    }

    /// A text that is not empty, as a name or id should be.
    pub(super) fn name(&self, field: Field) -> Option<&str> {
        self.text(field).filter(|text| !text.is_empty())
    }

    /// The same, to be kept.
    pub(super) fn owned(&self, field: Field) -> Option<String> {
        self.name(field).map(str::to_owned)
    }

    /// The whole length of a text, in bytes.
    pub(super) fn length(&self, field: Field) -> Option<u64> {
        self.slot(field, JsonType::String).map(|slot| slot.length)
    }

    /// A text; none if it is longer than what is kept.
    pub(super) fn whole_text(&self, field: Field) -> Option<&str> {
        self.text(field).filter(|text| self.length(field) == Some(text.len() as u64))
    }

    /// The texts of a field in an array, or of a field that is one text.
    pub(super) fn list(&self, field: Field) -> &[String] {
        &self.slots[field as usize].list
    }

    /// A finite number.
    pub(super) fn number(&self, field: Field) -> Option<f64> {
        self.slot(field, JsonType::Number).map(|slot| slot.number).filter(|number| number.is_finite())
    }

    /// A whole number that is not negative.
    pub(super) fn count(&self, field: Field) -> Option<u64> {
        let number = self.number(field).filter(|number| *number >= 0.0 && number.fract() == 0.0)?;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "whole and positive")]
        Some(number as u64)
    }

    /// A truth value.
    pub(super) fn flag(&self, field: Field) -> Option<bool> {
        self.slot(field, JsonType::Boolean).map(|slot| slot.number != 0.0)
    }
}

/// A member on the way to a field.
#[derive(Debug, Default)]
struct PathNode {
    /// Its own members that are on the way to one, by key; `*` is each element of an array.
    members: Vec<Member>,
    field: Option<Field>,
}

#[derive(Debug)]
struct Member {
    /// Tells most keys apart without looking at all of their bytes.
    tag: u32,
    key: &'static str,
    node: usize,
}

/// Length, first and last byte.
fn tag(key: &[u8]) -> u32 {
    let [first, .., last] = key else { return u32::MAX };
    u32::from_le_bytes([*first, *last, key.len().min(255) as u8, 0])
}

/// Walks through an event and fills its fields.
#[derive(Debug)]
pub(super) struct Walk {
    pub(super) event: EventFields,
    nodes: Vec<PathNode>,
    full: bool,
    /// The nodes of the open containers, each with the number of the element in an array.
    open: Vec<(usize, Option<usize>)>,
    /// The node of the value that comes next; none when it is not needed.
    next: Option<usize>,
    /// How many containers are open that are not needed.
    skipped: u32,
    /// Builds the input of a tool.
    building: Option<Builder>,
}

impl Walk {
    pub(super) fn new(full: bool) -> Self {
        let mut nodes = vec![PathNode::default()];
        for (field, places) in FIELDS {
            for way in places.iter().flat_map(|place| ways(place)) {
                let mut at = 0;
                for key in way {
                    let known = nodes[at].members.iter().find(|member| member.key == key);
                    at = known.map(|member| member.node).unwrap_or_else(|| {
                        nodes.push(PathNode::default());
                        let node = nodes.len() - 1;
                        nodes[at].members.push(Member { tag: tag(key.as_bytes()), key, node });
                        node
                    });
                }
                nodes[at].field = Some(*field);
            }
        }
        let event = EventFields::new();
        Self { event, nodes, full, open: Vec::new(), next: None, skipped: 0, building: None }
    }

    /// A new event begins.
    pub(super) fn begin(&mut self) {
        self.event.clear();
        self.open.clear();
        self.next = Some(0);
        self.skipped = 0;
        self.building = None;
    }

    /// Whether the text of the value that comes next is needed.
    pub(super) fn wants_text(&self) -> bool {
        self.building.is_some()
            || self.field().is_some_and(|field| match field.keep() {
                Keep::Full => self.full,
                // Other parts than texts have text too, and most say first what they are.
                _ if field == Field::Text => {
                    let kind = self.event.text(Field::PartType);
                    kind.is_none_or(|kind| kind == "text" || self.full && kind == "reasoning")
                }
                _ => true,
            })
    }

    /// The next piece of the event.
    pub(super) fn event(&mut self, event: Event<'_>) {
        if let Some(builder) = &mut self.building {
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
                self.value_over();
            }
            Event::Boolean(_, value) => {
                if let Some(field) = self.field() {
                    self.event.fill(field, JsonType::Boolean).number = f64::from(u8::from(value));
                }
                self.value_over();
            }
            Event::Null(_) => self.value_over(),
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
                self.building = Some(builder);
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
            && let Some(mut builder) = self.building.take()
        {
            self.event.input = builder.take();
            self.event.cut |= self.event.input.is_none();
        }
        self.value_over();
    }

    /// Behind a value: in an array the next element comes.
    fn value_over(&mut self) {
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
        let wanted = tag(key);
        let members = self.nodes[node].members.iter();
        let mut same = members.filter(|member| member.tag == wanted && member.key.as_bytes() == key);
        same.next().map(|member| member.node)
    }

    /// Whether the key that comes next is needed, since the value that it is in is built.
    pub(super) fn wants_key(&mut self, key: &[u8]) -> bool {
        if self.skipped == 0
            && let Some((node, None)) = self.open.last()
        {
            self.next = self.member(*node, key);
        }
        self.building.is_some()
    }

    fn field(&self) -> Option<Field> {
        self.next.filter(|_| self.skipped == 0).and_then(|node| self.nodes[node].field)
    }

    /// A piece of the text that begins at `start`; the last one ends it.
    fn text(&mut self, text: &str, start: u64, ends: bool) {
        if let Some(field) = self.field() {
            // The element of the innermost array that the field is in.
            let element = self.open.iter().rev().find_map(|(_, element)| *element).unwrap_or(0);
            let slot = self.event.fill(field, JsonType::String);
            if slot.start != start {
                slot.start = start;
                slot.text.clear();
                slot.length = 0;
            }
            slot.length += text.len() as u64;
            let most = match field.keep() {
                Keep::Bytes(most) => most,
                Keep::Full | Keep::Short if self.full => MAX_TEXT,
                Keep::Short => MAX_NAME,
                Keep::Full | Keep::Length => 0,
            };
            let fits = text.floor_char_boundary(most - slot.text.len().min(most));
            slot.text.push_str(&text[..fits]);
            let listed = matches!(field, Field::PatchPaths | Field::PatchKinds | Field::PermissionPatterns);
            if ends && listed && element < MAX_LIST {
                slot.list.resize(element, String::new());
                slot.list.push(slot.text.clone());
            }
            if ends && field == Field::ToolInput && self.full {
                self.event.input = Some(Value::String(slot.text.clone()));
            }
            self.event.cut |= fits < text.len() && most == MAX_TEXT;
        }
        if ends {
            self.value_over();
        }
    }
}
