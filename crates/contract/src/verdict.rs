//! The result of validating one input.

use super::stream_state::StreamOutcome;
use super::violation::{Against, Counts, Room, Tally, Violation};
use std::collections::BTreeMap;
use strict_json::{Position, ProblemKind, Summary};

/// What validating one input gives.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Verdict {
    /// The first errors of each kind, in the order of the input; those of the run as a whole come last.
    pub findings: Vec<Violation>,
    /// How many more errors of each kind there are that `findings` does not show.
    pub more: Counts,
    /// Number of records; 1 for a document, the number of items for an array of events.
    pub records: u64,
    /// Length of the input.
    pub bytes: u64,
    /// How many records of types that the contract does not know; "" for records without a type.
    pub unknown: BTreeMap<String, u64>,
    /// Number of rule checks that were skipped because of the memory limit.
    pub unjudged: u64,
    /// The first known findings: warnings, not errors, in the order of the input. `more` counts the others as well.
    pub known: Vec<Violation>,
    /// How many errors of each kind `findings` shows, and how many findings `known`.
    pub(super) kept: Counts,
}

impl Verdict {
    /// Nothing is wrong.
    pub fn is_valid(&self) -> bool {
        self.findings.is_empty() && self.more.total() == 0
    }

    /// Keeps the first `max` errors and known findings, and counts the others.
    pub fn keep_first(&mut self, max: usize) {
        for list in [&mut self.findings, &mut self.known] {
            for violation in list.split_off(max.min(list.len())) {
                self.more.add(violation.tally(), 1);
            }
        }
    }

    /// Keeps violations as long as there is room, and counts the others.
    pub(super) fn add(&mut self, found: impl IntoIterator<Item = Violation>, mut room: Room) {
        for violation in found {
            let tally = violation.tally();
            if !room.take(tally) {
                self.more.add(tally, 1);
                continue;
            }
            self.kept.add(tally, 1);
            match tally {
                Tally::Errors(_) => self.findings.push(violation),
                Tally::Known => self.known.push(violation),
            }
        }
    }

    /// Adds what was read, and faults of JSON and violations in the order of their places.
    pub(super) fn merge(
        &mut self,
        summary: &Summary,
        found: Vec<Violation>,
        base: Position,
        room: Room,
        keep: impl Fn(ProblemKind) -> bool,
    ) {
        self.records += summary.records;
        self.bytes += summary.bytes;
        let rejecting = ProblemKind::ALL.iter().filter(|kind| kind.rejects() && keep(**kind));
        let total: u64 = rejecting.map(|kind| summary.count(*kind)).sum();
        let kept = summary.problems.iter().filter(|problem| problem.kind.rejects() && keep(problem.kind));
        let mut all: Vec<Violation> = kept.map(|problem| Violation::of_problem(problem, base)).collect();
        self.more.add(Against::Json, total - all.len() as u64);
        all.extend(found);
        all.sort_by_key(|violation| (violation.line, violation.column.unwrap_or(0)));
        self.add(all, room);
    }
}

impl From<StreamOutcome> for Verdict {
    /// That on a run that printed nothing.
    fn from(outcome: StreamOutcome) -> Self {
        let StreamOutcome { violations, known, events, unknown, unjudged } = outcome;
        let mut verdict = Self { records: events, unknown, unjudged, ..Self::default() };
        verdict.add(violations.into_iter().chain(known), Room::of_each(usize::MAX));
        verdict
    }
}
