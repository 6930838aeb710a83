//! Tells quickly of most valid values that they are valid.
//!
//! A schema is compiled to lists of checks, in which a key, a type or a discriminator leads to what follows from it
//! in one step. What the checks cannot tell is for the validator: the acceptor accepts only what the validator accepts.

mod compile;

use super::tape_json::TapeNumber;
use jsonschema::json::{JsonNumber as _, Node as _};
use regex::Regex;
use serde_json::Value;
use std::cell::Cell;
use std::sync::OnceLock;
use strict_json::{JsonType, Key, KeyMap, TapeNode};

pub(super) use compile::compile;

/// A compiled schema.
#[derive(Debug)]
pub(super) struct Acceptor {
    /// Schemas as lists of checks, all of which have to hold.
    schemas: Vec<Vec<Check>>,
    /// Index of the schema of the value.
    root: usize,
}

/// Values nested deeper than this, or references that do not end, are left to the validator.
const MAX_DEPTH: usize = 256;

/// So many schemas are looked at for each cell of a value. References in circles would multiply the steps.
const STEPS: usize = 64;

/// The bit of an integer in a set of types, behind those of [`JsonType`].
const INTEGER: u8 = 1 << 6;
/// The bits of all types.
const ANY_TYPE: u8 = (1 << 6) - 1;

/// A part of a schema. Schemas are given by their indices.
#[derive(Debug)]
enum Check {
    /// Nothing is valid.
    Never,
    /// Only the validator can tell.
    Unknown,
    /// The value is of one of these types, a bit each.
    Types(u8),
    /// The value is one of these strings.
    Strings(Vec<Box<str>>),
    /// The value is one of these, of which none is a container.
    Scalars(Vec<Value>),
    /// A string has so many characters.
    Length {
        min: u64,
        max: u64,
    },
    /// A string matches.
    Pattern(Pattern),
    /// A number is within a limit.
    Limit(Limit, f64),
    /// An array has so many elements.
    Elements {
        min: usize,
        max: usize,
    },
    /// Each element of an array is valid against a schema.
    Items(usize),
    Object(ObjectCheck),
    /// The value is valid against the schema.
    Schema(usize),
    Any(Vec<usize>),
    One(Vec<usize>),
    Not(usize),
    If {
        test: usize,
        then: Option<usize>,
        otherwise: Option<usize>,
    },
    Choice(Choice),
}

/// How a number is to stand to another.
#[derive(Debug, Clone, Copy)]
enum Limit {
    Least,
    Most,
    Above,
    Below,
}

/// The members of an object.
#[derive(Debug)]
struct ObjectCheck {
    members: KeyMap<Member>,
    /// The bits of the members that have to be there.
    required: u64,
    /// What all other members are to be.
    others: ValueCheck,
    min: usize,
    max: usize,
}

#[derive(Debug, Clone, Copy)]
struct Member {
    value: ValueCheck,
    /// Its bit among those that have to be there; none where it may be absent.
    bit: u64,
}

/// What a value is to be. Most schemas say no more than its type.
#[derive(Debug, Clone, Copy)]
enum ValueCheck {
    Types(u8),
    Schema(usize),
}

/// What is valid depends on a string in the object.
#[derive(Debug)]
struct Choice {
    key: Key,
    /// The schema for each string.
    branches: Vec<(Box<str>, usize)>,
    /// Whether an object with no such string there is valid.
    otherwise: bool,
}

/// A regular expression that is compiled when it is needed first.
#[derive(Debug)]
struct Pattern {
    text: Box<str>,
    compiled: OnceLock<Option<Regex>>,
}

impl Pattern {
    fn matches(&self, text: &str) -> Option<bool> {
        let compile = || Regex::new(&jsonschema_regex::to_rust_regex(&self.text).ok()?).ok();
        Some(self.compiled.get_or_init(compile).as_ref()?.is_match(text))
    }
}

impl Acceptor {
    /// Whether the validator accepts the value; none where only it can tell.
    pub fn answer(&self, value: TapeNode<'_>) -> Option<bool> {
        let steps = Cell::new(STEPS * (1 + value.cells()));
        Walk { schemas: &self.schemas, steps }.schema(self.root, value, 0)
    }
}

/// One value on its way through the checks.
struct Walk<'s> {
    schemas: &'s [Vec<Check>],
    /// So many schemas more may be looked at.
    steps: Cell<usize>,
}

impl Walk<'_> {
    /// Whether a value is valid; none where only the validator can tell.
    fn schema(&self, index: usize, value: TapeNode<'_>, depth: usize) -> Option<bool> {
        let steps = self.steps.get();
        if depth > MAX_DEPTH || steps == 0 {
            return None;
        }
        self.steps.set(steps - 1);
        all(self.schemas.get(index)?.iter().map(|check| self.check(check, value, depth + 1)))
    }

    #[inline]
    fn check(&self, check: &Check, value: TapeNode<'_>, depth: usize) -> Option<bool> {
        let schema = |index: usize| self.schema(index, value, depth);
        match check {
            Check::Never => Some(false),
            Check::Unknown => None,
            Check::Types(types) => Some(is_of(*types, value)),
            Check::Strings(_) if !value.is(JsonType::String) => Some(false),
            Check::Length { .. } | Check::Pattern(_) if !value.is(JsonType::String) => Some(true),
            Check::Strings(strings) => {
                let text = text(value)?;
                Some(strings.iter().any(|string| **string == *text))
            }
            Check::Scalars(scalars) => match value.json_type() {
                JsonType::String => {
                    let text = text(value)?;
                    Some(scalars.iter().any(|scalar| scalar == text))
                }
                JsonType::Array | JsonType::Object => Some(false),
                _ => Some(scalars.iter().any(|scalar| value.equals_value(scalar))),
            },
            Check::Length { min, max } => {
                Some((*min..=*max).contains(&(text(value)?.chars().count() as u64)))
            }
            Check::Pattern(pattern) => pattern.matches(text(value)?),
            Check::Limit(..) if !value.is(JsonType::Number) => Some(true),
            Check::Limit(limit, bound) => {
                let number = short_number(value.text())?;
                Some(match limit {
                    Limit::Least => number >= *bound,
                    Limit::Most => number <= *bound,
                    Limit::Above => number > *bound,
                    Limit::Below => number < *bound,
                })
            }
            Check::Elements { min, max } => {
                Some(!value.is(JsonType::Array) || (*min..=*max).contains(&value.count()))
            }
            Check::Items(items) => all(value.items().map(|element| self.schema(*items, element, depth))),
            Check::Object(object) => self.object(object, value, depth),
            Check::Schema(index) => schema(*index),
            Check::Any(branches) => any(branches.iter().map(|index| schema(*index))),
            Check::One(branches) => {
                let mut valid = 0;
                for index in branches {
                    valid += usize::from(schema(*index)?);
                }
                Some(valid == 1)
            }
            Check::Not(index) => schema(*index).map(|valid| !valid),
            Check::If { test, then, otherwise } => {
                let next = if schema(*test)? { then } else { otherwise };
                next.map_or(Some(true), schema)
            }
            Check::Choice(choice) => {
                if !value.is(JsonType::Object) {
                    return None;
                }
                let found = value.member(&choice.key).filter(|found| found.is(JsonType::String));
                let Some(found) = found else { return Some(choice.otherwise) };
                let found = text(found)?;
                let branch = choice.branches.iter().find(|(string, _)| **string == *found);
                branch.map_or(Some(choice.otherwise), |(_, index)| schema(*index))
            }
        }
    }

    fn object(&self, object: &ObjectCheck, value: TapeNode<'_>, depth: usize) -> Option<bool> {
        if !value.is(JsonType::Object) {
            return Some(true);
        }
        if !(object.min..=object.max).contains(&value.count()) {
            return Some(false);
        }
        let mut found = 0;
        let valid = all(value.keys().map(|key| {
            let check = match object.members.get(key) {
                Some(member) => {
                    found |= member.bit;
                    member.value
                }
                None => object.others,
            };
            match check {
                ValueCheck::Types(types) => Some(is_of(types, key.value())),
                ValueCheck::Schema(index) => self.schema(index, key.value(), depth),
            }
        }));
        if found & object.required == object.required { valid } else { Some(false) }
    }
}

/// The text of a string; none where not all of it is kept.
fn text(value: TapeNode<'_>) -> Option<&str> {
    (value.beyond() == 0).then(|| value.text())
}

/// A number of so few digits that binary64 keeps it apart from all others of so few.
fn short_number(written: &str) -> Option<f64> {
    let short = written.len() < 16 && !written.bytes().any(|byte| matches!(byte, b'e' | b'E'));
    written.parse().ok().filter(|_| short)
}

#[inline]
fn is_of(types: u8, value: TapeNode<'_>) -> bool {
    let json_type = value.json_type();
    types >> json_type as u8 & 1 == 1
        || json_type == JsonType::Number && types & INTEGER != 0 && TapeNumber(value).is_integer()
}

/// Whether all are valid: none where one is not known to be.
#[inline]
fn all(answers: impl Iterator<Item = Option<bool>>) -> Option<bool> {
    let mut valid = Some(true);
    for answer in answers {
        match answer {
            Some(true) => {}
            Some(false) => return Some(false),
            None => valid = None,
        }
    }
    valid
}

/// Whether one is valid: none where none is known to be, and one may be.
fn any(mut answers: impl Iterator<Item = Option<bool>>) -> Option<bool> {
    let mut valid = Some(false);
    answers
        .any(|answer| {
            if answer.is_none() {
                valid = None;
            }
            answer == Some(true)
        })
        .then_some(true)
        .or(valid)
}

#[cfg(test)]
mod tests;
