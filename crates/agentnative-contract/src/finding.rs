//! What validating an input gives.

use super::violation::{Broken, Violation};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;
use strict_json::{Position, Problem};

/// What an error is against.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Against {
    /// Strict JSON, or JSON lines.
    Json,
    /// The shape of a document or record.
    Schema,
    /// What holds between events.
    Stream,
    /// What holds between exit code and data.
    Exit,
}

/// One error and its place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Finding {
    /// 1-based line; none when it is about the run as a whole.
    pub line: Option<u64>,
    /// 1-based column in characters.
    pub column: Option<u64>,
    /// RFC 6901 pointer into the document or record.
    pub pointer: String,
    /// What was found and what was expected.
    pub message: String,
    /// What it is against.
    pub against: Against,
    /// Place in the schema, ID of the rule, or kind of the fault of JSON.
    pub rule: String,
    /// The keyword of the schema that rejects.
    pub keyword: Option<String>,
    /// Number of the record, from 1.
    pub event: Option<u64>,
}

impl Finding {
    pub(super) fn of_problem(problem: &Problem, base: Position) -> Self {
        Self {
            line: Some(problem.at.line + base.line - 1),
            column: Some(problem.at.column),
            pointer: problem.pointer.clone(),
            message: problem.message.clone(),
            against: Against::Json,
            rule: problem.kind.name().to_owned(),
            keyword: None,
            event: None,
        }
    }

    pub(super) fn of_violation(violation: Violation, at: Option<Position>) -> Self {
        Self {
            line: at.map(|at| at.line).or(violation.line),
            column: at.map(|at| at.column),
            pointer: violation.pointer,
            message: violation.message,
            against: match violation.broken {
                Broken::Schema => Against::Schema,
                Broken::Stream => Against::Stream,
                Broken::Exit => Against::Exit,
            },
            rule: violation.rule,
            keyword: violation.keyword,
            event: violation.event,
        }
    }
}

/// What validating one input gives.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Verdict {
    /// The first errors, in the order of the input; those of the run as a whole come last.
    pub findings: Vec<Finding>,
    /// How many more records (or faults of JSON) there are with errors that `findings` does not show.
    pub more: u64,
    /// Number of records; 1 for a document.
    pub records: u64,
    /// Length of the input.
    pub bytes: u64,
    /// How many records of types that the contract does not know; "" for records without a type.
    pub unknown: BTreeMap<String, u64>,
    /// How many things could not be judged, because too much had to be remembered.
    pub unjudged: u64,
}

impl Verdict {
    /// Nothing is wrong.
    pub fn is_valid(&self) -> bool {
        self.findings.is_empty() && self.more == 0
    }

    /// Adds errors as long as there is room for them; the rest of a record counts once.
    pub(super) fn add(&mut self, findings: impl IntoIterator<Item = Finding>, most: usize) {
        let mut findings = findings.into_iter();
        let room = most.saturating_sub(self.findings.len());
        self.findings.extend(findings.by_ref().take(room));
        self.more += u64::from(findings.next().is_some());
    }
}
