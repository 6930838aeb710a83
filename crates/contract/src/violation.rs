//! Violations of a contract by a document, a stream or a run, and their counts.

use super::finding::Finding;
use crate::error::Place;
use schemars::JsonSchema;
use serde::Serialize;
use std::fmt;
use std::ops::AddAssign;
use std::path::Path;
use strict_json::{Position, Problem, sanitize};

/// The kind of requirement that is violated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Against {
    /// The syntax of strict JSON or JSON Lines.
    Json,
    /// The schema of a document or record.
    Schema,
    /// A rule of the contract on the events of a stream.
    Stream,
    /// The conditions on the exit code, stdout and stderr.
    Exit,
}

/// The category by which violations are limited and counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Category {
    Errors(Against),
    /// Violations that are known faults of the program. They are warnings, counted apart from errors.
    Known,
}

impl Category {
    const KNOWN_INDEX: usize = 4;
    const COUNT: usize = Self::KNOWN_INDEX + 1;

    const fn index(self) -> usize {
        match self {
            Self::Errors(against) => against as usize,
            Self::Known => Self::KNOWN_INDEX,
        }
    }
}

impl From<Against> for Category {
    fn from(against: Against) -> Self {
        Self::Errors(against)
    }
}

/// The number of errors of each kind, and the number of known findings.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ViolationCounts([u64; Category::COUNT]);

impl ViolationCounts {
    /// Returns the number of errors against this kind of requirement.
    pub fn count_against(self, against: Against) -> u64 {
        self.0[against as usize]
    }

    /// Returns the number of all errors; known findings are not errors.
    pub fn error_count(self) -> u64 {
        self.0[..Category::KNOWN_INDEX].iter().sum()
    }

    /// Returns the number of known findings.
    pub fn known_count(self) -> u64 {
        self.0[Category::KNOWN_INDEX]
    }

    pub(crate) fn add(&mut self, category: impl Into<Category>, count: u64) {
        self.0[category.into().index()] += count;
    }
}

impl AddAssign for ViolationCounts {
    fn add_assign(&mut self, other: Self) {
        self.0.iter_mut().zip(other.0).for_each(|(count, more)| *count += more);
    }
}

/// The number of violations of each [`Category`] that can still be reported; further ones are only counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct ReportLimit([usize; Category::COUNT]);

impl ReportLimit {
    /// Creates a limit of `max` violations per category.
    pub fn per_category(max: usize) -> Self {
        Self([max; Category::COUNT])
    }

    /// Returns the limit that remains after the violations `reported`.
    #[must_use]
    pub fn after_reporting(mut self, reported: ViolationCounts) -> Self {
        let used = reported.0.map(|count| usize::try_from(count).unwrap_or(usize::MAX));
        self.0.iter_mut().zip(used).for_each(|(limit, used)| *limit = limit.saturating_sub(used));
        self
    }

    /// Returns the number of errors of a kind that can still be reported.
    pub fn remaining_errors(self, against: Against) -> usize {
        self.0[against as usize]
    }

    /// Counts one violation of a category; returns false if the limit of the category is already reached.
    pub fn take_one(&mut self, category: impl Into<Category>) -> bool {
        let limit = &mut self.0[category.into().index()];
        let fits = *limit > 0;
        *limit -= usize::from(fits);
        fits
    }
}

/// A violation of a contract, with its place in the input.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "Finding")]
pub struct Violation {
    /// 1-based line in the input; null if the violation concerns the run as a whole.
    pub line: Option<u64>,
    /// 1-based column in characters.
    pub column: Option<u64>,
    /// RFC 6901 pointer into the document or record.
    pub pointer: String,
    /// What was expected and what was found.
    pub message: String,
    /// The kind of requirement that is violated.
    pub against: Against,
    /// What is violated: a location in the schema, the ID of a rule, or a kind of JSON problem.
    pub rule: String,
    /// The schema keyword that rejects the value; null for violations of rules and of JSON.
    pub keyword: Option<String>,
    /// Number of the record in the input, from 1.
    pub event: Option<u64>,
    /// The known finding of the contract that the violation shows. With a finding, the violation is a warning instead
    /// of an error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finding: Option<Finding>,
    /// Byte offset in the input, if known.
    #[serde(skip)]
    pub offset: Option<u64>,
}

impl Violation {
    /// Creates a violation of a rule, a schema or JSON, without a place in the input.
    pub(crate) fn new(against: Against, rule: &str, pointer: &str, message: String) -> Self {
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

    pub(crate) const fn category(&self) -> Category {
        if self.finding.is_some() { Category::Known } else { Category::Errors(self.against) }
    }

    /// Creates a violation from a JSON problem. The part of the input that was read begins at `base`.
    pub fn from_problem(problem: &Problem, base: Position) -> Self {
        let message = problem.message.clone();
        let violation = Self::new(Against::Json, problem.kind.name(), &problem.pointer, message);
        let (offset, line) = (problem.position.offset + base.offset, problem.position.line + base.line - 1);
        violation.with_position(Some(Position { offset, line, ..problem.position }))
    }

    /// Returns the violation with the number of its record and the line of the record.
    #[must_use]
    pub(crate) fn in_record(mut self, event: u64, line: u64) -> Self {
        (self.event, self.line) = (Some(event), Some(line));
        self
    }

    /// Returns the violation with the line, column and offset of `at`. If `at` is `None`, only the line stays.
    #[must_use]
    pub(crate) fn with_position(mut self, at: Option<Position>) -> Self {
        self.line = at.map(|at| at.line).or(self.line);
        self.column = at.map(|at| at.column);
        self.offset = at.map(|at| at.offset);
        self
    }

    /// Returns the place of the violation in `file`; a line or column that is unknown is 0.
    pub fn place(&self, file: &Path) -> Place {
        let number =
            |number: Option<u64>| number.and_then(|number| usize::try_from(number).ok()).unwrap_or(0);
        Place { file: file.to_owned(), line: number(self.line), column: number(self.column) }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = if self.pointer.is_empty() { "the document" } else { &self.pointer };
        let source = if self.keyword.is_some() { "schema" } else { "rule" };
        write!(f, "{place}: {} ({source}: {})", self.message, self.rule)
    }
}

/// Collects violations up to a limit, and counts the others.
#[derive(Debug, Default)]
pub(crate) struct LimitedViolations {
    pub violations: Vec<Violation>,
    pub limit: ReportLimit,
    /// Number of violations beyond the limit.
    pub omitted: ViolationCounts,
}

impl LimitedViolations {
    /// Counts a violation of a category. If the limit is reached, counts it as omitted and returns true.
    pub fn count_if_full(&mut self, category: impl Into<Category>) -> bool {
        let category = category.into();
        let fits = self.limit.take_one(category);
        self.omitted.add(category, u64::from(!fits));
        !fits
    }

    pub fn add(&mut self, violation: Violation) {
        if !self.count_if_full(violation.category()) {
            self.violations.push(violation);
        }
    }
}

/// Returns at most 60 characters of a text, sanitised.
pub(crate) fn excerpt(text: &str) -> String {
    sanitize::sanitize_capped(text, 60)
}
