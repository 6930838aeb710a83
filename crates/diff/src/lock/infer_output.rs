//! What one probe promises in one format, learnt from its runs.
//!
//! A run with other data of the same shape must keep it. So it is made of shapes and required keys: no set
//! of strings is closed (that has to be declared), a value that was only ever null may be anything, and
//! types of events that were not seen may come.

use super::event_order::{EventOrder, EventOrders};
use crate::infer::{Inference, Rules};
use agentnative_contract::{Errors, Events, Exit, Framing, OutputFormat, OutputSpec, Payload, Stream};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Read};
use strict_json::{ProblemKind, ReadOptions, Summary, read_document, read_lines};

/// Gives a stream from its start.
type Open<'a> = &'a dyn Fn() -> Box<dyn Read + Send + 'a>;

/// Learns from one run after another.
pub struct Learner {
    probe: String,
    format: OutputFormat,
    documents: Inference,
    lines: Inference,
    orders: EventOrders,
    /// The framings that standard output can be read in, of all runs that printed something.
    framings: [bool; 2],
    runs: u64,
    printed: u64,
    errors: [Inference; 2],
    /// Failed runs with one JSON object on standard output, on standard error; and with anything there.
    objects: [u64; 2],
    said: [u64; 2],
    failed: u64,
    /// A code other than 0 with which a run has not failed.
    outcome: Option<i32>,
    codes: BTreeSet<i32>,
}

impl Learner {
    /// One that knows nothing yet of this probe in this format.
    pub fn new(probe: &str, format: OutputFormat) -> Self {
        Self {
            probe: probe.to_owned(),
            format,
            documents: Inference::new(),
            lines: Inference::new(),
            orders: EventOrders::default(),
            framings: [true; 2],
            runs: 0,
            printed: 0,
            errors: [Inference::new(), Inference::new()],
            objects: [0; 2],
            said: [0; 2],
            failed: 0,
            outcome: None,
            codes: BTreeSet::new(),
        }
    }

    /// The same, for a probe whose runs have not failed when they end with this code: it is an outcome.
    #[must_use]
    pub const fn outcome(mut self, code: Option<i32>) -> Self {
        self.outcome = code;
        self
    }

    /// Learns from a run that ended with this code.
    ///
    /// # Errors
    /// When a stream cannot be read, or has no shape.
    pub fn run<'a>(&mut self, code: i32, stdout: Open<'a>, stderr: Open<'a>) -> io::Result<()> {
        self.codes.insert(code);
        if code != 0 && self.outcome != Some(code) {
            self.failed += 1;
            for (at, open) in [stdout, stderr].into_iter().enumerate() {
                if open().read(&mut [0])? > 0 {
                    self.said[at] += 1;
                    let object = self.format.is_json() && is_object(open)?;
                    self.objects[at] += u64::from(object);
                    if object {
                        self.errors[at].input(open(), Some(Framing::Document), 1, &mut |_| ())?;
                    }
                }
            }
        }
        let printed = stdout().read(&mut [0])? > 0;
        self.runs += 1;
        self.printed += u64::from(printed);
        if !self.format.is_json() || !printed {
            return Ok(());
        }
        let options = ReadOptions::default();
        let document = good(&read_document(stdout(), &options, &mut ())?);
        if document && self.framings[0] {
            self.documents.input(stdout(), Some(Framing::Document), 1, &mut |_| ())?;
        }
        let mut order_of_run = EventOrder::default();
        let lines = good(&read_lines(stdout(), &options, &mut order_of_run)?);
        if lines && self.framings[1] {
            self.lines.input(stdout(), Some(Framing::Lines), 1, &mut |_| ())?;
            self.orders.add(order_of_run);
        }
        self.framings[0] &= document;
        self.framings[1] &= lines;
        Ok(())
    }

    /// How standard output is framed in all runs; none where it holds no JSON.
    fn framing(&self) -> Option<Framing> {
        let asked = match self.format {
            OutputFormat::Text => return None,
            OutputFormat::Json => [Framing::Document, Framing::Lines],
            OutputFormat::Jsonl => [Framing::Lines, Framing::Document],
        };
        asked.into_iter().find(|framing| self.framings[usize::from(*framing == Framing::Lines)])
    }

    /// What standard output held.
    fn payload(&self) -> Payload {
        match self.framing() {
            _ if self.printed == 0 => Payload::Nothing,
            None => Payload::Any,
            Some(_) if self.printed < self.runs && self.format == OutputFormat::Json => Payload::Part,
            Some(_) => Payload::Whole,
        }
    }

    /// What all runs keep.
    pub fn promise(&self) -> OutputSpec {
        let rules = Rules::cautious();
        let framing = self.framing();
        let inference = match framing {
            Some(Framing::Document) => &self.documents,
            _ => &self.lines,
        };
        let mut kinds = framing.map_or_else(BTreeMap::new, |_| inference.kinds(&rules));
        let events = framing.filter(|framing| *framing == Framing::Lines).and_then(|_| self.events(&rules));
        if let Some(events) = &events {
            kinds.remove(&events.discriminator);
        }
        let known = framing.is_some() && self.printed > 0 && events.is_none();
        let exit = Exit {
            codes: self.codes.iter().copied().collect(),
            stdout: Some(self.payload()),
            ..Exit::default()
        };
        OutputSpec {
            probe: Some(self.probe.clone()),
            format: Some(self.format),
            framing,
            schema: known.then(|| inference.schema(&rules)),
            events,
            exits: vec![exit],
            errors: self.errors(&rules),
            kinds,
            ..OutputSpec::default()
        }
    }

    fn events(&self, rules: &Rules) -> Option<Events> {
        let (key, mut events) = self.orders.ordered()?;
        for variant in self.lines.variants(key, rules)? {
            events.types.insert(variant.tag.as_str()?.to_owned(), variant.schema);
        }
        Some(events)
    }

    /// Where failed runs say why: an object on standard error, else one on standard output, else words.
    fn errors(&self, rules: &Rules) -> Option<Errors> {
        if self.failed == 0 {
            return None;
        }
        let all = |counts: &[u64; 2], at: usize| counts[at] == self.failed;
        let schema = |at: usize| -> Option<Value> { Some(self.errors[at].schema(rules)) };
        let (stream, schema) = match () {
            () if all(&self.objects, 1) => (Stream::Stderr, schema(1)),
            () if all(&self.objects, 0) => (Stream::Stdout, schema(0)),
            () if all(&self.said, 1) => (Stream::Stderr, None),
            () if all(&self.said, 0) => (Stream::Stdout, None),
            () => return None,
        };
        Some(Errors { stream, schema })
    }
}

/// Whether there is no fault in it but the shape of a record.
fn good(summary: &Summary) -> bool {
    let rejecting = ProblemKind::ALL.iter().filter(|kind| kind.rejects());
    rejecting.filter(|kind| **kind != ProblemKind::NotObject).all(|kind| summary.count(*kind) == 0)
}

fn is_object(open: Open<'_>) -> io::Result<bool> {
    let mut start = [0; 64];
    let length = open().read(&mut start)?;
    let object = start[..length].iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'{');
    Ok(object && good(&read_document(open(), &ReadOptions::default(), &mut ())?))
}
