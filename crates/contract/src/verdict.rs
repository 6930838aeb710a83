//! The result of validating one input.

use super::stream_state::StreamOutcome;
use super::violation::{Against, Category, ReportLimit, Violation, ViolationCounts};
use std::collections::BTreeMap;
use strict_json::{Position, ProblemKind, ReadSummary};

/// The result of validating one input against a contract.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Verdict {
    /// The first errors of each kind, in the order of the input. Errors of the run as a whole come last.
    pub errors: Vec<Violation>,
    /// Number of errors of each kind that are not in `errors`, and of known findings that are not in `known`.
    pub omitted: ViolationCounts,
    /// Number of records: 1 for a document, the number of elements for an array of events.
    pub records: u64,
    /// Length of the input, in bytes.
    pub bytes: u64,
    /// Number of records of each type that the contract does not define; "" for records without a type.
    pub unknown_types: BTreeMap<String, u64>,
    /// Number of checks of rules that were skipped because of the memory limit.
    pub skipped_facts: u64,
    /// The first known findings, which are warnings, in the order of the input. `omitted` counts the others.
    pub known: Vec<Violation>,
    /// Number of errors in `errors` by kind, and of known findings in `known`.
    pub(super) kept: ViolationCounts,
}

impl Verdict {
    /// Returns whether the input has no errors.
    pub fn is_valid(&self) -> bool {
        self.errors.is_empty() && self.omitted.error_count() == 0
    }

    /// Keeps the first `max` errors and the first `max` known findings, and counts the others as omitted.
    pub fn keep_first(&mut self, max: usize) {
        for list in [&mut self.errors, &mut self.known] {
            for violation in list.split_off(max.min(list.len())) {
                self.omitted.add(violation.category(), 1);
            }
        }
    }

    /// Adds violations up to `limit`, and counts the others as omitted.
    pub(super) fn add(&mut self, found: impl IntoIterator<Item = Violation>, mut limit: ReportLimit) {
        for violation in found {
            let category = violation.category();
            if !limit.take_one(category) {
                self.omitted.add(category, 1);
                continue;
            }
            self.kept.add(category, 1);
            match category {
                Category::Errors(_) => self.errors.push(violation),
                Category::Known => self.known.push(violation),
            }
        }
    }

    /// Adds the counts of `summary`, and its JSON problems merged with `found` in the order of their places. `base` is
    /// the position where the part of the input begins; `keep` selects the kinds of problems.
    pub(super) fn merge(
        &mut self,
        summary: &ReadSummary,
        found: Vec<Violation>,
        base: Position,
        limit: ReportLimit,
        keep: impl Fn(ProblemKind) -> bool,
    ) {
        self.records += summary.records;
        self.bytes += summary.bytes;
        let rejecting = ProblemKind::ALL.iter().filter(|kind| kind.rejects() && keep(**kind));
        let total: u64 = rejecting.map(|kind| summary.count(*kind)).sum();
        let kept = summary.problems.iter().filter(|problem| problem.kind.rejects() && keep(problem.kind));
        let mut all: Vec<Violation> = kept.map(|problem| Violation::from_problem(problem, base)).collect();
        self.omitted.add(Against::Json, total - all.len() as u64);
        all.extend(found);
        all.sort_by_key(|violation| (violation.line, violation.column.unwrap_or(0)));
        self.add(all, limit);
    }
}

impl From<StreamOutcome> for Verdict {
    /// Creates the verdict on a run from its outcome alone, without an input.
    fn from(outcome: StreamOutcome) -> Self {
        let StreamOutcome { violations, known, events, unknown, unjudged } = outcome;
        let mut verdict =
            Self { records: events, unknown_types: unknown, skipped_facts: unjudged, ..Self::default() };
        verdict.add(violations.into_iter().chain(known), ReportLimit::per_category(usize::MAX));
        verdict
    }
}
