//! The settings of a validation, and its state between records.

use super::contract::Contract;
use super::exit_rules::RunExit;
use super::record_pipeline::{JudgeOptions, RecordAccess, RecordPipeline};
use super::record_validator::ValidatedRecords;
use super::spec::Framing;
use super::verdict::Verdict;
use super::violation::{ReportLimit, Violation};
use strict_json::ReadOptions;

/// Settings for the validation of inputs.
#[derive(Debug, Clone, Copy)]
pub struct Settings<'a> {
    /// The framing of an input. With `Lines`, each line is a document if the contract has the framing `Document`.
    pub framing: Framing,
    /// Maximum number of errors of each kind that are kept per input; the others are only counted.
    pub max_errors: usize,
    /// How the run ended that printed the input.
    pub exit: RunExit<'a>,
    /// Number of threads that validate JSON Lines; 1 for the calling thread only.
    pub threads: usize,
}

/// Validates inputs against a contract, one after another.
pub struct Validation<'c> {
    pub(super) settings: Settings<'c>,
    pub(super) pipeline: RecordPipeline<'c>,
}

impl<'c> Validation<'c> {
    /// Creates a validation of inputs against a contract.
    pub fn new(contract: &'c Contract, settings: Settings<'c>) -> Self {
        Self { settings, pipeline: RecordPipeline::new(contract) }
    }

    pub(super) fn contract(&self) -> &'c Contract {
        self.pipeline.contract
    }

    /// Returns whether each line is the document of a separate run: the input has lines, but the contract describes a
    /// document.
    pub(super) fn is_document_per_line(&self) -> bool {
        self.settings.framing == Framing::Lines && self.contract().framing() == Framing::Document
    }

    pub(super) fn options(&self) -> ReadOptions {
        ReadOptions { max_problems: self.settings.max_errors.max(1), ..ReadOptions::default() }
    }

    /// Returns how many more violations `verdict` can keep.
    pub(super) fn limit(&self, verdict: &Verdict) -> ReportLimit {
        ReportLimit::per_category(self.settings.max_errors).after_reporting(verdict.kept)
    }

    /// Judges records. Adds their violations to `found` up to `limit`, and the numbers of the others to `verdict`.
    pub(super) fn judge(
        &mut self,
        records: &mut ValidatedRecords,
        source: &mut impl RecordAccess,
        limit: &mut ReportLimit,
        found: &mut Vec<Violation>,
        verdict: &mut Verdict,
    ) {
        let several = self.is_document_per_line();
        let options = JudgeOptions {
            each_exits: several.then_some(self.settings.exit),
            numbered: self.settings.framing.has_events() && !several,
        };
        verdict.skipped_facts += std::mem::take(&mut records.incomplete);
        verdict.omitted += self.pipeline.judge(records, source, &options, limit, found);
    }

    /// Judges the end of a run, and adds the result to `verdict`.
    pub(super) fn finish(&mut self, verdict: &mut Verdict) {
        let outcome = self.pipeline.finish(&self.settings.exit);
        verdict.add(outcome.violations.into_iter().chain(outcome.known), self.limit(verdict));
        verdict.skipped_facts += outcome.unjudged;
        verdict.unknown_types.extend(outcome.unknown);
    }
}
