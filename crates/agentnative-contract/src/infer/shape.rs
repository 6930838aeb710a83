//! What the values at one place have been so far.
//!
//! All that is kept is a count, a union, an intersection or whether a limit was passed, of all values
//! alike: so the order in which values come and shapes are joined makes no difference.

use super::objects::Objects;
use super::tape::{Kind, Tape};
use super::text::{Formats, is_choice};
use strict_json::JsonType;

/// Values deeper than this are not described.
const DEEPEST: usize = 96;
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
#[derive(Clone)]
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
    pub fn of_objects(objects: Objects) -> Self {
        Self { objects: Some(Box::new(objects)), ..Self::default() }
    }

    pub fn of_arrays(elements: Elements) -> Self {
        Self { arrays: Some(Box::new(Arrays { count: 1, elements })), ..Self::default() }
    }

    /// Merges the value at a node in, which is at this depth.
    pub fn absorb(&mut self, tape: &Tape, at: usize, depth: usize) {
        let node = tape.node(at);
        if depth > DEEPEST {
            self.deep = true;
            return;
        }
        match node.kind {
            Kind::Value(JsonType::Null) => self.nulls += 1,
            Kind::Value(JsonType::Boolean) => self.bools += 1,
            Kind::Integer => self.integers += 1,
            Kind::Value(JsonType::Number) => self.numbers += 1,
            Kind::Value(JsonType::String) => {
                let strings = self.strings.get_or_insert_with(|| {
                    tape.place(1);
                    Box::default()
                });
                strings.count += 1;
                strings.formats = strings.formats.and(node.formats);
                if strings.choices.is_some() {
                    strings.choice(tape.text(node), 1);
                }
            }
            Kind::Value(JsonType::Array) => self.array(tape, at, depth),
            Kind::Value(JsonType::Object) => {
                self.objects
                    .get_or_insert_with(|| {
                        tape.place(1);
                        Box::default()
                    })
                    .absorb(tape, at, depth);
            }
            Kind::Merged => {
                let shape = tape.merged(node).clone();
                tape.place(shape.places());
                self.join(shape);
            }
            Kind::Key => {}
        }
    }

    fn array(&mut self, tape: &Tape, at: usize, depth: usize) {
        let end = tape.node(at).end as usize;
        let new = self.arrays.is_none();
        let arrays = self.arrays.get_or_insert_with(|| {
            tape.place(1);
            Box::new(Arrays { count: 0, elements: Elements::default() })
        });
        arrays.count += 1;
        let next = |at: usize| tape.node(at).end as usize;
        if new {
            let mut inner = at + 1;
            while inner < end {
                arrays.elements.push(tape, inner, depth + 1);
                inner = next(inner);
            }
            return;
        }
        if let Elements::Tuple(places) = &mut arrays.elements {
            let mut length = 0;
            let mut inner = at + 1;
            while inner < end && length <= places.len() {
                length += 1;
                inner = next(inner);
            }
            if length == places.len() {
                inner = at + 1;
                for place in places {
                    place.absorb(tape, inner, depth + 1);
                    inner = next(inner);
                }
                return;
            }
        }
        let list = arrays.elements.list();
        let mut inner = at + 1;
        while inner < end {
            list.absorb(tape, inner, depth + 1);
            inner = next(inner);
        }
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

    fn join(&mut self, other: Self) {
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
    pub fn push(&mut self, tape: &Tape, at: usize, depth: usize) {
        match self {
            Self::Tuple(places) if places.len() < TUPLE => {
                tape.place(1);
                let mut place = Shape::default();
                place.absorb(tape, at, depth);
                places.push(place);
            }
            _ => self.list().absorb(tape, at, depth),
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
