//! What the values at one place have been so far.
//!
//! All that is kept is a count, a union, an intersection or whether a limit was passed, of all values
//! alike: so the order in which values come and shapes are joined makes no difference.

use super::builder::{NodeKind, ShapeBuilder};
use super::objects::Objects;
use super::text::{Formats, is_choice};
use strict_json::JsonType;

/// Values deeper than this are not described.
pub(super) const DEEPEST: usize = 96;
/// Arrays longer than this are no tuples.
const TUPLE: usize = 8;
/// More different strings than this are no closed set.
const CHOICES: usize = 16;

/// What the values at one place have been.
#[derive(Clone, Default)]
pub(super) struct Shape {
    pub nulls: u64,
    pub bools: u64,
    pub integers: u64,
    pub numbers: u64,
    pub strings: Option<Box<Strings>>,
    pub arrays: Option<Box<Arrays>>,
    pub objects: Option<Box<Objects>>,
    /// There were values so deep that nothing is said of them.
    pub deep: bool,
}

/// What the strings at one place have been.
#[derive(Clone)]
pub(super) struct Strings {
    pub count: u64,
    /// The formats that all have.
    pub formats: Formats,
    /// How often each came; none when they are no closed set.
    pub choices: Option<Vec<(Box<str>, u64)>>,
}

/// What the arrays at one place have been.
#[derive(Clone, Default)]
pub(super) struct Arrays {
    pub count: u64,
    pub elements: Elements,
}

/// What the elements have been.
#[derive(Clone)]
pub(super) enum Elements {
    /// All arrays have had this length: what has been at each place.
    Tuple(Vec<Shape>),
    /// What all elements have been.
    List(Box<Shape>),
}

impl Default for Elements {
    fn default() -> Self {
        Self::Tuple(Vec::new())
    }
}

impl Default for Strings {
    fn default() -> Self {
        Self { count: 0, formats: Formats::ALL, choices: Some(Vec::new()) }
    }
}

impl Shape {
    /// A single object or array of which nothing is merged yet.
    pub fn of_one(object: bool) -> Self {
        let (mut objects, mut arrays) = (None, None);
        if object {
            objects = Some(Box::new(Objects::of_one()));
        } else {
            arrays = Some(Box::new(Arrays { count: 1, ..Arrays::default() }));
        }
        Self { objects, arrays, ..Self::default() }
    }

    /// Merges what is between two nodes, at this depth, into the single object or array that it is.
    pub fn absorb_parts(&mut self, builder: &ShapeBuilder, from: usize, to: usize, depth: usize) {
        let parts = builder.parts(from, to);
        match (&mut self.objects, &mut self.arrays) {
            (Some(objects), _) => parts.for_each(|at| objects.groups[0].fields.absorb(builder, at, depth)),
            (None, Some(arrays)) => parts.for_each(|at| arrays.elements.push(builder, at, depth)),
            (None, None) => {}
        }
    }

    /// Merges the value at a node in, which is at this depth.
    pub fn absorb(&mut self, builder: &ShapeBuilder, at: usize, depth: usize) {
        let node = builder.node(at);
        if depth > DEEPEST {
            self.deep = true;
            return;
        }
        match node.kind {
            NodeKind::Value(JsonType::Null) => self.nulls += 1,
            NodeKind::Value(JsonType::Boolean) => self.bools += 1,
            NodeKind::Integer => self.integers += 1,
            NodeKind::Value(JsonType::Number) => self.numbers += 1,
            NodeKind::Value(JsonType::String) => {
                let strings = self.strings.get_or_insert_default();
                strings.count += 1;
                strings.formats = strings.formats.and(node.formats);
                if strings.choices.is_some() {
                    strings.choice(builder.text(node), 1);
                }
            }
            NodeKind::Value(JsonType::Array) => self.array(builder, at, depth),
            NodeKind::Value(JsonType::Object) => {
                self.objects.get_or_insert_default().absorb(builder, at, depth);
            }
            NodeKind::Merged => self.join(builder.merged(node).clone()),
            NodeKind::Key => {}
        }
    }

    fn array(&mut self, builder: &ShapeBuilder, at: usize, depth: usize) {
        let elements = || builder.parts(at + 1, builder.node(at).end as usize);
        let arrays = self.arrays.get_or_insert_default();
        arrays.count += 1;
        if arrays.count == 1 {
            elements().for_each(|at| arrays.elements.push(builder, at, depth + 1));
            return;
        }
        if let Elements::Tuple(places) = &mut arrays.elements
            && elements().take(places.len() + 1).count() == places.len()
        {
            places.iter_mut().zip(elements()).for_each(|(place, at)| place.absorb(builder, at, depth + 1));
            return;
        }
        let list = arrays.elements.list();
        elements().for_each(|at| list.absorb(builder, at, depth + 1));
    }

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

    /// Which types it has, as bits; null does not count.
    pub fn types(&self) -> u8 {
        u8::from(self.bools > 0)
            | u8::from(self.integers + self.numbers > 0) << 1
            | u8::from(self.strings.is_some()) << 2
            | u8::from(self.arrays.is_some()) << 3
            | u8::from(self.objects.is_some()) << 4
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
    /// Counts a word; none is a string that cannot be one of a closed set.
    fn choice(&mut self, word: Option<&str>, count: u64) {
        let Some(choices) = &mut self.choices else { return };
        let Some(word) = word else {
            self.choices = None;
            return;
        };
        if let Some((_, times)) = choices.iter_mut().find(|(known, _)| **known == *word) {
            *times += count;
        } else if choices.len() < CHOICES && is_choice(word) {
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
            Some(choices) => choices.iter().for_each(|(word, count)| self.choice(Some(word), *count)),
            None => self.choices = None,
        }
    }
}

impl Elements {
    /// Adds an element to the only array so far.
    pub fn push(&mut self, builder: &ShapeBuilder, at: usize, depth: usize) {
        match self {
            Self::Tuple(places) if places.len() < TUPLE => {
                let mut place = Shape::default();
                place.absorb(builder, at, depth);
                places.push(place);
            }
            _ => self.list().absorb(builder, at, depth),
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

    fn join(&mut self, other: Self) {
        match (&mut *self, other) {
            (Self::Tuple(places), Self::Tuple(others)) if places.len() == others.len() => {
                places.iter_mut().zip(others).for_each(|(place, other)| place.join(other));
            }
            (_, mut other) => self.list().join(std::mem::take(other.list())),
        }
    }
}
