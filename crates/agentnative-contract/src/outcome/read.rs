//! Reading streams line by line.

use super::event::Walk;
use super::state::State;
use super::stderr;
use super::warnings::Warnings;
use super::{OutcomeOptions, RunOutcome};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::io::{self, Read};
use strict_json::{self, Class, Event, Problem, ProblemKind, Sink};

/// A longer line is refused, in bytes. It is read all the same, without taking more memory.
pub const MAX_LINE: u64 = 64 << 20;
/// So many lines of a stream that are skipped are named; the others are counted.
const MAX_NAMED: usize = 10;

/// Collects the events of streams and gives the outcome, at any time.
pub struct Collector {
    inner: RefCell<Inner>,
}

struct Inner {
    state: State,
    /// The warnings of each stream that was read.
    reading: Vec<Warnings>,
}

impl Collector {
    /// Nothing has been read yet.
    pub fn new(options: OutcomeOptions) -> Self {
        Self { inner: RefCell::new(Inner { state: State::new(options), reading: Vec::new() }) }
    }

    /// Reads a stream to its end, in constant memory. Streams of the same run may be read one behind
    /// the other: standard output, then standard error. `name` is put in front of the warnings about
    /// its lines, unless it is empty.
    ///
    /// [`Collector::outcome`] may be called while it reads, such as by the reader. An error only when the
    /// reader fails; what was read until then counts.
    pub fn read(&self, input: impl Read, name: &str) -> io::Result<()> {
        let full = {
            let mut inner = self.inner.borrow_mut();
            inner.reading.push(Warnings::new(MAX_NAMED, "more lines were skipped or truncated"));
            inner.state.options.full
        };
        let name = if name.is_empty() { String::new() } else { format!("{name}: ") };
        let mut lines =
            Lines { collector: self, name, walk: Walk::new(full), line: 0, start: 0, refused: None };
        let options = strict_json::ReadOptions { event_stream: true, ..strict_json::ReadOptions::default() };
        strict_json::read_lines(input, &options, &mut lines).map(drop)
    }

    /// Reads standard error to its end, as [`Collector::read`] reads a stream; a line that does not begin as an
    /// event is text. Text is told as it is, and is why the run failed where no event says why.
    pub fn read_stderr(&self, input: impl Read) -> io::Result<()> {
        let text = |line: &str| {
            self.inner.borrow_mut().state.said(line);
            self.warn(&format!("stderr: {line}"));
        };
        self.read(stderr::Events::new(input, text), "stderr")
    }

    /// Reads the lines of a stream, as [`Collector::read`] does.
    pub fn read_lines<L: AsRef<[u8]>>(&self, lines: impl IntoIterator<Item = L>) {
        let lines = Joined { lines: lines.into_iter(), rest: VecDeque::new() };
        self.read(lines, "").expect("memory can be read");
    }

    /// The outcome of what has been read so far.
    pub fn outcome(&self) -> RunOutcome {
        self.inner.borrow().state.outcome(self.skipped())
    }

    /// The warnings about lines that could not be read; [`RunOutcome::warnings`] ends in them.
    pub fn skipped(&self) -> Vec<String> {
        self.inner.borrow().reading.iter().flat_map(Warnings::list).collect()
    }

    fn warn(&self, warning: &str) {
        let mut inner = self.inner.borrow_mut();
        if let Some(warnings) = inner.reading.last_mut() {
            warnings.add(warning);
        }
    }
}

/// Takes the values of each line.
struct Lines<'c> {
    collector: &'c Collector,
    name: String,
    walk: Walk,
    line: u64,
    /// Offset of the record.
    start: u64,
    /// Why the line at hand is refused.
    refused: Option<String>,
}

impl Lines<'_> {
    fn refuse(&self, reason: &str) {
        let warning = format!("{}line {} is skipped: {reason}", self.name, self.line);
        self.collector.warn(&warning);
        let state = &mut self.collector.inner.borrow_mut().state;
        state.refused += 1;
        state.first_refusal.get_or_insert(warning);
    }
}

impl Sink for Lines<'_> {
    const COMPARES_KEYS: bool = false;

    fn wants_key(&mut self, key: &[u8]) -> bool {
        self.walk.wants_key(key)
    }

    fn wants_text(&self) -> bool {
        self.walk.wants_text()
    }

    fn problem(&mut self, kind: ProblemKind, kept: Option<&Problem>) {
        // What every reader of JSON refuses; a key that comes twice is no reason to lose an event.
        let refused = match kind {
            ProblemKind::Bom | ProblemKind::BlankLine | ProblemKind::MultiLine => false,
            ProblemKind::NonFinite | ProblemKind::InvalidEscape => true,
            kind => kind.class() == Class::Structural,
        };
        if refused && self.refused.is_none() {
            self.refused =
                Some(kept.map_or_else(|| kind.name().to_owned(), |problem| problem.message.clone()));
        }
    }

    fn begin_record(&mut self, line: u64, offset: u64) {
        (self.line, self.start, self.refused) = (line, offset, None);
        self.walk.begin();
    }

    fn end_record(&mut self, offset: u64, whole: bool) {
        let refused = self.refused.take();
        if offset - self.start > MAX_LINE {
            self.refuse(&format!("it is longer than {} MiB", MAX_LINE >> 20));
        } else if refused.is_some() || !whole {
            self.refuse(&refused.unwrap_or_else(|| "it is not JSON".to_owned()));
        } else {
            let taken = self.collector.inner.borrow_mut().state.take(&self.walk.event);
            if let Some(lapse) = taken {
                self.collector.warn(&format!("{}line {} {lapse}", self.name, self.line));
            }
        }
    }

    #[inline(always)]
    fn event(&mut self, event: Event<'_>) {
        self.walk.event(event);
    }
}

/// Lines as a reader.
struct Joined<I> {
    lines: I,
    /// What is left of the line at hand.
    rest: VecDeque<u8>,
}

impl<L: AsRef<[u8]>, I: Iterator<Item = L>> Read for Joined<I> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.rest.is_empty()
            && let Some(line) = self.lines.next()
        {
            let line = line.as_ref();
            self.rest.extend(line);
            self.rest.extend((!line.ends_with(b"\n")).then_some(b'\n'));
        }
        self.rest.read(buffer)
    }
}
