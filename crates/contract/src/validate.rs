//! Validates inputs against a contract: strictly parsed, in constant memory, with positions of errors.

use super::chunks::RemainingInput;
use super::exit_rules::RunExit;
use super::location_buffer::{LocationBuffer, TeeReader};
use super::parallel;
use super::pointer::Pointer;
use super::record_pipeline::LastRecord;
use super::record_validator::RecordValidator;
use super::schema::Schema;
use super::spec::Framing;
use super::stream_validator::array_violation;
use super::validation::Validation;
use super::verdict::Verdict;
use super::violation::{Against, ReportLimit, Violation};
use crate::budget;
use std::cell::RefCell;
use std::io::{self, Read};
use strict_json::{
    ArrayRecords, Event, Position, ProblemKind, ReadOptions, ReadSummary, Sink, Tape, read_document,
    read_lines,
};

impl Validation<'_> {
    /// Validates an input, and reads it to its end. `progress` receives the number of bytes read so far.
    ///
    /// # Errors
    /// If the reader fails.
    pub fn validate(
        &mut self,
        reader: impl Read + Send,
        progress: &mut dyn FnMut(u64),
    ) -> io::Result<Verdict> {
        self.read(reader, progress, None)
    }

    /// Validates like [`Validation::validate`], but on the calling thread. The observer receives each complete record
    /// with its violations, which are then not in the verdict. `max_errors` applies to each record.
    ///
    /// # Errors
    /// If the reader fails.
    pub fn validate_observed(
        &mut self,
        reader: impl Read + Send,
        observer: &mut dyn RecordObserver,
    ) -> io::Result<Verdict> {
        self.read(reader, &mut |_| budget::finish_step(), Some(observer))
    }

    fn read(
        &mut self,
        reader: impl Read + Send,
        progress: &mut dyn FnMut(u64),
        observer: Observer<'_, '_>,
    ) -> io::Result<Verdict> {
        let mut verdict = Verdict::default();
        let is_finished = match self.settings.framing {
            Framing::Document | Framing::Array => self.document(reader, &mut verdict, progress, observer)?,
            Framing::Lines => {
                if observer.is_some() {
                    self.lines(reader, Position::START, &mut verdict, progress, observer)?;
                } else if let Some(RemainingInput { reader, base }) =
                    parallel::read(self, reader, &mut verdict, progress)?
                {
                    self.lines(reader, base, &mut verdict, progress, None)?;
                }
                self.is_document_per_line()
            }
        };
        progress(verdict.bytes);
        if !is_finished {
            self.finish(&mut verdict);
        }
        Ok(verdict)
    }

    /// Validates lines as a stream, whatever their length and however the records are split over lines.
    fn lines(
        &mut self,
        reader: impl Read,
        base: Position,
        verdict: &mut Verdict,
        progress: &mut dyn FnMut(u64),
        observer: Observer<'_, '_>,
    ) -> io::Result<()> {
        let (options, limit) = (self.options(), self.limit(verdict));
        let buffer = LocationBuffer::new(base);
        let mut records = RecordReader::new(self, verdict, &buffer, observer);
        records.validator.lines_before = base.line - 1;
        let reader = TeeReader { reader, buffer: &buffer, on_progress: progress };
        let summary = read_lines(reader, &options, &mut records)?;
        let found = records.found;
        verdict.merge(&summary, found, base, limit, |_| true);
        Ok(())
    }

    /// Validates one document. Returns true if the end of the run does not have to be judged, because the document is
    /// incomplete.
    fn document(
        &mut self,
        reader: impl Read,
        verdict: &mut Verdict,
        progress: &mut dyn FnMut(u64),
        observer: Observer<'_, '_>,
    ) -> io::Result<bool> {
        let (options, contract, limit) = (self.options(), self.contract(), self.limit(verdict));
        let buffer = LocationBuffer::new(Position::START);
        let mut records = RecordReader::new(self, verdict, &buffer, observer);
        let reader = TeeReader { reader, buffer: &buffer, on_progress: progress };
        let summary = if records.validation.settings.framing == Framing::Array {
            records.judge_array_elements(reader, &options)?
        } else {
            // An observer receives complete records.
            records.elements = contract.elements.as_deref().filter(|_| records.observer.is_none());
            let summary = read_document(reader, &options, &mut records)?;
            if summary.complete > 0 {
                records.validator.validate(summary.bytes);
                records.judge();
            }
            summary
        };
        let RecordReader { mut validator, found, .. } = records;
        verdict.skipped_facts += u64::from(validator.value.take_inconclusive());
        // The end of the run decides whether the document may be missing.
        let may_be_missing = summary.count(ProblemKind::Empty) > 0
            && self.settings.exit != RunExit::default()
            && !contract.spec.conditions.is_empty();
        let keep = |kind| !(kind == ProblemKind::Empty && may_be_missing);
        verdict.merge(&summary, found, Position::START, limit, keep);
        let is_finished = summary.complete == 0 && !may_be_missing;
        if is_finished {
            self.pipeline.finish(&RunExit::default());
        }
        Ok(is_finished)
    }
}

/// A complete record with its violations.
pub struct JudgedRecord<'r> {
    /// Name of the event type; `None` for a type that the contract does not define and in documents.
    pub event_type: Option<&'r str>,
    /// Name of the type, if the contract does not define it.
    pub unknown: Option<&'r str>,
    /// Number of the line where the record begins.
    pub line: u64,
    /// Value of the record.
    pub value: &'r Tape,
    /// The violations that the record causes.
    pub violations: Vec<Violation>,
    buffer: &'r RefCell<LocationBuffer>,
}

impl JudgedRecord<'_> {
    /// Returns the line and column of a byte offset; `None` if it is no longer buffered.
    pub fn locate(&self, offset: u64) -> Option<Position> {
        self.buffer.borrow().locate(offset)
    }
}

/// Receives each complete record after it was judged.
pub trait RecordObserver {
    /// Receives the next record.
    fn observe(&mut self, record: JudgedRecord<'_>);
}

type Observer<'o, 'd> = Option<&'o mut (dyn RecordObserver + 'd)>;

/// Judges each record once it is complete, and the elements of a document individually if its schema allows that.
struct RecordReader<'r, 'c, 'd> {
    validation: &'r mut Validation<'c>,
    validator: RecordValidator<'c>,
    buffer: &'r RefCell<LocationBuffer>,
    verdict: &'r mut Verdict,
    found: Vec<Violation>,
    /// The number of violations that can still be reported.
    limit: ReportLimit,
    /// Schema of the elements, if the document is judged element by element.
    elements: Option<&'c Schema>,
    /// Number of elements of the document that were judged.
    count: u64,
    observer: Observer<'r, 'd>,
}

impl<'r, 'c, 'd> RecordReader<'r, 'c, 'd> {
    fn new(
        validation: &'r mut Validation<'c>,
        verdict: &'r mut Verdict,
        buffer: &'r RefCell<LocationBuffer>,
        observer: Observer<'r, 'd>,
    ) -> Self {
        let limit = validation.limit(verdict);
        let validator = RecordValidator::new(validation.contract(), limit);
        let found = Vec::new();
        Self { validation, validator, buffer, verdict, found, limit, elements: None, count: 0, observer }
    }

    /// Judges the record that was read last.
    fn judge(&mut self) {
        let RecordValidator { value, records, .. } = &mut self.validator;
        let judged = records.records.last().filter(|_| self.observer.is_some());
        let judged = judged.map(|record| {
            let unknown =
                record.class.unknown_type.map(|name| records.rule_inputs.names.display_name(name).to_owned());
            (record.class.event_type, unknown, record.line)
        });
        let mut source = LastRecord { value, buffer: Some(self.buffer) };
        self.validation.judge(records, &mut source, &mut self.limit, &mut self.found, self.verdict);
        if let (Some(observer), Some((event_type, unknown, line))) = (&mut self.observer, judged) {
            let violations = std::mem::take(&mut self.found);
            let (value, buffer) = (&self.validator.value, self.buffer);
            let mut types = self.validation.contract().spec.event_types();
            let event_type = event_type.and_then(|index| types.nth(index)).map(String::as_str);
            let unknown = unknown.as_deref();
            observer.observe(JudgedRecord { event_type, unknown, line, value, violations, buffer });
            self.limit = ReportLimit::per_category(self.validation.settings.max_errors);
        }
        self.validator.limit = self.limit;
    }

    /// Reads a document that has to be an array, and judges each of its elements.
    fn judge_array_elements(&mut self, reader: impl Read, options: &ReadOptions) -> io::Result<ReadSummary> {
        let buffer = self.buffer;
        let mut items =
            ArrayRecords::new(self, |start| buffer.borrow().locate(start).map_or(1, |at| at.line));
        let mut summary = read_document(reader, options, &mut items)?;
        let (count, other) = (items.count, items.non_array_start);
        match other {
            Some(start) => {
                self.found.push(array_violation().with_position(self.buffer.borrow().locate(start)))
            }
            None => summary.records = count,
        }
        Ok(summary)
    }

    /// Handles the end of a value at offset `end`: if it completes an element of the root, judges this element and
    /// removes it from the tape.
    fn end_value(&mut self, schema: &Schema, end: u64) {
        let value = &mut self.validator.value;
        if !value.is_element_complete() {
            return;
        }
        if let Some(element) = value.last_element()
            && !schema.accepts(element)
        {
            let (violations, omitted) =
                schema.node_violations(element, self.limit.remaining_errors(Against::Schema));
            self.verdict.omitted.add(Against::Schema, omitted);
            for mut violation in violations {
                self.limit.take_one(Against::Schema);
                let inner = Pointer::parse_literal(&violation.pointer)
                    .and_then(|pointer| pointer.first_match(element));
                let at = self.buffer.borrow().locate(inner.unwrap_or(element).offset());
                violation.pointer = format!("/{}{}", self.count, violation.pointer);
                self.found.push(violation.with_position(at));
            }
        }
        self.count += 1;
        value.clear_elements(end);
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
            self.end_value(schema, end);
        }
    }
}
