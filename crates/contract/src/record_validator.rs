//! Validates records by themselves: by their schema, and by the rules on their own values.

use super::contract::Contract;
use super::pointer::Pointer;
use super::rule_index::{Extracts, RecordClass};
use super::violation::{Against, Counts, Found, Room, Violation};
use strict_json::{Event, Sink, Tape};

/// Records that were validated by themselves, in their order.
#[derive(Debug, Default)]
pub(super) struct ValidatedRecords {
    pub list: Vec<ValidatedRecord>,
    /// What the rules between records need.
    pub extracts: Extracts,
    /// What the records break by themselves.
    pub violations: Vec<OwnViolation>,
    /// How much more they break by themselves than is described.
    pub more: Counts,
    /// Records of which something could not be judged.
    pub unjudged: u64,
}

/// A record that was validated by itself.
#[derive(Debug)]
pub(super) struct ValidatedRecord {
    pub class: RecordClass,
    /// The end of its inputs of rules; they begin where those of the record before end.
    pub inputs_end: usize,
    /// The line that it begins in.
    pub line: u64,
    /// Where it begins and ends in what was read.
    pub start: u64,
    pub end: u64,
}

/// What a record breaks by itself.
#[derive(Debug)]
pub(super) struct OwnViolation {
    /// The index of the record.
    pub record: usize,
    /// Where the value begins.
    pub offset: Option<u64>,
    pub violation: Violation,
}

/// Validates one record after another as they are read.
#[derive(Debug)]
pub(super) struct RecordValidator<'c> {
    contract: &'c Contract,
    /// The value of the record that was read last.
    pub value: Tape,
    pub records: ValidatedRecords,
    /// So many more violations are described; the others are counted.
    pub room: Room,
    /// Lines before what is read.
    pub lines_before: u64,
    line: u64,
    start: u64,
}

impl<'c> RecordValidator<'c> {
    /// One that is in line 1.
    pub fn new(contract: &'c Contract, room: Room) -> Self {
        let (value, records) = (Tape::default(), ValidatedRecords::default());
        Self { contract, value, records, room, lines_before: 0, line: 1, start: 0 }
    }

    /// Validates the value, which ends at this offset.
    pub fn validate(&mut self, end: u64) {
        let Some(root) = self.value.root() else { return };
        let (contract, records) = (self.contract, &mut self.records);
        let mut of_rules = Found { room: self.room, ..Found::default() };
        let class = contract.index.extract(&contract.spec, root, &mut records.extracts, &mut of_rules);
        records.more += of_rules.more;
        let mut violations = Vec::new();
        if let Some(schema) = contract.schema_of(class.event_type)
            && !schema.accepts(root)
        {
            let more;
            (violations, more) = schema.node_violations(root, self.room.of(Against::Schema));
            records.more.add(Against::Schema, more);
        }
        let record = records.list.len();
        for violation in violations.into_iter().chain(of_rules.violations) {
            if self.room.take(violation.tally()) {
                let offset = offset_of(&self.value, &violation.pointer);
                records.violations.push(OwnViolation { record, offset, violation });
            } else {
                records.more.add(violation.tally(), 1);
            }
        }
        let (inputs_end, line, start) = (records.extracts.inputs.len(), self.line, self.start);
        records.list.push(ValidatedRecord { class, inputs_end, line, start, end });
    }

    /// Validates a value that is in memory.
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
            self.records.unjudged += u64::from(self.value.take_unjudged());
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

/// Where the value of a pointer begins in the input.
pub(super) fn offset_of(value: &Tape, pointer: &str) -> Option<u64> {
    let root = value.root()?;
    Some(Pointer::literal(pointer)?.of(root).unwrap_or(root).offset())
}
