//! Judges records in order: reports the violations that single records cause, and judges the rules between records.

use super::contract::Contract;
use super::exit_rules::RunExit;
use super::location_buffer::LocationBuffer;
use super::record_validator::{ValidatedRecord, ValidatedRecords, offset_of};
use super::rule_index::nth_scalar;
use super::stream_state::{RunEvent, StreamOutcome, StreamState};
use super::violation::{LimitedViolations, ReportLimit, Violation, ViolationCounts};
use std::cell::RefCell;
use strict_json::{Position, Tape};

/// Gives access to the records that are judged: to their values for messages, and to positions in them.
pub(super) trait RecordAccess {
    /// Returns the value of a record, on a tape.
    fn value(&mut self, record: &ValidatedRecord) -> &Tape;
    /// Returns the line and column of an offset in a record; `None` if these bytes are no longer available.
    fn locate(&self, record: &ValidatedRecord, offset: u64) -> Option<Position>;
}

/// Gives access to the record that was read last.
pub(super) struct LastRecord<'a> {
    pub value: &'a Tape,
    /// The last bytes that were read from the input; `None` for values in memory.
    pub buffer: Option<&'a RefCell<LocationBuffer>>,
}

impl RecordAccess for LastRecord<'_> {
    fn value(&mut self, _record: &ValidatedRecord) -> &Tape {
        self.value
    }

    fn locate(&self, _record: &ValidatedRecord, offset: u64) -> Option<Position> {
        self.buffer?.borrow().locate(offset)
    }
}

/// Settings for judging records with a [`RecordPipeline`].
#[derive(Clone, Copy)]
pub(super) struct JudgeOptions<'e> {
    /// If each record is the output of a separate run: how each of these runs ended.
    pub each_exits: Option<RunExit<'e>>,
    /// Whether a violation gets the number and the line of its record.
    pub numbered: bool,
}

/// Judges a sequence of records in input order, and keeps the state between them.
#[derive(Debug)]
pub(super) struct RecordPipeline<'c> {
    pub contract: &'c Contract,
    state: StreamState,
}

impl<'c> RecordPipeline<'c> {
    pub fn new(contract: &'c Contract) -> Self {
        Self { contract, state: StreamState::new(&contract.spec) }
    }

    /// Judges `records` and clears them. Adds their violations to `found` up to `limit`, and returns the numbers of the
    /// others.
    pub fn judge(
        &mut self,
        records: &mut ValidatedRecords,
        source: &mut impl RecordAccess,
        options: &JudgeOptions<'_>,
        limit: &mut ReportLimit,
        found: &mut Vec<Violation>,
    ) -> ViolationCounts {
        let spec = &self.contract.spec;
        let mut by_record = records.violations.drain(..).peekable();
        let (mut omitted, mut inputs) = (std::mem::take(&mut records.omitted), 0);
        let mut broken = LimitedViolations { limit: *limit, ..LimitedViolations::default() };
        for (index, record) in records.records.iter().enumerate() {
            let event = RunEvent {
                class: record.class,
                unknown: record.class.unknown_type.map(|name| records.rule_inputs.names.display_name(name)),
                inputs: &records.rule_inputs.inputs[inputs..record.inputs_end],
                line: record.line,
            };
            inputs = record.inputs_end;
            self.state.push(spec, event, &mut broken, &mut |pointer, nth| {
                source.value(record).root().and_then(|root| nth_scalar(pointer, nth, root))
            });
            let event = self.state.events;
            let is_valid =
                broken.violations.is_empty() && by_record.peek().is_none_or(|next| next.record != index);
            if is_valid && options.each_exits.is_none() {
                continue;
            }
            let mut add = |violation: Violation, offset: Option<u64>| {
                let offset = offset.or_else(|| offset_of(source.value(record), &violation.pointer));
                let place = offset.and_then(|offset| source.locate(record, offset));
                let violation =
                    if options.numbered { violation.in_record(event, record.line) } else { violation };
                found.push(violation.with_position(place));
            };
            while let Some(next) = by_record.next_if(|next| next.record == index) {
                match broken.limit.take_one(next.violation.category()) {
                    true => add(next.violation, next.offset),
                    false => omitted.add(next.violation.category(), 1),
                }
            }
            broken.violations.drain(..).for_each(|violation| add(violation, None));
            let ends = options.each_exits.iter().map(|exit| self.state.finish(self.contract, exit));
            for violation in ends.flat_map(|outcome| outcome.violations.into_iter().chain(outcome.known)) {
                match broken.limit.take_one(violation.category()) {
                    true => add(violation, None),
                    false => omitted.add(violation.category(), 1),
                }
            }
        }
        *limit = broken.limit;
        omitted += broken.omitted;
        drop(by_record);
        records.records.clear();
        records.rule_inputs.clear();
        omitted
    }

    /// Judges the end of a run; the next record begins a new run.
    pub fn finish(&mut self, exit: &RunExit<'_>) -> StreamOutcome {
        self.state.finish(self.contract, exit)
    }
}
