//! Validates inputs against a contract: strictly read, in constant memory, errors with their places.

use super::chunks::Rest;
use super::exit_rules::RunExit;
use super::location_buffer::{LocationBuffer, TeeReader};
use super::parallel;
use super::pointer::Pointer;
use super::record_pipeline::LastRecord;
use super::record_validator::RecordValidator;
use super::schema::Schema;
use super::spec::Framing;
use super::stream_validator::no_array;
use super::validation::Validation;
use super::verdict::Verdict;
use super::violation::{Against, Room, Violation};
use crate::budget;
use std::cell::RefCell;
use std::io::{self, Read};
use strict_json::{
    ArrayRecords, Event, Position, ProblemKind, ReadOptions, Sink, Summary, Tape, read_document, read_lines,
};

impl Validation<'_> {
    /// Reads an input to its end and judges it. `progress` is given now and then how many bytes were
    /// read so far. An error only when the reader fails.
    pub fn input(&mut self, reader: impl Read + Send, progress: &mut dyn FnMut(u64)) -> io::Result<Verdict> {
        self.read(reader, progress, None)
    }

    /// As [`Validation::input`], in this thread: the observer gets each whole record with its errors, which the verdict
    /// then does not have. It keeps `max_errors` of each record.
    pub fn observed(
        &mut self,
        reader: impl Read + Send,
        observer: &mut dyn RecordObserver,
    ) -> io::Result<Verdict> {
        self.read(reader, &mut |_| budget::progress(), Some(observer))
    }

    fn read(
        &mut self,
        reader: impl Read + Send,
        progress: &mut dyn FnMut(u64),
        observer: Observer<'_, '_>,
    ) -> io::Result<Verdict> {
        let mut verdict = Verdict::default();
        let over = match self.settings.framing {
            Framing::Document | Framing::Array => self.document(reader, &mut verdict, progress, observer)?,
            Framing::Lines => {
                if observer.is_some() {
                    self.lines(reader, Position::START, &mut verdict, progress, observer)?;
                } else if let Some(Rest { reader, base }) =
                    parallel::read(self, reader, &mut verdict, progress)?
                {
                    self.lines(reader, base, &mut verdict, progress, None)?;
                }
                self.several_documents()
            }
        };
        progress(verdict.bytes);
        if !over {
            self.finish(&mut verdict);
        }
        Ok(verdict)
    }

    /// Reads lines one by one, whatever their length and however they are torn.
    fn lines(
        &mut self,
        reader: impl Read,
        base: Position,
        verdict: &mut Verdict,
        progress: &mut dyn FnMut(u64),
        observer: Observer<'_, '_>,
    ) -> io::Result<()> {
        let (options, room) = (self.options(), self.room(verdict));
        let read = LocationBuffer::new(base);
        let mut records = RecordReader::new(self, verdict, &read, observer);
        records.validator.lines_before = base.line - 1;
        let reader = TeeReader { reader, buffer: &read, progress };
        let summary = read_lines(reader, &options, &mut records)?;
        let found = records.found;
        verdict.merge(&summary, found, base, room, |_| true);
        Ok(())
    }

    /// Reads one document; gives whether nothing more is to be judged at the end of the run.
    fn document(
        &mut self,
        reader: impl Read,
        verdict: &mut Verdict,
        progress: &mut dyn FnMut(u64),
        observer: Observer<'_, '_>,
    ) -> io::Result<bool> {
        let (options, contract, room) = (self.options(), self.contract(), self.room(verdict));
        let read = LocationBuffer::new(Position::START);
        let mut records = RecordReader::new(self, verdict, &read, observer);
        let reader = TeeReader { reader, buffer: &read, progress };
        let summary = if records.validation.settings.framing == Framing::Array {
            records.array(reader, &options)?
        } else {
            // Who observes a record gets it whole.
            records.elements = contract.elements.as_deref().filter(|_| records.observer.is_none());
            let summary = read_document(reader, &options, &mut records)?;
            if summary.whole > 0 {
                records.validator.validate(summary.bytes);
                records.judge();
            }
            summary
        };
        let RecordReader { mut validator, found, .. } = records;
        verdict.unjudged += u64::from(validator.value.take_unjudged());
        // Whether there may be no document, the end of the run tells.
        let nothing = summary.count(ProblemKind::Empty) > 0
            && self.settings.exit != RunExit::default()
            && !contract.spec.conditions.is_empty();
        let keep = |kind| !(kind == ProblemKind::Empty && nothing);
        verdict.merge(&summary, found, Position::START, room, keep);
        let over = summary.whole == 0 && !nothing;
        if over {
            self.pipeline.finish(&RunExit::default());
        }
        Ok(over)
    }
}

/// A record after it was judged.
pub struct JudgedRecord<'r> {
    /// Its event type, if the contract knows it; none in documents.
    pub event_type: Option<&'r str>,
    /// The name of its type, if that is unknown.
    pub unknown: Option<&'r str>,
    /// The line that it begins in.
    pub line: u64,
    /// The record itself.
    pub value: &'r Tape,
    /// Its violations.
    pub found: Vec<Violation>,
    read: &'r RefCell<LocationBuffer>,
}

impl JudgedRecord<'_> {
    /// The place of an offset; none when it lies too far back.
    pub fn locate(&self, offset: u64) -> Option<Position> {
        self.read.borrow().locate(offset)
    }
}

/// Gets each whole record after it was judged.
pub trait RecordObserver {
    /// Takes the next record.
    fn record(&mut self, record: JudgedRecord<'_>);
}

type Observer<'o, 'd> = Option<&'o mut (dyn RecordObserver + 'd)>;

/// Judges each record as soon as it is read, and a document element by element where its schema allows that.
struct RecordReader<'r, 'c, 'd> {
    validation: &'r mut Validation<'c>,
    validator: RecordValidator<'c>,
    read: &'r RefCell<LocationBuffer>,
    verdict: &'r mut Verdict,
    found: Vec<Violation>,
    /// So many more violations are described.
    room: Room,
    /// The schema of the elements of a document, and how many were judged so far.
    elements: Option<&'c Schema>,
    count: u64,
    observer: Observer<'r, 'd>,
}

impl<'r, 'c, 'd> RecordReader<'r, 'c, 'd> {
    fn new(
        validation: &'r mut Validation<'c>,
        verdict: &'r mut Verdict,
        read: &'r RefCell<LocationBuffer>,
        observer: Observer<'r, 'd>,
    ) -> Self {
        let room = validation.room(verdict);
        let validator = RecordValidator::new(validation.contract(), room);
        let found = Vec::new();
        Self { validation, validator, read, verdict, found, room, elements: None, count: 0, observer }
    }

    /// Judges what was read last.
    fn judge(&mut self) {
        let RecordValidator { value, records, .. } = &mut self.validator;
        let judged = records.list.last().filter(|_| self.observer.is_some());
        let judged = judged.map(|record| {
            let unknown = record.class.unknown.map(|name| records.extracts.names.shown(name).to_owned());
            (record.class.event_type, unknown, record.line)
        });
        let mut source = LastRecord { value, read: Some(self.read) };
        self.validation.judge(records, &mut source, &mut self.room, &mut self.found, self.verdict);
        if let (Some(observer), Some((event_type, unknown, line))) = (&mut self.observer, judged) {
            let found = std::mem::take(&mut self.found);
            let (value, read) = (&self.validator.value, self.read);
            let mut types = self.validation.contract().spec.event_types();
            let event_type = event_type.and_then(|index| types.nth(index)).map(String::as_str);
            let unknown = unknown.as_deref();
            observer.record(JudgedRecord { event_type, unknown, line, value, found, read });
            self.room = Room::of_each(self.validation.settings.max_errors);
        }
        self.validator.room = self.room;
    }

    /// Judges each item of a document that has to be an array.
    fn array(&mut self, reader: impl Read, options: &ReadOptions) -> io::Result<Summary> {
        let read = self.read;
        let mut items = ArrayRecords::new(self, |start| read.borrow().locate(start).map_or(1, |at| at.line));
        let mut summary = read_document(reader, options, &mut items)?;
        let (count, other) = (items.count, items.other);
        match other {
            Some(start) => self.found.push(no_array().located(self.read.borrow().locate(start))),
            None => summary.records = count,
        }
        Ok(summary)
    }

    /// A value has ended; if it is an element of the root, it is judged and forgotten.
    fn value_ended(&mut self, schema: &Schema, end: u64) {
        let value = &mut self.validator.value;
        if !value.is_element_complete() {
            return;
        }
        if let Some(element) = value.element()
            && !schema.accepts(element)
        {
            let (violations, more) = schema.node_violations(element, self.room.of(Against::Schema));
            self.verdict.more.add(Against::Schema, more);
            for mut violation in violations {
                self.room.take(Against::Schema);
                let inner = Pointer::literal(&violation.pointer).and_then(|pointer| pointer.of(element));
                let at = self.read.borrow().locate(inner.unwrap_or(element).offset());
                violation.pointer = format!("/{}{}", self.count, violation.pointer);
                self.found.push(violation.located(at));
            }
        }
        self.count += 1;
        value.forget_elements(end);
    }
}

impl Sink for RecordReader<'_, '_, '_> {
    fn begin_record(&mut self, line: u64, offset: u64) {
        self.validator.begin_record(line, offset);
    }

    fn tape(&mut self) -> Option<&mut Tape> {
        self.validator.tape()
    }

    fn end_record(&mut self, offset: u64, whole: bool) {
        self.validator.end_record(offset, whole);
        self.judge();
    }

    #[inline(always)]
    fn event(&mut self, event: Event<'_>) {
        self.validator.event(event);
        if let Some(schema) = self.elements
            && let Some(end) = event.value_end()
        {
            self.value_ended(schema, end);
        }
    }
}
