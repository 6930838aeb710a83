//! Decides quickly about most values whether they are valid against a JSON Schema.
//!
//! A schema is compiled to lists of checks, which find the check for a key, a type or a discriminator in one step. The
//! validator decides where the checks cannot; otherwise both agree.

mod compile;

use super::tape_json::TapeNumber;
use jsonschema::json::{JsonNumber as _, Node as _};
use regex::Regex;
use serde_json::Value;
use std::cell::Cell;
use std::sync::OnceLock;
use strict_json::{JsonType, KeyMap, TapeKey, TapeNode};

pub(super) use compile::compile;

/// A compiled schema, which decides quickly about most values.
#[derive(Debug)]
pub(super) struct Acceptor {
    /// The schema and all schemas in it. Each is a list of constraints, which all have to be met.
    schemas: Vec<Vec<Constraint>>,
    /// Index of the root schema in `schemas`.
    root: usize,
}

/// Maximum depth of values and references; deeper values and endless references are left to the validator.
const MAX_DEPTH: usize = 256;

/// Maximum number of schemas that are evaluated for a value, per cell that it has on its tape. Circular references
/// would multiply them.
const MAX_STEPS_PER_CELL: usize = 64;

/// The bit for integers in a set of types; the lower bits are those of [`JsonType`].
const INTEGER: u8 = 1 << 6;
/// The bits of all types of [`JsonType`].
const ANY_TYPE: u8 = (1 << 6) - 1;

/// A constraint of a schema. Other schemas are given by their index in [`Acceptor::schemas`].
#[derive(Debug)]
enum Constraint {
    /// No value is valid.
    Never,
    /// A constraint that the acceptor does not know: only the validator can decide.
    Unknown,
    /// The value has one of these types (a bit set).
    Types(u8),
    /// The value is one of these strings.
    Strings(Vec<Box<str>>),
    /// The value is one of these scalars.
    Scalars(Vec<Value>),
    /// A string has a length in characters in this range.
    Length {
        min: u64,
        max: u64,
    },
    /// A string matches this regular expression.
    Pattern(LazyRegex),
    /// A number is within this limit.
    Limit(Limit, f64),
    /// An array has a number of elements in this range.
    Elements {
        min: usize,
        max: usize,
    },
    /// Each element of an array is valid against the schema with this index.
    Items(usize),
    Object(ObjectCheck),
    /// The value is valid against the schema with this index.
    Schema(usize),
    AnyOf(Vec<usize>),
    OneOf(Vec<usize>),
    Not(usize),
    If {
        test: usize,
        then: Option<usize>,
        otherwise: Option<usize>,
    },
    Choice(Choice),
}

/// The kind of a limit on a number, such as `exclusiveMinimum`.
#[derive(Debug, Clone, Copy)]
enum Limit {
    Min,
    Max,
    ExclusiveMin,
    ExclusiveMax,
}

/// The constraints of a schema on an object and its members.
#[derive(Debug)]
struct ObjectCheck {
    members: KeyMap<Member>,
    /// The bits of all required members; see [`Member::bit`].
    required: u64,
    additional: ValueCheck,
    /// Minimum number of members; `max` is the maximum number.
    min: usize,
    max: usize,
}

#[derive(Debug, Clone, Copy)]
struct Member {
    value: ValueCheck,
    /// The bit of this member in [`ObjectCheck::required`]; 0 if the member is optional.
    bit: u64,
}

/// The constraint on the value of a member. Most schemas constrain the type only.
#[derive(Debug, Clone, Copy)]
enum ValueCheck {
    Types(u8),
    Schema(usize),
}

/// Selects the schema of an object by the string at one of its keys.
#[derive(Debug)]
struct Choice {
    key: TapeKey,
    /// Each string with the index of its schema.
    branches: Vec<(Box<str>, usize)>,
    /// Whether an object with another string at the key, or without a string there, is valid.
    otherwise: bool,
}

/// A regular expression that is compiled on first use.
#[derive(Debug)]
struct LazyRegex {
    text: Box<str>,
    compiled: OnceLock<Option<Regex>>,
}

impl LazyRegex {
    fn matches(&self, text: &str) -> Option<bool> {
        let compile = || Regex::new(&jsonschema_regex::to_rust_regex(&self.text).ok()?).ok();
        Some(self.compiled.get_or_init(compile).as_ref()?.is_match(text))
    }
}

impl Acceptor {
    /// Returns whether a value is valid against the schema; `None` if only the validator can decide.
    pub fn accepts_if_known(&self, value: TapeNode<'_>) -> Option<bool> {
        let steps = Cell::new(MAX_STEPS_PER_CELL * (1 + value.cell_count()));
        Evaluation { schemas: &self.schemas, steps }.accepts_by_schema(self.root, value, 0)
    }
}

/// The evaluation of one value against a compiled schema.
struct Evaluation<'s> {
    schemas: &'s [Vec<Constraint>],
    /// Remaining number of schemas that may be evaluated.
    steps: Cell<usize>,
}

impl Evaluation<'_> {
    /// Returns whether a value is valid against the schema with this index; `None` if only the validator can decide.
    fn accepts_by_schema(&self, index: usize, value: TapeNode<'_>, depth: usize) -> Option<bool> {
        let steps = self.steps.get();
        if depth > MAX_DEPTH || steps == 0 {
            return None;
        }
        self.steps.set(steps - 1);
        all(self.schemas.get(index)?.iter().map(|check| self.check(check, value, depth + 1)))
    }

    #[inline]
    fn check(&self, check: &Constraint, value: TapeNode<'_>, depth: usize) -> Option<bool> {
        let schema = |index: usize| self.accepts_by_schema(index, value, depth);
        match check {
            Constraint::Never => Some(false),
            Constraint::Unknown => None,
            Constraint::Types(types) => Some(has_type(*types, value)),
            Constraint::Strings(_) if !value.has_type(JsonType::String) => Some(false),
            Constraint::Length { .. } | Constraint::Pattern(_) if !value.has_type(JsonType::String) => {
                Some(true)
            }
            Constraint::Strings(strings) => {
                let text = text(value)?;
                Some(strings.iter().any(|string| **string == *text))
            }
            Constraint::Scalars(scalars) => match value.json_type() {
                JsonType::String => {
                    let text = text(value)?;
                    Some(scalars.iter().any(|scalar| scalar == text))
                }
                JsonType::Array | JsonType::Object => Some(false),
                _ => Some(scalars.iter().any(|scalar| value.equals_value(scalar))),
            },
            Constraint::Length { min, max } => {
                Some((*min..=*max).contains(&(text(value)?.chars().count() as u64)))
            }
            Constraint::Pattern(pattern) => pattern.matches(text(value)?),
            Constraint::Limit(..) if !value.has_type(JsonType::Number) => Some(true),
            Constraint::Limit(limit, bound) => {
                let number = short_number(value.text())?;
                Some(match limit {
                    Limit::Min => number >= *bound,
                    Limit::Max => number <= *bound,
                    Limit::ExclusiveMin => number > *bound,
                    Limit::ExclusiveMax => number < *bound,
                })
            }
            Constraint::Elements { min, max } => {
                Some(!value.has_type(JsonType::Array) || (*min..=*max).contains(&value.count()))
            }
            Constraint::Items(items) => {
                all(value.elements().map(|element| self.accepts_by_schema(*items, element, depth)))
            }
            Constraint::Object(object) => self.object(object, value, depth),
            Constraint::Schema(index) => schema(*index),
            Constraint::AnyOf(branches) => any(branches.iter().map(|index| schema(*index))),
            Constraint::OneOf(branches) => {
                let mut valid = 0;
                for index in branches {
                    valid += usize::from(schema(*index)?);
                }
                Some(valid == 1)
            }
            Constraint::Not(index) => schema(*index).map(|valid| !valid),
            Constraint::If { test, then, otherwise } => {
                let next = if schema(*test)? { then } else { otherwise };
                next.map_or(Some(true), schema)
            }
            Constraint::Choice(choice) => {
                if !value.has_type(JsonType::Object) {
                    return None;
                }
                let found = value.member(&choice.key).filter(|found| found.has_type(JsonType::String));
                let Some(found) = found else { return Some(choice.otherwise) };
                let found = text(found)?;
                let branch = choice.branches.iter().find(|(string, _)| **string == *found);
                branch.map_or(Some(choice.otherwise), |(_, index)| schema(*index))
            }
        }
    }

    fn object(&self, object: &ObjectCheck, value: TapeNode<'_>, depth: usize) -> Option<bool> {
        if !value.has_type(JsonType::Object) {
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
                None => object.additional,
            };
            match check {
                ValueCheck::Types(types) => Some(has_type(types, key.value())),
                ValueCheck::Schema(index) => self.accepts_by_schema(index, key.value(), depth),
            }
        }));
        if found & object.required == object.required { valid } else { Some(false) }
    }
}

/// Returns the text of a string; `None` if the tape has only a part of it.
fn text(value: TapeNode<'_>) -> Option<&str> {
    (value.omitted_chars() == 0).then(|| value.text())
}

/// Parses a short number; `None` for a longer one. binary64 distinguishes all numbers with so few digits.
fn short_number(written: &str) -> Option<f64> {
    let short = written.len() < 16 && !written.bytes().any(|byte| matches!(byte, b'e' | b'E'));
    written.parse().ok().filter(|_| short)
}

#[inline]
fn has_type(types: u8, value: TapeNode<'_>) -> bool {
    let json_type = value.json_type();
    types >> json_type as u8 & 1 == 1
        || json_type == JsonType::Number && types & INTEGER != 0 && TapeNumber(value).is_integer()
}

/// Returns whether all answers are true; `None` if an answer is unknown (`None`) and none is false.
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

/// Returns whether an answer is true; `None` if an answer is unknown (`None`) and none is true.
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
