//! Settings of a validation, and its state from one record to the next.

use super::contract::Contract;
use super::exit_rules::RunExit;
use super::record_pipeline::{Judging, RecordPipeline, RecordSource};
use super::record_validator::ValidatedRecords;
use super::spec::Framing;
use super::verdict::Verdict;
use super::violation::{Room, Violation};
use strict_json::ReadOptions;

/// How inputs are validated.
#[derive(Debug, Clone, Copy)]
pub struct Settings<'a> {
    /// How data is put into an input. Lines of a contract of documents are a document each.
    pub framing: Framing,
    /// The maximum number of errors of each kind that are kept per input; the others are only counted.
    pub max_errors: usize,
    /// How the run ended that an input is from.
    pub exit: RunExit<'a>,
    /// Threads that validate JSON lines; 1 for this thread alone.
    pub threads: usize,
}

/// Validates one input after another.
pub struct Validation<'c> {
    pub(super) settings: Settings<'c>,
    pub(super) pipeline: RecordPipeline<'c>,
}

impl<'c> Validation<'c> {
    /// A validation that has seen nothing yet.
    pub fn new(contract: &'c Contract, settings: Settings<'c>) -> Self {
        Self { settings, pipeline: RecordPipeline::new(contract) }
    }

    pub(super) fn contract(&self) -> &'c Contract {
        self.pipeline.contract
    }

    /// Whether each line is a run of its own.
    pub(super) fn several_documents(&self) -> bool {
        self.settings.framing == Framing::Lines && self.contract().framing() == Framing::Document
    }

    pub(super) fn options(&self) -> ReadOptions {
        ReadOptions { max_problems: self.settings.max_errors.max(1), ..ReadOptions::default() }
    }

    /// The number of errors that can still be kept.
    pub(super) fn room(&self, verdict: &Verdict) -> Room {
        Room::of_each(self.settings.max_errors).without(verdict.kept)
    }

    /// Judges records; what is found comes into `found`, and what there is no room for is counted.
    pub(super) fn judge(
        &mut self,
        records: &mut ValidatedRecords,
        source: &mut impl RecordSource,
        room: &mut Room,
        found: &mut Vec<Violation>,
        verdict: &mut Verdict,
    ) {
        let several = self.several_documents();
        let judging = Judging {
            each_exits: several.then_some(self.settings.exit),
            numbered: self.settings.framing.has_events() && !several,
        };
        verdict.unjudged += std::mem::take(&mut records.unjudged);
        verdict.more += self.pipeline.judge(records, source, &judging, room, found);
    }

    /// Judges the end of a run.
    pub(super) fn finish(&mut self, verdict: &mut Verdict) {
        let outcome = self.pipeline.finish(&self.settings.exit);
        verdict.add(outcome.violations.into_iter().chain(outcome.known), self.room(verdict));
        verdict.unjudged += outcome.unjudged;
        verdict.unknown.extend(outcome.unknown);
    }
}
