//! The data model of shapes.
//!
//! Each field of a shape is a count, a sum, a union, an intersection or an exceeded limit over all values. So the order
//! in which values are added and shapes are merged does not affect the result.

use super::kinds::Kinds;
use super::text::{Formats, is_choice, is_word};
use strict_json::{JsonType, TapeKey};

/// Maximum number of positions in the shape for a schema. A position is a place in the structure, such as
/// `/items/*/id`.
pub(crate) const MAX_POSITIONS: usize = 1 << 18;
/// Maximum nesting depth of values that a shape describes.
pub(crate) const MAX_DEPTH: usize = 96;
/// Maximum number of different strings of a closed set, which may become an `enum`.
const MAX_CHOICES: usize = 16;
/// Maximum length of an array that is described as a tuple, with a shape for each index.
const MAX_TUPLE_LENGTH: usize = 8;
/// Maximum number of different keys of objects in the shape for a schema. Objects with more keys count as maps.
const MAX_KEYS: usize = 512;

/// Describes all values at one position, such as `/items/*/id`: how many of each JSON type occurred, and their
/// contents.
#[derive(Debug, Clone, Default)]
pub struct Shape {
    pub(crate) nulls: u64,
    pub(crate) bools: u64,
    pub(crate) integers: u64,
    pub(crate) numbers: u64,
    pub(crate) strings: Option<Box<Strings>>,
    pub(crate) arrays: Option<Box<Arrays>>,
    pub(crate) objects: Option<Box<Objects>>,
    /// Whether values here were nested deeper than [`MAX_DEPTH`] and are not described.
    pub(crate) deep: bool,
}

/// Describes all strings at one position.
#[derive(Debug, Clone)]
pub(crate) struct Strings {
    pub count: u64,
    /// Formats that all these strings have.
    pub formats: Formats,
    /// Different strings, each with its count. `None` if they cannot be a closed set: there are too many, or they look
    /// like data.
    pub choices: Option<Vec<(Box<str>, u64)>>,
}

/// Describes all arrays at one position: their number and their elements.
#[derive(Debug, Clone, Default)]
pub(crate) struct Arrays {
    pub count: u64,
    pub elements: Elements,
}

/// Describes the elements of all arrays at one position.
#[derive(Debug, Clone)]
pub(crate) enum Elements {
    /// One shape per index, if all arrays have the same length.
    Tuple(Vec<Shape>),
    /// One shape for all elements.
    List(Box<Shape>),
}

/// Describes all objects at one position, in groups by tag (the key and value that identify a variant).
#[derive(Debug, Clone, Default)]
pub(crate) struct Objects {
    pub groups: Vec<Group>,
    /// Keys that are no tags any more, because they have too many values. Bit `n` is the key with index `n` in
    /// [`DISCRIMINATORS`](agentnative_contract::DISCRIMINATORS).
    pub former_tags: u8,
    /// Index of the group that the previous object belongs to.
    pub last_group: usize,
    pub kinds: Kinds,
}

/// The objects with the same tag, or all objects without a tag.
#[derive(Debug, Clone, Default)]
pub(crate) struct Group {
    pub tag: Option<Tag>,
    pub count: u64,
    pub fields: Fields,
}

/// The members of the objects of a group, by key.
#[derive(Debug, Clone)]
pub(crate) struct Fields {
    /// Members in the order in which their keys first occurred.
    pub members: Vec<Field>,
    /// Indices into `list`, in the order of the keys.
    pub order: Vec<u16>,
    /// Shape of all values, if there are too many keys to keep them apart. Then `list` is empty.
    pub map: Option<Box<Shape>>,
    /// Maximum number of different keys. With more keys, the members become a map.
    pub max_keys: usize,
}

/// The members with the same key: their count and the shape of their values.
#[derive(Debug, Clone)]
pub(crate) struct Field {
    pub key: TapeKey,
    pub hash: u64,
    pub count: u64,
    pub shape: Shape,
}

/// Tag of an object: the key that identifies its variant, and the value of the key, such as `type` and `start`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Tag {
    /// Index of the key in [`DISCRIMINATORS`](agentnative_contract::DISCRIMINATORS).
    pub key: usize,
    /// Value of the key: a string, or "true" or "false" for a boolean.
    pub value: Box<str>,
}

impl Default for Elements {
    fn default() -> Self {
        Self::Tuple(Vec::new())
    }
}

impl Default for Fields {
    fn default() -> Self {
        Self { members: Vec::new(), order: Vec::new(), map: None, max_keys: MAX_KEYS }
    }
}

impl Default for Strings {
    fn default() -> Self {
        Self { count: 0, formats: Formats::ALL, choices: Some(Vec::new()) }
    }
}

impl Shape {
    /// Merges another shape into this one.
    pub fn merge(&mut self, other: Self) {
        self.nulls += other.nulls;
        self.bools += other.bools;
        self.integers += other.integers;
        self.numbers += other.numbers;
        self.deep |= other.deep;
        join_boxed(&mut self.strings, other.strings, Strings::join);
        join_boxed(&mut self.arrays, other.arrays, |target, source| {
            target.count += source.count;
            target.elements.join(source.elements);
        });
        join_boxed(&mut self.objects, other.objects, Objects::join);
    }

    /// Returns the number of positions in the shape, including nested ones.
    pub fn positions(&self) -> usize {
        let elements = self.arrays.as_ref().map_or(0, |arrays| 1 + arrays.elements.positions());
        let objects = self.objects.as_ref().map_or(0, |objects| objects.positions());
        1 + usize::from(self.strings.is_some()) + elements + objects
    }

    /// Returns the number of values of a JSON type at this position.
    pub fn count_of_type(&self, json_type: JsonType) -> u64 {
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

    /// Returns the number of values at this position, without nested ones.
    pub fn count(&self) -> u64 {
        JsonType::ALL.into_iter().map(|json_type| self.count_of_type(json_type)).sum()
    }

    /// Returns the JSON types that occurred at this position.
    pub fn types(&self) -> impl Iterator<Item = JsonType> {
        JsonType::ALL.into_iter().filter(|json_type| self.count_of_type(*json_type) > 0)
    }

    /// Returns the JSON types that occurred at this position, without null, as a bit set.
    pub(crate) fn type_bits(&self) -> u8 {
        self.types()
            .filter(|json_type| *json_type != JsonType::Null)
            .fold(0, |bits, json_type| bits | 1 << json_type as u8)
    }
}

fn join_boxed<T>(target: &mut Option<Box<T>>, source: Option<Box<T>>, join: impl FnOnce(&mut T, T)) {
    match (target, source) {
        (_, None) => {}
        (target @ None, source) => *target = source,
        (Some(target), Some(source)) => join(target, *source),
    }
}

impl Strings {
    /// Adds `count` occurrences of a string to the closed set. If the set has too many strings then, or the string
    /// looks like data, the set is dropped.
    pub fn add_choice(&mut self, word: &str, count: u64) {
        let Some(choices) = &mut self.choices else { return };
        if let Some((_, total)) = choices.iter_mut().find(|(known, _)| **known == *word) {
            *total += count;
        } else if choices.len() < MAX_CHOICES && is_word(word) && is_choice(word) {
            choices.push((word.into(), count));
        } else {
            self.choices = None;
        }
    }

    pub fn join(&mut self, other: Self) {
        self.count += other.count;
        self.formats = self.formats.intersection(other.formats);
        match other.choices {
            Some(choices) => choices.iter().for_each(|(word, count)| self.add_choice(word, *count)),
            None => self.choices = None,
        }
    }
}

impl Elements {
    /// Returns the shape into which the next element of the first array must be merged.
    pub fn next_shape(&mut self) -> &mut Shape {
        if matches!(self, Self::Tuple(shapes) if shapes.len() >= MAX_TUPLE_LENGTH) {
            self.make_list();
        }
        match self {
            Self::Tuple(shapes) => shapes.push_mut(Shape::default()),
            Self::List(list) => list,
        }
    }

    /// Merges the shapes of all indices into one shape for all elements, and returns it.
    pub fn make_list(&mut self) -> &mut Shape {
        if let Self::Tuple(shapes) = self {
            let mut all = Shape::default();
            shapes.drain(..).for_each(|shape| all.merge(shape));
            *self = Self::List(Box::new(all));
        }
        match self {
            Self::List(list) => list,
            Self::Tuple(_) => unreachable!("it has just been made a list"),
        }
    }

    pub fn positions(&self) -> usize {
        match self {
            Self::Tuple(shapes) => shapes.iter().map(Shape::positions).sum(),
            Self::List(list) => list.positions(),
        }
    }

    pub fn join(&mut self, other: Self) {
        match (&mut *self, other) {
            (Self::Tuple(shapes), Self::Tuple(others)) if shapes.len() == others.len() => {
                shapes.iter_mut().zip(others).for_each(|(shape, other)| shape.merge(other));
            }
            (_, mut other) => self.make_list().merge(std::mem::take(other.make_list())),
        }
    }
}
