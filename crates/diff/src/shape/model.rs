//! The data model of shapes.
//!
//! Everything in a shape is a count, a sum, a union, an intersection or an exceeded limit over all values. So the order
//! in which values are added and shapes are joined makes no difference.

use super::kinds::Kinds;
use super::text::{Formats, is_choice, is_word};
use strict_json::{JsonType, TapeKey};

/// Maximum number of positions of a schema.
pub(crate) const MAX_POSITIONS: usize = 1 << 18;
/// Maximum depth of described values.
pub(crate) const MAX_DEPTH: usize = 96;
/// Maximum number of values of a closed set of strings.
const MAX_CHOICES: usize = 16;
/// Maximum length of a tuple.
const MAX_TUPLE_LENGTH: usize = 8;
/// Maximum number of keys of an object in a schema. One with more keys is a map.
const MAX_KEYS: usize = 512;

/// Shape of the values at one position.
#[derive(Debug, Clone, Default)]
pub struct Shape {
    pub(crate) nulls: u64,
    pub(crate) bools: u64,
    pub(crate) integers: u64,
    pub(crate) numbers: u64,
    pub(crate) strings: Option<Box<Strings>>,
    pub(crate) arrays: Option<Box<Arrays>>,
    pub(crate) objects: Option<Box<Objects>>,
    /// Whether some values were too deep to be described.
    pub(crate) deep: bool,
}

/// Shape of the strings at one position.
#[derive(Debug, Clone)]
pub(crate) struct Strings {
    pub count: u64,
    /// Formats that all strings have.
    pub formats: Formats,
    /// Values with their counts; `None` if they are not a closed set.
    pub choices: Option<Vec<(Box<str>, u64)>>,
}

/// Shape of the arrays at one position.
#[derive(Debug, Clone, Default)]
pub(crate) struct Arrays {
    pub count: u64,
    pub elements: Elements,
}

/// Shape of the elements of arrays.
#[derive(Debug, Clone)]
pub(crate) enum Elements {
    /// Shapes by index, if all arrays have the same length.
    Tuple(Vec<Shape>),
    /// Shape of all elements.
    List(Box<Shape>),
}

/// Shape of the objects at one position.
#[derive(Debug, Clone, Default)]
pub(crate) struct Objects {
    pub groups: Vec<Group>,
    /// Former tag keys, as bits: keys with too many values.
    pub former_tags: u8,
    /// Index of the group of the previous object.
    pub last_group: usize,
    pub kinds: Kinds,
}

/// Objects with the same tag, or without one.
#[derive(Debug, Clone, Default)]
pub(crate) struct Group {
    pub tag: Option<Tag>,
    pub count: u64,
    pub fields: Fields,
}

/// Members of objects.
#[derive(Debug, Clone)]
pub(crate) struct Fields {
    /// Members in the order of their first occurrence.
    pub list: Vec<Field>,
    /// Indices of `list`, sorted by key.
    pub order: Vec<u16>,
    /// Shape of all values, if there are too many keys.
    pub map: Option<Box<Shape>>,
    /// Maximum number of different keys; more make a map.
    pub max_keys: usize,
}

/// Members with one key.
#[derive(Debug, Clone)]
pub(crate) struct Field {
    pub key: TapeKey,
    pub hash: u64,
    pub count: u64,
    pub shape: Shape,
}

/// Tag of an object: a key with its value.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Tag {
    /// Index of the key in [`DISCRIMINATORS`](agentnative_contract::DISCRIMINATORS).
    pub key: usize,
    /// Value: the string, or "true" or "false".
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
    /// Merges another shape.
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

    /// Returns the number of positions.
    pub fn positions(&self) -> usize {
        let elements = self.arrays.as_ref().map_or(0, |arrays| 1 + arrays.elements.positions());
        let objects = self.objects.as_ref().map_or(0, |objects| objects.positions());
        1 + usize::from(self.strings.is_some()) + elements + objects
    }

    /// Returns the number of values of a type.
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

    /// Returns the number of values.
    pub fn count(&self) -> u64 {
        JsonType::ALL.into_iter().map(|json_type| self.count_of_type(json_type)).sum()
    }

    /// Returns the types of the values.
    pub fn types(&self) -> impl Iterator<Item = JsonType> {
        JsonType::ALL.into_iter().filter(|json_type| self.count_of_type(*json_type) > 0)
    }

    /// Returns the types other than null, as a bit set.
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
    /// Adds `count` occurrences of a string to the closed set, or abandons the set.
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
    /// Returns the shape for the next element of the first array.
    pub fn next_shape(&mut self) -> &mut Shape {
        if matches!(self, Self::Tuple(shapes) if shapes.len() >= MAX_TUPLE_LENGTH) {
            self.make_list();
        }
        match self {
            Self::Tuple(shapes) => shapes.push_mut(Shape::default()),
            Self::List(list) => list,
        }
    }

    /// Converts tuples to a list, and returns the shape of all elements.
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
