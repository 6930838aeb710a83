//! What the values at one place have been so far.
//!
//! All that is kept is a count, a union, an intersection or whether a limit was passed, of all values
//! alike: so the order in which values come and shapes are joined makes no difference.

use super::text::{Formats, is_choice};

/// The maximum number of places; samples with more have no shape.
pub(super) const PLACES: usize = 1 << 18;
/// Values deeper than this are not described.
pub(super) const DEEPEST: usize = 96;
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

/// What the objects at one place have been.
#[derive(Clone, Default)]
pub(super) struct Objects {
    pub groups: Vec<Group>,
    /// The former tag keys, as bits: keys that had too many values.
    pub loose: u8,
    /// The group that was met last.
    pub last: usize,
}

/// The objects with the same tag, or without one.
#[derive(Clone, Default)]
pub(super) struct Group {
    pub tag: Option<Tag>,
    pub count: u64,
    pub fields: Fields,
}

/// The members of objects.
#[derive(Clone, Default)]
pub(super) struct Fields {
    /// The keys as they came.
    pub list: Vec<Field>,
    /// The indices of `list`, sorted by key.
    pub order: Vec<u16>,
    /// What all values have been, where the keys are too many.
    pub map: Option<Box<Shape>>,
}

/// The members of one key.
#[derive(Clone)]
pub(super) struct Field {
    pub key: Box<str>,
    pub count: u64,
    pub shape: Shape,
}

/// The value of a tag key.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Tag {
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
    pub fn choice(&mut self, word: Option<&str>, count: u64) {
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
