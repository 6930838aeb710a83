//! Infers the output specification of one probe in one format, such as `json`, from its runs.
//!
//! A run with other data of the same structure must satisfy the specification, too. So the specification contains types
//! and required keys only. It lists no closed sets of strings, which have to be declared. A value that was always null
//! may be anything, and further event types may occur.

use super::event_order::{EventOrder, EventOrders};
use crate::infer::{Inference, InferenceOptions};
use agentnative_contract::{
    ErrorSpec, EventSpec, ExitSpec, Framing, OutputFormat, OutputSpec, Payload, Stream,
};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Read};
use strict_json::{ProblemKind, ReadOptions, ReadSummary, read_document, read_lines};

/// Function that opens the recorded stream of a run for reading, from its start. It can be called several times.
type Open<'a> = &'a dyn Fn() -> Box<dyn Read + Send + 'a>;

/// Collects the runs of one probe in one format, and infers an output specification that all of them satisfy.
pub struct OutputInference {
    probe: String,
    format: OutputFormat,
    documents: Inference,
    lines: Inference,
    orders: EventOrders,
    /// Whether stdout was one JSON document in all runs that printed something, and whether it was JSON Lines.
    framings: [bool; 2],
    runs: u64,
    printed: u64,
    errors: [Inference; 2],
    /// Number of failed runs with one JSON object on stdout, and on stderr.
    with_object: [u64; 2],
    /// Number of failed runs with any output on stdout, and on stderr.
    with_output: [u64; 2],
    failed: u64,
    /// Exit code other than 0 that counts as a success.
    with_expected_code: Option<i32>,
    codes: BTreeSet<i32>,
}

impl OutputInference {
    /// Creates an inference without runs, for the named probe in a format.
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
            with_object: [0; 2],
            with_output: [0; 2],
            failed: 0,
            with_expected_code: None,
            codes: BTreeSet::new(),
        }
    }

    /// Sets an exit code other than 0 that counts as a success.
    #[must_use]
    pub const fn expected_exit_code(mut self, code: Option<i32>) -> Self {
        self.with_expected_code = code;
        self
    }

    /// Adds a run that exited with `code`. `stdout` and `stderr` open its streams.
    ///
    /// # Errors
    /// If a stream cannot be read, or has too many different positions (places in the structure, such as
    /// `/items/*/id`).
    pub fn add_run<'a>(&mut self, code: i32, stdout: Open<'a>, stderr: Open<'a>) -> io::Result<()> {
        self.codes.insert(code);
        if code != 0 && self.with_expected_code != Some(code) {
            self.failed += 1;
            for (index, open) in [stdout, stderr].into_iter().enumerate() {
                if open().read(&mut [0])? > 0 {
                    self.with_output[index] += 1;
                    let object = self.format.is_json() && is_object(open)?;
                    self.with_object[index] += u64::from(object);
                    if object {
                        self.errors[index].add_input(open(), Some(Framing::Document), 1, &mut |_| ())?;
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
        let document = is_valid(&read_document(stdout(), &options, &mut ())?);
        if document && self.framings[0] {
            self.documents.add_input(stdout(), Some(Framing::Document), 1, &mut |_| ())?;
        }
        let mut run_order = EventOrder::default();
        let lines = is_valid(&read_lines(stdout(), &options, &mut run_order)?);
        if lines && self.framings[1] {
            self.lines.add_input(stdout(), Some(Framing::Lines), 1, &mut |_| ())?;
            self.orders.add(run_order);
        }
        self.framings[0] &= document;
        self.framings[1] &= lines;
        Ok(())
    }

    /// Returns the framing that stdout had in all runs, preferably the one of the format. `None` if stdout was not
    /// always JSON.
    fn framing(&self) -> Option<Framing> {
        let preferred = match self.format {
            OutputFormat::Text => return None,
            OutputFormat::Json => [Framing::Document, Framing::Lines],
            OutputFormat::Jsonl => [Framing::Lines, Framing::Document],
        };
        preferred.into_iter().find(|framing| self.framings[usize::from(*framing == Framing::Lines)])
    }

    /// Returns what stdout contained in all runs: nothing, JSON data in some or all runs, or anything else.
    fn payload(&self) -> Payload {
        match self.framing() {
            _ if self.printed == 0 => Payload::Nothing,
            None => Payload::Any,
            Some(_) if self.printed < self.runs && self.format == OutputFormat::Json => Payload::Part,
            Some(_) => Payload::Whole,
        }
    }

    /// Returns the inferred output specification. All runs satisfy it.
    pub fn spec(&self) -> OutputSpec {
        let options = InferenceOptions::cautious();
        let framing = self.framing();
        let inference = match framing {
            Some(Framing::Document) => &self.documents,
            _ => &self.lines,
        };
        let mut kinds = framing.map_or_else(BTreeMap::new, |_| inference.kinds(&options));
        let events = framing.filter(|framing| *framing == Framing::Lines).and_then(|_| self.events(&options));
        if let Some(events) = &events {
            kinds.remove(&events.discriminator);
        }
        let has_schema = framing.is_some() && self.printed > 0 && events.is_none();
        let exit = ExitSpec {
            codes: self.codes.iter().copied().collect(),
            stdout: Some(self.payload()),
            ..ExitSpec::default()
        };
        OutputSpec {
            probe: Some(self.probe.clone()),
            format: Some(self.format),
            framing,
            schema: has_schema.then(|| inference.schema(&options)),
            events,
            exits: vec![exit],
            errors: self.errors(&options),
            kinds,
            ..OutputSpec::default()
        }
    }

    fn events(&self, options: &InferenceOptions) -> Option<EventSpec> {
        let (key, mut events) = self.orders.infer_order()?;
        for variant in self.lines.variants(key, options)? {
            events.types.insert(variant.tag.as_str()?.to_owned(), variant.schema);
        }
        Some(events)
    }

    /// Returns how all failed runs report errors. The first of these that holds counts: a JSON object on stderr, a JSON
    /// object on stdout, text on stderr, text on stdout. `None` if no run failed or none of them holds.
    fn errors(&self, options: &InferenceOptions) -> Option<ErrorSpec> {
        if self.failed == 0 {
            return None;
        }
        let in_all = |counts: &[u64; 2], index: usize| counts[index] == self.failed;
        let schema = |index: usize| -> Option<Value> { Some(self.errors[index].schema(options)) };
        let (stream, schema) = match () {
            () if in_all(&self.with_object, 1) => (Stream::Stderr, schema(1)),
            () if in_all(&self.with_object, 0) => (Stream::Stdout, schema(0)),
            () if in_all(&self.with_output, 1) => (Stream::Stderr, None),
            () if in_all(&self.with_output, 0) => (Stream::Stdout, None),
            () => return None,
        };
        Some(ErrorSpec { stream, schema })
    }
}

/// Returns whether an input was valid JSON. Unlike in a stream of events, its records may be values of any type.
fn is_valid(summary: &ReadSummary) -> bool {
    let rejecting = ProblemKind::ALL.iter().filter(|kind| kind.rejects());
    rejecting.filter(|kind| **kind != ProblemKind::NotObject).all(|kind| summary.count(*kind) == 0)
}

fn is_object(open: Open<'_>) -> io::Result<bool> {
    let mut start = [0; 64];
    let length = open().read(&mut start)?;
    let object = start[..length].iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'{');
    Ok(object && is_valid(&read_document(open(), &ReadOptions::default(), &mut ())?))
}
