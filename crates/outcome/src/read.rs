//! Reading streams line by line.

use super::event::Walk;
use super::session::Session;
use super::state::State;
use super::stderr;
use super::streams::STREAMS;
use super::warnings::Warnings;
use super::whole::{self, MAX_LINE, Whole};
use super::{OutcomeOptions, RunOutcome, Trajectory, atif};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::io::{self, Read};
use strict_json::{self, ArrayRecords, Class, Event, Problem, ProblemKind, ReadOptions, Sink};

/// So many lines of a stream that are skipped are named; the others are counted.
const MAX_NAMED: usize = 10;
/// So much of a stream is looked at before it is read.
const MAX_HEAD: usize = 4 << 10;

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
        Self { inner: RefCell::new(Inner { state: State::new(options, STREAMS), reading: Vec::new() }) }
    }

    /// Reads a stream to its end, in constant memory. Streams of the same run may be read one behind
    /// the other: standard output, then standard error. `name` is put in front of the warnings about
    /// its lines, unless it is empty.
    ///
    /// [`Collector::outcome`] may be called while it reads, such as by the reader. An error only when the
    /// reader fails; what was read until then counts.
    pub fn read(&self, input: impl Read, name: &str) -> io::Result<()> {
        self.inner.borrow_mut().state.all_sessions().iter_mut().for_each(Session::next_file);
        self.read_stream(input, name)
    }

    /// Reads a stream that goes on with the file before.
    fn read_stream(&self, mut input: impl Read, name: &str) -> io::Result<()> {
        let full = {
            let mut inner = self.inner.borrow_mut();
            inner.reading.push(Warnings::new(MAX_NAMED, "more lines were skipped or truncated"));
            inner.state.options.full
        };
        let name = if name.is_empty() { String::new() } else { format!("{name}: ") };
        let (walk, whole) = (Walk::new(full), Whole::default());
        let mut lines = Lines {
            collector: self,
            name,
            unit: "line",
            walk,
            whole,
            wants: (true, true),
            line: 0,
            start: 0,
            refused: None,
        };
        let head = head(&mut input)?;
        let array = is_array(&head);
        let input = head.chain(input);
        if !array {
            let options = ReadOptions { event_stream: true, ..ReadOptions::default() };
            return strict_json::read_lines(input, &options, &mut lines).map(drop);
        }
        lines.unit = "item";
        let mut items = 0;
        let mut records = ArrayRecords::new(&mut lines, |_| {
            items += 1;
            items
        });
        let summary = strict_json::read_document(input, &ReadOptions::default(), &mut records)?;
        if summary.whole == 0 {
            lines.line = items;
            let refused = lines.refused.take();
            lines.refuse(&refused.unwrap_or_else(|| "it is not JSON".to_owned()));
        }
        Ok(())
    }

    /// Reads standard error to its end: text with events among it. The last lines of the text are why the run
    /// failed where no event says why.
    pub fn read_stderr(&self, input: impl Read) -> io::Result<()> {
        let text = |line: &[u8]| self.inner.borrow_mut().state.said.push(line);
        stderr::read(input, |object| self.read_object(object), text)
    }

    /// Reads an object that may be no event; false when it is none.
    fn read_object(&self, object: &[u8]) -> io::Result<bool> {
        let before = |inner: &Inner| (inner.state.understood(), inner.state.events, inner.state.refused);
        let (understood, events, refused) = before(&self.inner.borrow());
        self.read_stream(object, "stderr")?;
        let mut inner = self.inner.borrow_mut();
        let event = inner.state.understood() > understood;
        if !event {
            inner.reading.pop();
            (inner.state.events, inner.state.refused) = (events, refused);
        }
        Ok(event)
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

    /// The run in ATIF, with the steps that [`OutcomeOptions::steps`] keeps.
    pub fn atif(&self) -> Trajectory {
        let outcome = self.outcome();
        let state = &self.inner.borrow().state;
        atif::trajectory(state.stream, state.main(), outcome)
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
    /// What a record is.
    unit: &'static str,
    walk: Walk,
    whole: Whole,
    /// Whether the walk is wanted, and whether the whole.
    wants: (bool, bool),
    line: u64,
    /// Offset of the record.
    start: u64,
    /// Why the line at hand is refused.
    refused: Option<String>,
}

impl Lines<'_> {
    fn refuse(&self, reason: &str) {
        let warning = format!("{}{} {} is skipped: {reason}", self.name, self.unit, self.line);
        self.collector.warn(&warning);
        let state = &mut self.collector.inner.borrow_mut().state;
        state.refused += 1;
        state.first_refusal.get_or_insert(warning);
    }
}

impl Sink for Lines<'_> {
    const COMPARES_KEYS: bool = false;

    fn wants_key(&mut self, key: &[u8]) -> bool {
        let walked = self.wants.0 && self.walk.wants_key(key);
        walked || self.whole.is_wanted()
    }

    fn wants_text(&self) -> bool {
        self.wants.0 && self.walk.wants_text() || self.whole.is_wanted()
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
        self.wants = self.collector.inner.borrow().state.wants();
        self.walk.begin();
        self.whole.begin(self.wants.1.then_some(offset));
    }

    fn end_record(&mut self, offset: u64, whole: bool) {
        let refused = self.refused.take();
        if offset - self.start > MAX_LINE {
            self.refuse(&format!("it is longer than {} MiB", MAX_LINE >> 20));
        } else if refused.is_some() || !whole {
            self.refuse(&refused.unwrap_or_else(|| "it is not JSON".to_owned()));
        } else if self.whole.too_large && !self.wants.0 {
            self.refuse(&format!("its values take more than {} MiB", whole::MAX >> 20));
        } else {
            let built = self.whole.take();
            let built = built.as_ref().map(|value| (value, self.whole.cut));
            let taken = self.collector.inner.borrow_mut().state.take(&self.walk.event, built);
            if let Some(lapse) = taken {
                self.collector.warn(&format!("{}{} {} {lapse}", self.name, self.unit, self.line));
            }
        }
    }

    #[inline(always)]
    fn event(&mut self, event: Event<'_>) {
        if self.wants.0 {
            self.walk.event(event);
        }
        self.whole.event(event);
    }
}

/// The beginning of a stream, up to where it shows whether it is an array.
fn head(input: &mut impl Read) -> io::Result<io::Cursor<Vec<u8>>> {
    let mut head = vec![0; MAX_HEAD];
    let mut length = 0;
    while length < MAX_HEAD && shown(&head[..length]).len() < 2 {
        match input.read(&mut head[length..]) {
            Ok(0) => break,
            Ok(count) => length += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
        if !shown(&head[..length]).starts_with(b"[") && !shown(&head[..length]).is_empty() {
            break;
        }
    }
    head.truncate(length);
    Ok(io::Cursor::new(head))
}

/// The byte order mark that a stream may begin with.
const BOM: &[u8] = b"\xef\xbb\xbf";

/// A head without white space before its first and its second byte. A part of a byte order mark shows nothing yet.
fn shown(head: &[u8]) -> Vec<u8> {
    let head = head.strip_prefix(BOM).unwrap_or(if BOM.starts_with(head) { b"" } else { head });
    head.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).take(2).collect()
}

/// Whether a document of events begins like this. Text may begin with a bracket as well.
fn is_array(head: &io::Cursor<Vec<u8>>) -> bool {
    matches!(&shown(head.get_ref())[..], b"[{" | b"[]")
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
