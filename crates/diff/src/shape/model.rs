//! What the values at one place have been so far.
//!
//! All that is kept is a count, a sum, a union, an intersection or whether a limit was passed, of all values
//! alike: so the order in which values come and shapes are joined makes no difference.

use super::kinds::Kinds;
use super::text::{Formats, is_choice, is_word};
use strict_json::{JsonType, Key};

/// The maximum number of places of a schema; samples with more have no shape.
pub(crate) const PLACES: usize = 1 << 18;
/// Values deeper than this are not described.
pub(crate) const DEEPEST: usize = 96;
/// More different strings than this are no closed set.
const CHOICES: usize = 16;
/// Arrays longer than this are no tuples.
const TUPLE: usize = 8;
/// An object with more different keys than this is a map, in a schema.
const MAX_KEYS: usize = 512;

/// What the values at one place have been.
#[derive(Debug, Clone, Default)]
pub struct Shape {
    pub(crate) nulls: u64,
    pub(crate) bools: u64,
    pub(crate) integers: u64,
    pub(crate) numbers: u64,
    pub(crate) strings: Option<Box<Strings>>,
    pub(crate) arrays: Option<Box<Arrays>>,
    pub(crate) objects: Option<Box<Objects>>,
    /// There were values so deep that nothing is said of them.
    pub(crate) deep: bool,
}

/// What the strings at one place have been.
#[derive(Debug, Clone)]
pub(crate) struct Strings {
    pub count: u64,
    /// The formats that all have.
    pub formats: Formats,
    /// How often each came; none when they are no closed set.
    pub choices: Option<Vec<(Box<str>, u64)>>,
}

/// What the arrays at one place have been.
#[derive(Debug, Clone, Default)]
pub(crate) struct Arrays {
    pub count: u64,
    pub elements: Elements,
}

/// What the elements have been.
#[derive(Debug, Clone)]
pub(crate) enum Elements {
    /// All arrays have had this length: what has been at each place.
    Tuple(Vec<Shape>),
    /// What all elements have been.
    List(Box<Shape>),
}

/// What the objects at one place have been.
#[derive(Debug, Clone, Default)]
pub(crate) struct Objects {
    pub groups: Vec<Group>,
    /// The former tag keys, as bits: keys that had too many values.
    pub loose: u8,
    /// The group that was met last.
    pub last: usize,
    pub kinds: Kinds,
}

/// The objects with the same tag, or without one.
#[derive(Debug, Clone, Default)]
pub(crate) struct Group {
    pub tag: Option<Tag>,
    pub count: u64,
    pub fields: Fields,
}

/// The members of objects.
#[derive(Debug, Clone)]
pub(crate) struct Fields {
    /// The keys as they came.
    pub list: Vec<Field>,
    /// The indices of `list`, sorted by key.
    pub order: Vec<u16>,
    /// What all values have been, where the keys are too many.
    pub map: Option<Box<Shape>>,
    /// More different keys than this make a map.
    pub max_keys: usize,
}

/// The members of one key.
#[derive(Debug, Clone)]
pub(crate) struct Field {
    pub key: Key,
    /// A hash of the key.
    pub hash: u64,
    pub count: u64,
    pub shape: Shape,
}

/// The value of a tag key.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Tag {
    /// The key, by its place in [`DISCRIMINATORS`](agentnative_contract::DISCRIMINATORS).
    pub key: usize,
    /// The string, or "true" or "false".
    pub value: Box<str>,
}

impl Default for Elements {
    fn default() -> Self {
        Self::Tuple(Vec::new())
    }
}

impl Default for Fields {
    fn default() -> Self {
        Self { list: Vec::new(), order: Vec::new(), map: None, max_keys: MAX_KEYS }
    }
}

impl Default for Strings {
    fn default() -> Self {
        Self { count: 0, formats: Formats::ALL, choices: Some(Vec::new()) }
    }
}

impl Shape {
    /// Merges what others have been in.
    pub fn join(&mut self, other: Self) {
        self.nulls += other.nulls;
        self.bools += other.bools;
        self.integers += other.integers;
        self.numbers += other.numbers;
        self.deep |= other.deep;
        join_boxed(&mut self.strings, other.strings, Strings::join);
        join_boxed(&mut self.arrays, other.arrays, |to, from| {
            to.count += from.count;
            to.elements.join(from.elements);
        });
        join_boxed(&mut self.objects, other.objects, Objects::join);
    }

    /// How many places it remembers.
    pub fn places(&self) -> usize {
        let elements = self.arrays.as_ref().map_or(0, |arrays| 1 + arrays.elements.places());
        let objects = self.objects.as_ref().map_or(0, |objects| objects.places());
        1 + usize::from(self.strings.is_some()) + elements + objects
    }

    /// Number of values of a type.
    pub fn count_of(&self, json_type: JsonType) -> u64 {
        match json_type {
            JsonType::Null => self.nulls,
            JsonType::Boolean => self.bools,
            JsonType::Number => self.integers + self.numbers,
            JsonType::String => self.strings.as_ref().map_or(0, |strings| strings.count),
            JsonType::Array => self.arrays.as_ref().map_or(0, |arrays| arrays.count),
            JsonType::Object => {
                self.objects.iter().flat_map(|objects| &objects.groups).map(|group| group.count).sum()
            }
        }
    }

    /// Number of values.
    pub fn count(&self) -> u64 {
        JsonType::ALL.into_iter().map(|json_type| self.count_of(json_type)).sum()
    }

    /// The types of the values.
    pub fn types(&self) -> impl Iterator<Item = JsonType> {
        JsonType::ALL.into_iter().filter(|json_type| self.count_of(*json_type) > 0)
    }

    /// The types other than null, as bits.
    pub(crate) fn type_bits(&self) -> u8 {
        self.types().filter(|of| *of != JsonType::Null).fold(0, |bits, of| bits | 1 << of as u8)
    }
}

/// Joins what may not be there.
fn join_boxed<T>(to: &mut Option<Box<T>>, from: Option<Box<T>>, join: impl FnOnce(&mut T, T)) {
    match (to, from) {
        (_, None) => {}
        (to @ None, from) => *to = from,
        (Some(to), Some(from)) => join(to, *from),
    }
}

impl Strings {
    /// Counts a string that came so often, which may be one of a closed set.
    pub fn choice(&mut self, word: &str, count: u64) {
        let Some(choices) = &mut self.choices else { return };
        if let Some((_, times)) = choices.iter_mut().find(|(known, _)| **known == *word) {
            *times += count;
        } else if choices.len() < CHOICES && is_word(word) && is_choice(word) {
            choices.push((word.into(), count));
        } else {
            self.choices = None;
        }
    }

    /// Merges what others have been in.
    pub fn join(&mut self, other: Self) {
        self.count += other.count;
        self.formats = self.formats.and(other.formats);
        match other.choices {
            Some(choices) => choices.iter().for_each(|(word, count)| self.choice(word, *count)),
            None => self.choices = None,
        }
    }
}

impl Elements {
    /// What the next element of the only array so far has been.
    pub fn next(&mut self) -> &mut Shape {
        if matches!(self, Self::Tuple(places) if places.len() >= TUPLE) {
            self.list();
        }
        match self {
            Self::Tuple(places) => places.push_mut(Shape::default()),
            Self::List(list) => list,
        }
    }

    /// What all elements have been, from now on.
    pub fn list(&mut self) -> &mut Shape {
        if let Self::Tuple(places) = self {
            let mut all = Shape::default();
            places.drain(..).for_each(|place| all.join(place));
            *self = Self::List(Box::new(all));
        }
        match self {
            Self::List(list) => list,
            Self::Tuple(_) => unreachable!("it has just been made a list"),
        }
    }

    pub fn places(&self) -> usize {
        match self {
            Self::Tuple(places) => places.iter().map(Shape::places).sum(),
            Self::List(list) => list.places(),
        }
    }

    pub fn join(&mut self, other: Self) {
        match (&mut *self, other) {
            (Self::Tuple(places), Self::Tuple(others)) if places.len() == others.len() => {
                places.iter_mut().zip(others).for_each(|(place, other)| place.join(other));
            }
            (_, mut other) => self.list().join(std::mem::take(other.list())),
        }
    }
}
