//! Validates single records: by their schema, and by the rules on their own values.

use super::contract::Contract;
use super::pointer::Pointer;
use super::rule_index::{RecordClass, RuleInputs};
use super::violation::{Against, LimitedViolations, ReportLimit, Violation, ViolationCounts};
use strict_json::{Event, Sink, Tape};

/// Records that were validated individually, in input order.
#[derive(Debug, Default)]
pub(super) struct ValidatedRecords {
    pub records: Vec<ValidatedRecord>,
    /// Facts about the records from which the rules between records are judged.
    pub rule_inputs: RuleInputs,
    /// Violations of schemas and rules by one record alone.
    pub violations: Vec<RecordViolation>,
    /// Numbers of violations beyond the report limit.
    pub omitted: ViolationCounts,
    /// Number of records that could not be judged completely.
    pub incomplete: u64,
}

/// A record that was validated individually.
#[derive(Debug)]
pub(super) struct ValidatedRecord {
    pub class: RecordClass,
    /// Index after the last rule input of this record. Its rule inputs begin where those of the previous record end.
    pub inputs_end: usize,
    /// Number of the line where the record begins, from 1.
    pub line: u64,
    /// Byte offset of the record in the bytes that were read; `end` is the offset after the record.
    pub start: u64,
    pub end: u64,
}

/// A violation of a schema or rule by one record alone.
#[derive(Debug)]
pub(super) struct RecordViolation {
    /// Index of the record in the list of validated records.
    pub record: usize,
    /// Byte offset of the value that violates the schema or rule; `None` if unknown.
    pub offset: Option<u64>,
    pub violation: Violation,
}

/// A sink that validates each record as it is read.
#[derive(Debug)]
pub(super) struct RecordValidator<'c> {
    contract: &'c Contract,
    /// The value of the record that was read last.
    pub value: Tape,
    pub records: ValidatedRecords,
    pub limit: ReportLimit,
    /// Number of lines in the input before the bytes that are read; added to line numbers.
    pub lines_before: u64,
    line: u64,
    start: u64,
}

impl<'c> RecordValidator<'c> {
    pub fn new(contract: &'c Contract, limit: ReportLimit) -> Self {
        let (value, records) = (Tape::default(), ValidatedRecords::default());
        Self { contract, value, records, limit, lines_before: 0, line: 1, start: 0 }
    }

    /// Validates the value on the tape, a record that ends at byte offset `end`.
    pub fn validate(&mut self, end: u64) {
        let Some(root) = self.value.root() else { return };
        let (contract, records) = (self.contract, &mut self.records);
        let mut broken_rules = LimitedViolations { limit: self.limit, ..LimitedViolations::default() };
        let class = contract.index.extract(&contract.spec, root, &mut records.rule_inputs, &mut broken_rules);
        records.omitted += broken_rules.omitted;
        let mut violations = Vec::new();
        if let Some(schema) = contract.schema_of(class.event_type)
            && !schema.accepts(root)
        {
            let omitted;
            (violations, omitted) =
                schema.node_violations(root, self.limit.remaining_errors(Against::Schema));
            records.omitted.add(Against::Schema, omitted);
        }
        let record = records.records.len();
        for violation in violations.into_iter().chain(broken_rules.violations) {
            if self.limit.take_one(violation.category()) {
                let offset = offset_of(&self.value, &violation.pointer);
                records.violations.push(RecordViolation { record, offset, violation });
            } else {
                records.omitted.add(violation.category(), 1);
            }
        }
        let (inputs_end, line, start) = (records.rule_inputs.inputs.len(), self.line, self.start);
        records.records.push(ValidatedRecord { class, inputs_end, line, start, end });
    }

    /// Validates a value in memory, as a record that begins at this line.
    pub fn validate_value(&mut self, line: u64, value: &serde_json::Value) {
        self.line = line;
        self.value.fill(value);
        self.validate(0);
    }
}

impl Sink for RecordValidator<'_> {
    fn begin_record(&mut self, line: u64, offset: u64) {
        self.line = line + self.lines_before;
        self.start = offset;
        self.value.clear(offset, offset);
    }

    fn end_record(&mut self, offset: u64, whole: bool) {
        if whole {
            self.validate(offset);
            self.records.incomplete += u64::from(self.value.take_inconclusive());
        }
    }

    fn tape(&mut self) -> Option<&mut Tape> {
        Some(&mut self.value)
    }

    #[inline(always)]
    fn event(&mut self, event: Event<'_>) {
        self.value.event(event);
    }
}

/// Returns the byte offset of the value at a pointer, or of the root if the pointer matches nothing. `None` without a
/// value.
pub(super) fn offset_of(value: &Tape, pointer: &str) -> Option<u64> {
    let root = value.root()?;
    Some(Pointer::parse_literal(pointer)?.first_match(root).unwrap_or(root).offset())
}
