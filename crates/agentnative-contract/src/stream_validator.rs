//! Validates values that are in memory, one record after another.

use super::contract::Contract;
use super::exit_rules::RunExit;
use super::record_pipeline::{Judging, LastRecord, RecordPipeline};
use super::record_validator::RecordValidator;
use super::spec::Framing;
use super::stream_state::StreamOutcome;
use super::violation::Violation;
use serde_json::Value;

/// Validates one run after another.
///
/// Push the document, or each record of the stream, and then [`StreamValidator::finish`] with how the run
/// ended.
#[derive(Debug)]
pub struct StreamValidator<'c> {
    validator: RecordValidator<'c>,
    pipeline: RecordPipeline<'c>,
}

impl StreamValidator<'_> {
    /// Judges the next record, which begins in this line (from 1), or the document: by its schema, by
    /// the rules on its own values, and by those on what came before.
    pub fn push(&mut self, line: u64, value: &Value) -> Vec<Violation> {
        self.validator.validate_value(line, value);
        let RecordValidator { value, records, .. } = &mut self.validator;
        let judging = Judging {
            each_exits: None,
            numbered: self.pipeline.contract.framing() == Framing::Lines,
            max_violations: usize::MAX,
        };
        let mut found = Vec::new();
        self.pipeline.judge(records, &mut LastRecord { value, read: None }, &judging, &mut found);
        found
    }

    /// Judges the run as a whole. The validator is then ready for the next run.
    pub fn finish(&mut self, exit: &RunExit<'_>) -> StreamOutcome {
        self.pipeline.finish(exit)
    }
}

impl Contract {
    /// A validator of values that has seen nothing yet.
    pub fn validator(&self) -> StreamValidator<'_> {
        StreamValidator {
            validator: RecordValidator::new(self, usize::MAX),
            pipeline: RecordPipeline::new(self),
        }
    }
}
