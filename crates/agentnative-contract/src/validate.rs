//! Holds an input to a contract: strictly read, in constant memory, errors with their places.

use super::chunks::{self, Stopped};
use super::contract::Contract;
use super::ending::Ending;
use super::examine::{Examiner, offset, step};
use super::finding::{Finding, Verdict};
use super::flat::Flat;
use super::judge::Course;
use super::spec::Framing;
use super::tail::{Kept, Tail};
use super::violation::Violation;
use std::cell::RefCell;
use std::io::{self, Read};
use strict_json::{Options, Position, ProblemKind, Sink, Span, Summary, read_document, read_lines};

/// How inputs are held to a contract.
#[derive(Debug, Clone, Copy)]
pub struct Settings<'a> {
    /// How data is put into an input. Lines of a contract of documents are a document each.
    pub framing: Framing,
    /// At most so many errors of an input are kept; the rest is counted.
    pub max_errors: usize,
    /// How the run ended that an input is from.
    pub ending: Ending<'a>,
    /// Threads that validate JSON lines; 1 for this thread alone.
    pub threads: usize,
}

/// Holds one input after another to a contract.
pub struct Validation<'c> {
    pub(super) contract: &'c Contract,
    pub(super) settings: Settings<'c>,
    pub(super) course: Course,
}

impl<'c> Validation<'c> {
    /// A validation that has seen nothing yet.
    pub fn new(contract: &'c Contract, settings: Settings<'c>) -> Self {
        Self { contract, settings, course: Course::new(&contract.spec) }
    }

    /// Goes on with other settings.
    pub fn set(&mut self, settings: Settings<'c>) {
        self.settings = settings;
    }

    /// Reads an input to its end and judges it. `progress` is told now and then how many bytes were
    /// read so far.
    ///
    /// # Errors
    /// When the reader fails.
    pub fn input(&mut self, reader: impl Read + Send, progress: &mut dyn FnMut(u64)) -> io::Result<Verdict> {
        let mut verdict = Verdict::default();
        let mut over = self.several_documents();
        match self.settings.framing {
            Framing::Document => over = self.document(reader, &mut verdict)?,
            Framing::Lines => {
                let stopped = chunks::read(self, reader, &mut verdict, progress)?;
                if let Some(Stopped { rest, base }) = stopped {
                    self.lines(rest, base, &mut verdict)?;
                }
            }
        }
        progress(verdict.bytes);
        if !over {
            self.finish(&mut verdict);
        }
        Ok(verdict)
    }

    /// Whether each line is a run of its own.
    pub(super) fn several_documents(&self) -> bool {
        self.settings.framing == Framing::Lines && self.contract.framing() == Framing::Document
    }

    fn options(&self) -> Options {
        Options { max_problems: self.settings.max_errors.max(1), ..Options::default() }
    }

    /// Judges the end of a run.
    fn finish(&mut self, verdict: &mut Verdict) {
        let outcome = self.course.finish(&self.contract.spec, &self.settings.ending);
        let findings = outcome.violations.into_iter().map(|violation| Finding::of_violation(violation, None));
        verdict.add(findings, self.settings.max_errors);
        verdict.unjudged += outcome.unjudged;
        verdict.unknown.extend(outcome.unknown);
    }

    /// Reads lines one by one, whatever their length and however they are torn.
    fn lines(&mut self, reader: impl Read, base: Position, verdict: &mut Verdict) -> io::Result<()> {
        let options = self.options();
        let tail = Tail::new(base);
        let mut records = Records {
            examiner: Examiner::new(self.contract, self.settings.max_errors),
            validation: self,
            flat: Flat::default(),
            tail: &tail,
            base,
            line: 0,
            found: Vec::new(),
            more: 0,
            unjudged: 0,
        };
        let summary = read_lines(Kept { reader, tail: &tail }, &options, &mut records)?;
        let (found, more, unjudged) = (records.found, records.more, records.unjudged);
        merge(verdict, &summary, found, base, self.settings.max_errors, |_| true);
        verdict.more += more;
        verdict.unjudged += unjudged;
        verdict.records += summary.records;
        verdict.bytes += summary.bytes;
        Ok(())
    }

    /// Reads one document; gives whether all is said, so that the end of the run says nothing more.
    fn document(&mut self, reader: impl Read, verdict: &mut Verdict) -> io::Result<bool> {
        let tail = Tail::new(Position::START);
        let elements = self.contract.elements.as_deref();
        let mut whole = Whole {
            flat: Flat::default(),
            elements,
            root_is_array: false,
            found: Vec::new(),
            more: 0,
            count: 0,
            most: self.settings.max_errors,
            tail: &tail,
        };
        let summary = read_document(Kept { reader, tail: &tail }, &self.options(), &mut whole)?;
        let Whole { mut flat, mut found, more, .. } = whole;
        verdict.more += more;
        if let Some(root) = flat.root().filter(|_| summary.whole > 0) {
            let mut examiner = Examiner::new(self.contract, self.settings.max_errors);
            examiner.examine(root);
            let mut violations = std::mem::take(&mut examiner.violations);
            let event = examiner.facts.event();
            step(self.contract, &mut self.course, event, 1, &mut |look| look(&flat), &mut violations);
            for violation in violations {
                let at = offset(&flat, &violation.pointer).and_then(|offset| tail.borrow().locate(offset));
                found.push(Finding::of_violation(violation, at));
            }
        }
        verdict.unjudged += u64::from(flat.take_unjudged());
        // Whether there may be no document, the ending tells.
        let nothing = summary.count(ProblemKind::Empty) > 0
            && self.settings.ending != Ending::default()
            && !self.contract.spec.conditions.is_empty();
        let keep = |kind| !(kind == ProblemKind::Empty && nothing);
        merge(verdict, &summary, found, Position::START, self.settings.max_errors, keep);
        verdict.records += summary.records;
        verdict.bytes += summary.bytes;
        let over = summary.rejected() && !nothing;
        if over {
            self.course.finish(&self.contract.spec, &Ending::default());
        }
        Ok(over)
    }
}

/// Adds faults of JSON and violations in the order of their places.
pub(super) fn merge(
    verdict: &mut Verdict,
    summary: &Summary,
    found: Vec<Finding>,
    base: Position,
    most: usize,
    keep: impl Fn(ProblemKind) -> bool,
) {
    let rejecting = ProblemKind::ALL.iter().filter(|kind| kind.rejects() && keep(**kind));
    let total: u64 = rejecting.map(|kind| summary.count(*kind)).sum();
    let kept = summary.problems.iter().filter(|problem| problem.kind.rejects() && keep(problem.kind));
    let mut all: Vec<Finding> = kept.map(|problem| Finding::of_problem(problem, base)).collect();
    verdict.more += total - all.len() as u64;
    all.extend(found);
    all.sort_by_key(|finding| (finding.line, finding.column.unwrap_or(0)));
    let room = most.saturating_sub(verdict.findings.len());
    verdict.more += all.len().saturating_sub(room) as u64;
    all.truncate(room);
    verdict.findings.append(&mut all);
}

/// Passes the events of a value on.
macro_rules! forward {
    ($field:ident: $($name:ident($($argument:ident: $type:ty),*);)*) => {
        $(fn $name(&mut self, $($argument: $type),*) { self.$field.$name($($argument),*); })*
    };
}
pub(super) use forward;

/// Takes records as they come and judges each.
struct Records<'v, 'c, 't> {
    validation: &'v mut Validation<'c>,
    examiner: Examiner<'c>,
    flat: Flat,
    tail: &'t RefCell<Tail>,
    base: Position,
    line: u64,
    found: Vec<Finding>,
    more: u64,
    unjudged: u64,
}

impl Records<'_, '_, '_> {
    fn judge(&mut self) {
        let Some(root) = self.flat.root() else { return };
        let validation = &mut *self.validation;
        let most = validation.settings.max_errors;
        self.examiner.most = most.saturating_sub(self.found.len());
        let good = self.examiner.examine(root);
        let mut violations = std::mem::take(&mut self.examiner.violations);
        let event = self.examiner.facts.event();
        let flat = &self.flat;
        step(
            validation.contract,
            &mut validation.course,
            event,
            self.line,
            &mut |look| look(flat),
            &mut violations,
        );
        let number = validation.course.events;
        if validation.several_documents() {
            let outcome = validation.course.finish(&validation.contract.spec, &validation.settings.ending);
            violations.extend(outcome.violations);
        }
        if good && violations.is_empty() {
            return;
        }
        let before = self.found.len();
        for violation in violations.into_iter().take(most.saturating_sub(before)) {
            let violation = violation.at(number, self.line);
            let at =
                offset(&self.flat, &violation.pointer).and_then(|offset| self.tail.borrow().locate(offset));
            self.found.push(Finding::of_violation(violation, at));
        }
        self.more += u64::from(self.found.len() == before);
    }
}

impl Sink for Records<'_, '_, '_> {
    fn begin_record(&mut self, line: u64, offset: u64) {
        self.line = line + self.base.line - 1;
        self.flat.clear(offset + self.base.offset);
    }

    fn end_record(&mut self, _offset: u64, whole: bool) {
        if whole {
            self.judge();
            self.unjudged += u64::from(self.flat.take_unjudged());
        }
    }

    fn begin_object(&mut self, start: u64) {
        self.flat.begin_object(start + self.base.offset);
    }
    fn begin_array(&mut self, start: u64) {
        self.flat.begin_array(start + self.base.offset);
    }
    fn key(&mut self, span: Span, text: &str) {
        self.flat.key(self.moved(span), text);
    }
    fn string(&mut self, span: Span, text: &str) {
        self.flat.string(self.moved(span), text);
    }
    fn number(&mut self, span: Span, text: &str) {
        self.flat.number(self.moved(span), text);
    }
    fn bool(&mut self, span: Span, value: bool) {
        self.flat.bool(self.moved(span), value);
    }
    fn null(&mut self, span: Span) {
        self.flat.null(self.moved(span));
    }
    forward! { flat: end_object(end: u64); end_array(end: u64); string_part(start: u64, text: &str); }
}

impl Records<'_, '_, '_> {
    fn moved(&self, span: Span) -> Span {
        Span { start: span.start + self.base.offset, end: span.end + self.base.offset }
    }
}

/// Takes one document: whole, or element by element where its schema allows that.
struct Whole<'c, 't> {
    flat: Flat,
    elements: Option<&'c super::Schema>,
    root_is_array: bool,
    found: Vec<Finding>,
    more: u64,
    /// Elements judged so far.
    count: u64,
    most: usize,
    tail: &'t RefCell<Tail>,
}

impl Whole<'_, '_> {
    /// A value has ended; if it is an element of the root, it is judged and forgotten.
    fn ended(&mut self, end: u64) {
        let Some(schema) = self.elements.filter(|_| self.root_is_array && self.flat.depth() == 1) else {
            return;
        };
        if let Some(node) = self.flat.element()
            && !schema.accepts(node)
        {
            let room = self.most.saturating_sub(self.found.len());
            let violations: Vec<Violation> = schema.flat_violations(node, room);
            self.more += u64::from(violations.is_empty());
            for mut violation in violations {
                let inner =
                    super::view::Pointer::parse(&violation.pointer).and_then(|pointer| pointer.of(node));
                let at = self.tail.borrow().locate(inner.unwrap_or(node).offset());
                violation.pointer = format!("/{}{}", self.count, violation.pointer);
                self.found.push(Finding::of_violation(violation, at));
            }
        }
        self.count += 1;
        self.flat.forget_elements(end);
    }
}

impl Sink for Whole<'_, '_> {
    fn begin_array(&mut self, start: u64) {
        self.root_is_array |= self.flat.root().is_none();
        self.flat.begin_array(start);
    }
    fn end_object(&mut self, end: u64) {
        self.flat.end_object(end);
        self.ended(end);
    }
    fn end_array(&mut self, end: u64) {
        self.flat.end_array(end);
        self.ended(end);
    }
    fn string(&mut self, span: Span, text: &str) {
        self.flat.string(span, text);
        self.ended(span.end);
    }
    fn number(&mut self, span: Span, text: &str) {
        self.flat.number(span, text);
        self.ended(span.end);
    }
    fn bool(&mut self, span: Span, value: bool) {
        self.flat.bool(span, value);
        self.ended(span.end);
    }
    fn null(&mut self, span: Span) {
        self.flat.null(span);
        self.ended(span.end);
    }
    forward! { flat: begin_object(start: u64); key(span: Span, text: &str); string_part(start: u64, text: &str); }
}
