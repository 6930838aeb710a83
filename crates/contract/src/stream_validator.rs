//! Validates the values of runs in memory, record by record.

use super::contract::Contract;
use super::exit_rules::RunExit;
use super::record_pipeline::{JudgeOptions, LastRecord, RecordPipeline};
use super::record_validator::RecordValidator;
use super::spec::Framing;
use super::stream_state::StreamOutcome;
use super::violation::{Against, ReportLimit, Violation};
use serde_json::Value;

/// Validates the outputs of runs in memory, one run after another.
///
/// Push each record of the stream, or the document. Then call [`StreamValidator::finish`] with the exit of the run.
#[derive(Debug)]
pub struct StreamValidator<'c> {
    validator: RecordValidator<'c>,
    pipeline: RecordPipeline<'c>,
    /// The known findings that the records of the current run have shown.
    known: Vec<Violation>,
}

impl StreamValidator<'_> {
    /// Judges the next record, or the document: by its schema, by the rules on its own values, and by the rules between
    /// records. `line` is the line where it begins, from 1. [`StreamValidator::finish`] returns the known findings.
    pub fn push(&mut self, line: u64, value: &Value) -> Vec<Violation> {
        self.validator.validate_value(line, value);
        let RecordValidator { value, records, .. } = &mut self.validator;
        let options =
            JudgeOptions { each_exits: None, numbered: self.pipeline.contract.framing().has_events() };
        let (mut found, mut limit) = (Vec::new(), ReportLimit::per_category(usize::MAX));
        self.pipeline.judge(
            records,
            &mut LastRecord { value, buffer: None },
            &options,
            &mut limit,
            &mut found,
        );
        self.known.extend(found.extract_if(.., |violation| violation.finding.is_some()));
        found
    }

    /// Judges a complete document. If the contract has the framing `array`, the document is an array of all events,
    /// which count as beginning in line 1.
    pub fn push_document(&mut self, document: &Value) -> Vec<Violation> {
        match document {
            _ if self.pipeline.contract.framing() != Framing::Array => self.push(1, document),
            Value::Array(events) => events.iter().flat_map(|event| self.push(1, event)).collect(),
            _ => vec![array_violation()],
        }
    }

    /// Judges the run as a whole, after all of its records. After that, the validator is ready for the next run.
    pub fn finish(&mut self, exit: &RunExit<'_>) -> StreamOutcome {
        let mut outcome = self.pipeline.finish(exit);
        outcome.known.splice(..0, self.known.drain(..));
        outcome
    }
}

/// Returns the violation by a document that is not an array, as the framing requires.
pub(super) fn array_violation() -> Violation {
    Violation::new(Against::Schema, "array", "", "expected an array of events".to_owned())
}

impl Contract {
    /// Creates a validator for runs whose records are values in memory.
    pub fn validator(&self) -> StreamValidator<'_> {
        StreamValidator {
            validator: RecordValidator::new(self, ReportLimit::per_category(usize::MAX)),
            pipeline: RecordPipeline::new(self),
            known: Vec::new(),
        }
    }
}
