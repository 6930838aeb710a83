//! Judges records in their order: what each breaks by itself, then what it breaks after those before it.

use super::contract::Contract;
use super::exit_rules::RunExit;
use super::location_buffer::LocationBuffer;
use super::record_validator::{ValidatedRecord, ValidatedRecords, offset_of};
use super::rule_index::place;
use super::stream_state::{RunEvent, StreamOutcome, StreamState};
use super::violation::{Counts, Found, Room, Violation};
use std::cell::RefCell;
use strict_json::{Position, Tape};

/// Where the records that are judged come from.
pub(super) trait RecordSource {
    /// The value of a record.
    fn value(&mut self, record: &ValidatedRecord) -> &Tape;
    /// The place of an offset in a record; none when it lies too far back.
    fn locate(&self, record: &ValidatedRecord, offset: u64) -> Option<Position>;
}

/// The record that was read last.
pub(super) struct LastRecord<'a> {
    pub value: &'a Tape,
    /// What was read last; none for values that were not read.
    pub read: Option<&'a RefCell<LocationBuffer>>,
}

impl RecordSource for LastRecord<'_> {
    fn value(&mut self, _record: &ValidatedRecord) -> &Tape {
        self.value
    }

    fn locate(&self, _record: &ValidatedRecord, offset: u64) -> Option<Position> {
        self.read?.borrow().locate(offset)
    }
}

/// How records are judged.
#[derive(Clone, Copy)]
pub(super) struct Judging<'e> {
    /// Each record is a run of its own, which ends so.
    pub each_exits: Option<RunExit<'e>>,
    /// Violations have the number and the line of their record.
    pub numbered: bool,
}

/// Judges one record after another.
#[derive(Debug)]
pub(super) struct RecordPipeline<'c> {
    pub contract: &'c Contract,
    state: StreamState,
}

impl<'c> RecordPipeline<'c> {
    /// One that has seen nothing yet.
    pub fn new(contract: &'c Contract) -> Self {
        Self { contract, state: StreamState::new(&contract.spec) }
    }

    /// Judges these records, which are then forgotten. Describes violations as long as there is room for them, and
    /// gives how many more there are.
    pub fn judge(
        &mut self,
        records: &mut ValidatedRecords,
        source: &mut impl RecordSource,
        judging: &Judging<'_>,
        room: &mut Room,
        found: &mut Vec<Violation>,
    ) -> Counts {
        let spec = &self.contract.spec;
        let mut own = records.violations.drain(..).peekable();
        let (mut more, mut inputs) = (std::mem::take(&mut records.more), 0);
        let mut broken = Found { room: *room, ..Found::default() };
        for (index, record) in records.list.iter().enumerate() {
            let event = RunEvent {
                class: record.class,
                unknown: record.class.unknown.map(|name| records.extracts.names.shown(name)),
                inputs: &records.extracts.inputs[inputs..record.inputs_end],
                line: record.line,
            };
            inputs = record.inputs_end;
            self.state.step(spec, event, &mut broken, &mut |at, nth| {
                source.value(record).root().and_then(|root| place(at, nth, root))
            });
            let event = self.state.events;
            let breaks_nothing =
                broken.violations.is_empty() && own.peek().is_none_or(|own| own.record != index);
            if breaks_nothing && judging.each_exits.is_none() {
                continue;
            }
            let mut add = |violation: Violation, offset: Option<u64>| {
                let offset = offset.or_else(|| offset_of(source.value(record), &violation.pointer));
                let at = offset.and_then(|offset| source.locate(record, offset));
                let violation = if judging.numbered { violation.at(event, record.line) } else { violation };
                found.push(violation.located(at));
            };
            while let Some(own) = own.next_if(|own| own.record == index) {
                match broken.room.take(own.violation.tally()) {
                    true => add(own.violation, own.offset),
                    false => more.add(own.violation.tally(), 1),
                }
            }
            broken.violations.drain(..).for_each(|violation| add(violation, None));
            let ends = judging.each_exits.iter().map(|exit| self.state.finish(self.contract, exit));
            for violation in ends.flat_map(|outcome| outcome.violations.into_iter().chain(outcome.known)) {
                match broken.room.take(violation.tally()) {
                    true => add(violation, None),
                    false => more.add(violation.tally(), 1),
                }
            }
        }
        *room = broken.room;
        more += broken.more;
        drop(own);
        records.list.clear();
        records.extracts.clear();
        more
    }

    /// Judges the end of a run; what comes then is a new run.
    pub fn finish(&mut self, exit: &RunExit<'_>) -> StreamOutcome {
        self.state.finish(self.contract, exit)
    }
}
