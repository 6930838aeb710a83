//! What is found against a document, a stream or a run.

use super::finding::Finding;
use crate::error::Place;
use schemars::JsonSchema;
use serde::Serialize;
use std::fmt;
use std::ops::AddAssign;
use std::path::Path;
use strict_json::{Position, Problem, sanitize};

/// What an error violates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Against {
    /// Strict JSON, or JSON Lines.
    Json,
    /// The shape of a document or record.
    Schema,
    /// What holds between events.
    Stream,
    /// What holds between exit code and data.
    Exit,
}

/// What violations are limited and counted by: errors by what they violate, known findings together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tally {
    Errors(Against),
    Known,
}

impl Tally {
    const KNOWN: usize = 4;
    const NUMBER: usize = Self::KNOWN + 1;

    const fn index(self) -> usize {
        match self {
            Self::Errors(against) => against as usize,
            Self::Known => Self::KNOWN,
        }
    }
}

impl From<Against> for Tally {
    fn from(against: Against) -> Self {
        Self::Errors(against)
    }
}

/// A number for each kind of error, and one for known findings.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts([u64; Tally::NUMBER]);

impl Counts {
    /// The number of errors against this.
    pub fn of(self, against: Against) -> u64 {
        self.0[against as usize]
    }

    /// The number of all errors. Known findings are no errors.
    pub fn total(self) -> u64 {
        self.0[..Tally::KNOWN].iter().sum()
    }

    /// The number of known findings.
    pub fn known(self) -> u64 {
        self.0[Tally::KNOWN]
    }

    pub(crate) fn add(&mut self, tally: impl Into<Tally>, count: u64) {
        self.0[tally.into().index()] += count;
    }
}

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        self.0.iter_mut().zip(other.0).for_each(|(count, more)| *count += more);
    }
}

/// How many more violations of each [`Tally`] are described.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Room([usize; Tally::NUMBER]);

impl Room {
    /// For so many of each kind.
    pub fn of_each(max: usize) -> Self {
        Self([max; Tally::NUMBER])
    }

    /// What is left of it after these.
    #[must_use]
    pub fn without(mut self, described: Counts) -> Self {
        let taken = described.0.map(|count| usize::try_from(count).unwrap_or(usize::MAX));
        self.0.iter_mut().zip(taken).for_each(|(room, taken)| *room = room.saturating_sub(taken));
        self
    }

    /// For so many of this kind.
    pub fn of(self, against: Against) -> usize {
        self.0[against as usize]
    }

    /// Takes the room for one of this kind; false where there is none.
    pub fn take(&mut self, tally: impl Into<Tally>) -> bool {
        let room = &mut self.0[tally.into().index()];
        let is_left = *room > 0;
        *room -= usize::from(is_left);
        is_left
    }
}

/// One error and its place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "Finding")]
pub struct Violation {
    /// 1-based line; none when it is about the run as a whole.
    pub line: Option<u64>,
    /// 1-based column in characters.
    pub column: Option<u64>,
    /// RFC 6901 pointer into the document or record.
    pub pointer: String,
    /// What was found and what was expected.
    pub message: String,
    /// What it violates.
    pub against: Against,
    /// Place in the schema, ID of the rule, or kind of the JSON problem.
    pub rule: String,
    /// The schema keyword that rejects the value.
    pub keyword: Option<String>,
    /// Number of the record, from 1.
    pub event: Option<u64>,
    /// The finding of the contract that it shows: it is a warning, not an error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finding: Option<Finding>,
    /// Offset of its place in the input in bytes, where that is known.
    #[serde(skip)]
    pub offset: Option<u64>,
}

impl Violation {
    /// A broken rule.
    pub(crate) fn of_rule(against: Against, rule: &str, pointer: &str, message: String) -> Self {
        let (rule, pointer) = (rule.to_owned(), pointer.to_owned());
        Self {
            line: None,
            column: None,
            pointer,
            message,
            against,
            rule,
            keyword: None,
            event: None,
            finding: None,
            offset: None,
        }
    }

    /// What it is counted as.
    pub(crate) const fn tally(&self) -> Tally {
        if self.finding.is_some() { Tally::Known } else { Tally::Errors(self.against) }
    }

    /// A fault of JSON in what begins at `base`.
    pub fn of_problem(problem: &Problem, base: Position) -> Self {
        let message = problem.message.clone();
        let violation = Self::of_rule(Against::Json, problem.kind.name(), &problem.pointer, message);
        let (offset, line) = (problem.at.offset + base.offset, problem.at.line + base.line - 1);
        violation.located(Some(Position { offset, line, ..problem.at }))
    }

    /// The same at a record.
    #[must_use]
    pub(crate) fn at(mut self, event: u64, line: u64) -> Self {
        (self.event, self.line) = (Some(event), Some(line));
        self
    }

    /// The same with its place, as far as that is known.
    #[must_use]
    pub(crate) fn located(mut self, at: Option<Position>) -> Self {
        self.line = at.map(|at| at.line).or(self.line);
        self.column = at.map(|at| at.column);
        self.offset = at.map(|at| at.offset);
        self
    }

    /// Its place in a file.
    pub fn place(&self, file: &Path) -> Place {
        let at =
            |position: Option<u64>| position.and_then(|position| usize::try_from(position).ok()).unwrap_or(0);
        Place { file: file.to_owned(), line: at(self.line), column: at(self.column) }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = if self.pointer.is_empty() { "the document" } else { &self.pointer };
        let source = if self.keyword.is_some() { "schema" } else { "rule" };
        write!(f, "{place}: {} ({source}: {})", self.message, self.rule)
    }
}

/// What an event breaks.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub violations: Vec<Violation>,
    /// So many more are described.
    pub room: Room,
    /// How many more there are than are described.
    pub more: Counts,
}

impl Found {
    /// Counts a violation that is not to be described; false when it is.
    pub fn counts(&mut self, tally: impl Into<Tally>) -> bool {
        let tally = tally.into();
        let is_described = self.room.take(tally);
        self.more.add(tally, u64::from(!is_described));
        !is_described
    }

    /// Describes a violation, or counts it where there is no room.
    pub fn add(&mut self, violation: Violation) {
        if !self.counts(violation.tally()) {
            self.violations.push(violation);
        }
    }
}

/// A short look at a piece of a document.
pub(crate) fn excerpt(text: &str) -> String {
    sanitize::capped(text, 60)
}
