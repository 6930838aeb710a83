//! Builds a [`Shape`] while reading, in time that depends on the values and not on the names of their places: a key is
//! compared with the one that followed the last time.

use super::shape::{Kind, Kinds, MAX_KEYS, MAX_KINDS, Node, Shape};
use agentnative_contract::type_keys;
use foldhash::fast::RandomState;
use memchr::memmem::Finder;
use std::collections::{BTreeMap, HashMap};
use strict_json::{Event, JsonType, Key, Sink, Tape, TapeNode};
use xxhash_rust::xxh3::xxh3_64;

/// Deeper places than this are not kept.
const MAX_DEPTH: usize = 64;
/// More orders of members than this are looked up by their signature.
const MAX_ORDERS: usize = 4 * MAX_KINDS;
/// Longer strings come in parts where they are not read at once, in bytes.
const LONG: usize = 64 << 10;
/// Up to so many keys are compared one by one.
const FEW: usize = 8;

/// The types that are counted, in their order.
const TYPES: [JsonType; 6] = [
    JsonType::Null,
    JsonType::Boolean,
    JsonType::Number,
    JsonType::String,
    JsonType::Array,
    JsonType::Object,
];

/// The members of an object in their order: which of the keys of its place, and of which type.
type Order = Vec<(u32, JsonType)>;

/// Builds a [`Shape`] while reading.
pub struct ShapeSink {
    /// All places; the first is the root.
    places: Vec<Place>,
    /// The open objects and arrays, `depth` of them; what is behind is there to be used again.
    frames: Vec<Frame>,
    depth: usize,
    /// Whether the last part of a longer string is met, which is left out.
    in_parts: bool,
    /// The record, where it was read at once, and where its open objects and arrays end on it.
    record: Tape,
    ends: Vec<usize>,
    /// Finds the word in strings that differ between formats.
    json: Finder<'static>,
}

/// A place, as a [`Node`] is one.
#[derive(Default)]
struct Place {
    /// How many values of each of the [`TYPES`].
    types: [u64; TYPES.len()],
    /// In the order of their first appearance.
    keys: Vec<PlaceKey>,
    /// The same by name, where they are more than a [few](FEW).
    by_name: HashMap<Box<str>, u32>,
    more_keys: bool,
    items: Option<usize>,
    kinds: PlaceKinds,
    /// Where its objects whose members have this order are counted.
    orders: HashMap<Order, [Option<usize>; 2], RandomState>,
}

struct PlaceKey {
    name: Key,
    /// What stands for it in the hash of a value.
    hash: u64,
    /// It says the kind of a record.
    tag: Option<&'static str>,
    place: usize,
}

/// The kinds of objects at a place.
#[derive(Default)]
struct PlaceKinds {
    whole: Signatures,
    untagged: Signatures,
    more: bool,
}

/// Kinds by their signature.
#[derive(Default)]
struct Signatures {
    at: BTreeMap<String, usize>,
    kinds: Vec<Kind>,
}

#[derive(Default)]
struct Frame {
    /// Its place; none where it is too deep or under a key that is not kept.
    place: Option<usize>,
    is_object: bool,
    /// The member that comes next: which of the keys of its place, if that has it.
    member: Option<usize>,
    /// Its name, where the place does not have it.
    name: String,
    hash: u64,
    key_tag: Option<&'static str>,
    /// For an object: its members so far, and those whose keys its place does not have.
    order: Order,
    others: BTreeMap<String, JsonType>,
    /// What says its kind, with the hash of that.
    tag: Option<(&'static str, u64)>,
    values: u64,
}

impl Default for ShapeSink {
    fn default() -> Self {
        let (frames, ends) = (Vec::new(), Vec::new());
        let places = vec![Place::default()];
        Self {
            places,
            frames,
            depth: 0,
            in_parts: false,
            record: Tape::default(),
            ends,
            json: Finder::new("json"),
        }
    }
}

impl ShapeSink {
    /// The shape of what was read.
    pub fn finish(mut self) -> Shape {
        while self.depth > 0 {
            self.close();
        }
        self.node(0)
    }

    /// The node that a place is.
    fn node(&mut self, at: usize) -> Node {
        let place = std::mem::take(&mut self.places[at]);
        let types = TYPES.into_iter().zip(place.types).filter(|(_, count)| *count > 0).collect();
        let keys =
            place.keys.into_iter().map(|key| (key.name.text().to_owned(), self.node(key.place))).collect();
        let items = place.items.map(|items| Box::new(self.node(items)));
        let PlaceKinds { whole, untagged, more } = place.kinds;
        let kinds = Kinds { whole: whole.finish(), untagged: untagged.finish(), more };
        Node { types, keys, more_keys: place.more_keys, items, kinds }
    }

    /// The innermost object or array.
    fn top(&mut self) -> Option<&mut Frame> {
        self.frames[..self.depth].last_mut()
    }

    /// The place of the next value, if that is kept.
    fn place(&mut self) -> Option<usize> {
        let Some(frame) = self.frames[..self.depth].last_mut() else { return Some(0) };
        let (at, next) = (frame.place?, self.places.len());
        let place = &mut self.places[at];
        let found = match (frame.is_object, frame.member) {
            (false, _) => *place.items.get_or_insert(next),
            (true, Some(member)) => place.keys[member].place,
            (true, None) => {
                place.more_keys |= place.keys.len() >= MAX_KEYS;
                if place.more_keys {
                    return None;
                }
                frame.member = Some(place.keys.len());
                place.add(&frame.name, frame.hash, frame.key_tag, next);
                next
            }
        };
        if found == next {
            self.places.push(Place::default());
        }
        Some(found)
    }

    fn enter(&mut self, of: JsonType) -> Option<usize> {
        let place = self.place();
        if let Some(frame) = self.top().filter(|frame| frame.is_object)
            && frame.order.len() + frame.others.len() < MAX_KEYS
        {
            match frame.member {
                Some(member) => frame.order.push((member as u32, of)),
                None => drop(frame.others.insert(frame.name.clone(), of)),
            }
        }
        if let Some(place) = place {
            self.places[place].types[of as usize] += 1;
        }
        place
    }

    fn open(&mut self, of: JsonType) {
        let place = self.enter(of).filter(|_| self.depth < MAX_DEPTH);
        if self.frames.len() == self.depth {
            self.frames.push(Frame::default());
        }
        let frame = &mut self.frames[self.depth];
        (frame.place, frame.is_object, frame.member) = (place, of == JsonType::Object, None);
        (frame.hash, frame.key_tag, frame.tag, frame.values) = (key_hash(""), None, None, 0);
        frame.order.clear();
        frame.others.clear();
        self.depth += 1;
    }

    fn close(&mut self) {
        let Some(inner) = self.depth.checked_sub(1) else { return };
        self.depth = inner;
        let (outer, rest) = self.frames.split_at_mut(inner);
        let frame = &rest[0];
        // Where the object counts as one of several: records, and elements of an array.
        let list = match outer.last_mut() {
            None => Some(0),
            Some(parent) => {
                parent.values = parent.values.wrapping_add(frame.values);
                parent.place.filter(|_| !parent.is_object)
            }
        };
        if let (true, Some(list)) = (frame.is_object, list) {
            self.count(inner, list);
        }
    }

    /// Counts an object as one of those of a place.
    fn count(&mut self, frame: usize, list: usize) {
        let frame = &self.frames[frame];
        let untagged = frame.values.wrapping_sub(frame.tag.map_or(0, |(_, hash)| hash));
        let own = frame.place.filter(|_| frame.others.is_empty());
        let at = match own.and_then(|own| self.places[own].orders.get(&frame.order)) {
            Some(known) => *known,
            None => {
                let members = frame.members(frame.place.map(|place| &self.places[place].keys[..]));
                let tag = frame.tag.map(|(key, _)| key);
                let (whole, untagged) = (signature(&members, None), signature(&members, tag));
                let kinds = &mut self.places[list].kinds;
                let at = [kinds.whole.at(whole), kinds.untagged.at(untagged)];
                if let Some(orders) = own.map(|own| &mut self.places[own].orders)
                    && orders.len() < MAX_ORDERS
                {
                    orders.insert(frame.order.clone(), at);
                }
                at
            }
        };
        let kinds = &mut self.places[list].kinds;
        kinds.more |= at.contains(&None);
        kinds.whole.count(at[0], frame.values);
        kinds.untagged.count(at[1], untagged);
    }

    fn key(&mut self, name: &str) {
        let Some(frame) = self.frames[..self.depth].last_mut() else { return };
        let place = frame.place.map(|place| &self.places[place]);
        let next = frame.member.map_or(0, |member| member + 1);
        frame.member = place.and_then(|place| place.find(name, next));
        match place.zip(frame.member) {
            Some((place, member)) => {
                let key = &place.keys[member];
                (frame.hash, frame.key_tag) = (key.hash, key.tag);
            }
            None => {
                frame.name.clear();
                frame.name.push_str(name);
                frame.hash = key_hash(name);
                frame.key_tag = type_keys().find(|tag| *tag == name);
            }
        }
    }

    /// The same, mostly without looking at its text.
    #[inline]
    fn key_on_tape(&mut self, key: TapeNode<'_>) {
        let Some(frame) = self.frames[..self.depth].last_mut() else { return };
        let next = frame.member.map_or(0, |member| member + 1);
        match frame.place.and_then(|place| self.places[place].keys.get(next)) {
            Some(known) if key.is_named(&known.name) => {
                frame.member = Some(next);
                (frame.hash, frame.key_tag) = (known.hash, known.tag);
            }
            _ => self.key(key.text()),
        }
    }

    fn value(&mut self, text: &[u8]) -> u64 {
        let Some(frame) = self.top() else { return 0 };
        let hash = frame.hash ^ xxh3_64(text);
        frame.values = frame.values.wrapping_add(hash);
        hash
    }

    fn string(&mut self, text: &str, is_long: bool) {
        let counts = !is_long && self.json.find(text.as_bytes()).is_none();
        let hash = if counts { self.value(text.as_bytes()) } else { 0 };
        if let Some(frame) = self.top().filter(|frame| frame.is_object && frame.tag.is_none()) {
            frame.tag = frame.key_tag.map(|tag| (tag, hash));
        }
        self.enter(JsonType::String);
    }

    fn number(&mut self, text: &str) {
        // 1.0 and 1 are one number.
        match text.parse::<f64>() {
            Ok(number) => self.value(&number.to_bits().to_le_bytes()),
            Err(_) => self.value(text.as_bytes()),
        };
        self.enter(JsonType::Number);
    }

    fn boolean(&mut self, value: bool) {
        self.value(if value { b"true" } else { b"false" });
        self.enter(JsonType::Boolean);
    }

    /// Counts what was read at once.
    fn count_record(&mut self) {
        let record = std::mem::take(&mut self.record);
        let mut next = record.root();
        while let Some(node) = next {
            while self.ends.pop_if(|end| *end == node.index()).is_some() {
                self.close();
            }
            match node.json_type() {
                JsonType::String if node.is_key() => self.key_on_tape(node),
                JsonType::String => self.string(node.text(), node.text().len() > LONG),
                JsonType::Null => drop(self.enter(JsonType::Null)),
                JsonType::Boolean => self.boolean(node.as_bool() == Some(true)),
                JsonType::Number => self.number(node.text()),
                container @ (JsonType::Array | JsonType::Object) => {
                    self.open(container);
                    self.ends.push(node.index() + node.cells());
                }
            }
            next = node.at(node.index() + 1);
        }
        self.ends.clear();
        self.record = record;
    }
}

impl Place {
    /// Where this key is; it may well be the `next` one.
    fn find(&self, name: &str, next: usize) -> Option<usize> {
        if self.keys.get(next).is_some_and(|key| key.name.text() == name) {
            return Some(next);
        }
        match self.keys.len() > FEW {
            true => self.by_name.get(name).map(|at| *at as usize),
            false => self.keys.iter().position(|key| key.name.text() == name),
        }
    }

    fn add(&mut self, name: &str, hash: u64, tag: Option<&'static str>, place: usize) {
        self.keys.push(PlaceKey { name: Key::new(name), hash, tag, place });
        if self.keys.len() > FEW {
            let unnamed = self.by_name.len()..self.keys.len();
            self.by_name.extend(unnamed.map(|at| (self.keys[at].name.text().into(), at as u32)));
        }
    }
}

impl Frame {
    /// The members of an object, by name; these are the keys of its place.
    fn members<'f>(&'f self, keys: Option<&'f [PlaceKey]>) -> BTreeMap<&'f str, JsonType> {
        let kept =
            self.order.iter().filter_map(|(key, of)| Some((keys?.get(*key as usize)?.name.text(), *of)));
        kept.chain(self.others.iter().map(|(name, of)| (name.as_str(), *of))).collect()
    }
}

impl Signatures {
    /// Where objects of this signature are counted; none where there are too many others.
    fn at(&mut self, signature: String) -> Option<usize> {
        if let Some(at) = self.at.get(&signature) {
            return Some(*at);
        }
        let next = self.kinds.len();
        (next < MAX_KINDS).then(|| {
            self.kinds.push(Kind::default());
            self.at.insert(signature, next);
            next
        })
    }

    fn count(&mut self, at: Option<usize>, values: u64) {
        if let Some(kind) = at.and_then(|at| self.kinds.get_mut(at)) {
            kind.count += 1;
            kind.values = kind.values.wrapping_add(values);
        }
    }

    fn finish(self) -> BTreeMap<String, Kind> {
        self.at.into_iter().map(|(signature, at)| (signature, self.kinds[at])).collect()
    }
}

fn signature(members: &BTreeMap<&str, JsonType>, without: Option<&str>) -> String {
    let members = members.iter().filter(|(key, _)| Some(**key) != without);
    members.map(|(key, of)| format!("{key}: {}", of.name())).collect::<Vec<_>>().join(", ")
}

fn key_hash(key: &str) -> u64 {
    xxh3_64(key.as_bytes()).rotate_left(17)
}

impl Sink for ShapeSink {
    fn begin_record(&mut self, _line: u64, offset: u64) {
        self.record.clear(offset, offset);
    }

    fn tape(&mut self) -> Option<&mut Tape> {
        Some(&mut self.record)
    }

    fn end_record(&mut self, _offset: u64, _whole: bool) {
        self.count_record();
        while self.depth > 0 {
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
            Event::String(_, text) => {
                let is_long = std::mem::take(&mut self.in_parts);
                self.string(text, is_long);
            }
            Event::Number(_, text) => self.number(text),
            Event::Boolean(_, value) => self.boolean(value),
            Event::Null(_) => drop(self.enter(JsonType::Null)),
        }
    }
}

#[cfg(test)]
mod tests;
