//! Reads the event streams of an agent, and returns the outcome of its run.

use super::event_fields::FieldReader;
use super::event_tape::{self, EventTape, MAX_LINE};
use super::mappers::MAPPERS;
use super::session::Session;
use super::state::State;
use super::stderr;
use super::warnings::Warnings;
use super::{OutcomeOptions, RunOutcome, Trajectory, Unrecognised, atif};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::io::{self, Read};
use strict_json::{
    self, ArrayRecords, Event, Problem, ProblemKind, ProblemSeverity, ReadOptions, Sink, Tape,
};

/// Maximum number of warnings about lines that are kept for each stream; further ones are only counted.
const MAX_NAMED_LINES: usize = 10;
/// Maximum number of bytes that are read to detect whether a stream is an array.
const MAX_HEAD: usize = 4 << 10;

/// Reads the event streams of an agent, and returns the outcome of its run at any time.
pub struct Collector {
    inner: RefCell<Inner>,
}

struct Inner {
    state: State,
    /// Warnings about the lines of each stream.
    stream_warnings: Vec<Warnings>,
}

impl Collector {
    /// Creates a collector that has read nothing.
    pub fn new(options: OutcomeOptions) -> Self {
        Self {
            inner: RefCell::new(Inner { state: State::new(options, &MAPPERS), stream_warnings: Vec::new() }),
        }
    }

    /// Reads a stream to its end, in constant memory. Several streams of the same run may be read one after the other.
    /// Warnings about lines begin with `name`, unless it is empty.
    ///
    /// [`Collector::outcome`] may be called during the read, for instance by the reader. Fails only if the reader
    /// fails; the events before the error are collected.
    pub fn read(&self, input: impl Read, name: &str) -> io::Result<()> {
        self.inner.borrow_mut().state.all_sessions().iter_mut().for_each(Session::next_file);
        self.read_stream(input, name)
    }

    /// Reads a stream that continues the current file instead of beginning another.
    fn read_stream(&self, mut input: impl Read, name: &str) -> io::Result<()> {
        let full = {
            let mut inner = self.inner.borrow_mut();
            inner
                .stream_warnings
                .push(Warnings::new(MAX_NAMED_LINES, "more lines were skipped or truncated"));
            inner.state.options.full
        };
        let name = if name.is_empty() { String::new() } else { format!("{name}: ") };
        let (fields, event) = (FieldReader::new(full), EventTape::default());
        let mut lines = LineSink {
            collector: self,
            name,
            unit: "line",
            fields,
            event,
            needs: (true, true),
            line: 0,
            start: 0,
            skip_reason: None,
        };
        let head = read_head(&mut input)?;
        let array = is_array(&head);
        let input = head.chain(input);
        if !array {
            let options = ReadOptions { event_stream: true, ..ReadOptions::default() };
            return strict_json::read_lines(input, &options, &mut lines).map(drop);
        }
        lines.unit = "item";
        self.inner.borrow_mut().state.is_document = true;
        let mut items = 0;
        let mut records = ArrayRecords::new(&mut lines, |_| {
            items += 1;
            items
        });
        let summary = strict_json::read_document(input, &ReadOptions::default(), &mut records)?;
        if summary.complete == 0 {
            lines.line = items;
            let skip_reason = lines.skip_reason.take();
            lines.skip(&skip_reason.unwrap_or_else(|| "it is not JSON".to_owned()));
        }
        Ok(())
    }

    /// Reads stderr to its end: lines of text, with events between them. If the run failed and no event states the
    /// reason, the last lines of the text become the error.
    pub fn read_stderr(&self, input: impl Read) -> io::Result<()> {
        let text = |line: &[u8]| self.inner.borrow_mut().state.stderr_tail.push(line);
        stderr::read(input, |object| self.read_object(object), text)
    }

    /// Reads a JSON object that was found on stderr. Returns false if it is not an event of the agent; it then counts
    /// as text.
    fn read_object(&self, object: &[u8]) -> io::Result<bool> {
        let before = |inner: &Inner| (inner.state.understood(), inner.state.events, inner.state.skipped);
        let (understood, events, skipped) = before(&self.inner.borrow());
        self.read_stream(object, "stderr")?;
        let mut inner = self.inner.borrow_mut();
        let event = inner.state.understood() > understood;
        if !event {
            inner.stream_warnings.pop();
            (inner.state.events, inner.state.skipped) = (events, skipped);
        }
        Ok(event)
    }

    /// Reads `lines` as one stream, like [`Collector::read`].
    pub fn read_lines<L: AsRef<[u8]>>(&self, lines: impl IntoIterator<Item = L>) {
        let lines = LineReader { lines: lines.into_iter(), rest: VecDeque::new() };
        self.read(lines, "").expect("memory can be read");
    }

    /// Returns the outcome of the events read so far.
    ///
    /// # Errors
    /// If no event is one of a known agent; for a declared agent, if there are events of others only.
    pub fn outcome(&self) -> Result<RunOutcome, Unrecognised> {
        self.inner.borrow().state.outcome(self.line_warnings())
    }

    /// Returns the run in ATIF, with its steps if [`OutcomeOptions::steps`] is set.
    ///
    /// # Errors
    /// Those of [`Collector::outcome`].
    pub fn atif(&self) -> Result<Trajectory, Unrecognised> {
        let outcome = self.outcome()?;
        let state = &self.inner.borrow().state;
        Ok(atif::trajectory(state.mapper, state.main(), outcome))
    }

    /// Returns the warnings about lines that could not be read. [`RunOutcome::warnings`] ends with the same warnings.
    pub fn line_warnings(&self) -> Vec<String> {
        self.inner.borrow().stream_warnings.iter().flat_map(Warnings::list).collect()
    }

    fn warn(&self, warning: &str) {
        let mut inner = self.inner.borrow_mut();
        if let Some(warnings) = inner.stream_warnings.last_mut() {
            warnings.add(warning);
        }
    }
}

/// Passes each line of a stream to the mapper as an event.
struct LineSink<'c> {
    collector: &'c Collector,
    name: String,
    /// Name of a record in warnings: `line` or `item`.
    unit: &'static str,
    fields: FieldReader,
    event: EventTape,
    /// Two flags: the mapper needs selected fields of an event; the mapper needs the event on a tape.
    needs: (bool, bool),
    line: u64,
    /// Byte offset at which the current record begins.
    start: u64,
    /// Why the current line is skipped; `None` if it is not skipped.
    skip_reason: Option<String>,
}

impl LineSink<'_> {
    fn skip(&self, reason: &str) {
        let warning = format!("{}{} {} is skipped: {reason}", self.name, self.unit, self.line);
        self.collector.warn(&warning);
        let state = &mut self.collector.inner.borrow_mut().state;
        state.skipped += 1;
        state.first_skip.get_or_insert(warning);
    }
}

impl Sink for LineSink<'_> {
    const COMPARES_KEYS: bool = false;

    fn wants_key(&mut self, key: &[u8]) -> bool {
        let needs_field = self.needs.0 && self.fields.needs_key(key);
        self.event.needs_key(key) || needs_field
    }

    fn wants_text(&self) -> bool {
        self.needs.0 && self.fields.needs_text() || self.event.needs_text()
    }

    fn problem(&mut self, kind: ProblemKind, kept: Option<&Problem>) {
        // Skip what every JSON parser rejects, but keep events with duplicate keys.
        let rejected = match kind {
            ProblemKind::Bom | ProblemKind::BlankLine | ProblemKind::MultiLine => false,
            ProblemKind::NonFinite | ProblemKind::InvalidEscape => true,
            kind => kind.severity() == ProblemSeverity::Structural,
        };
        if rejected && self.skip_reason.is_none() {
            self.skip_reason =
                Some(kept.map_or_else(|| kind.name().to_owned(), |problem| problem.message.clone()));
        }
    }

    fn tape(&mut self) -> Option<&mut Tape> {
        (!self.needs.0).then_some(&mut self.event.tape)
    }

    fn begin_record(&mut self, line: u64, offset: u64) {
        (self.line, self.start, self.skip_reason) = (line, offset, None);
        self.needs = self.collector.inner.borrow().state.needed_event_forms();
        self.fields.begin();
        self.event.begin(offset, self.needs.1);
    }

    fn end_record(&mut self, offset: u64, whole: bool) {
        let skip_reason = self.skip_reason.take();
        if offset - self.start > MAX_LINE {
            self.skip(&format!("it is longer than {} MiB", MAX_LINE >> 20));
        } else if skip_reason.is_some() || !whole {
            self.skip(&skip_reason.unwrap_or_else(|| "it is not JSON".to_owned()));
        } else if self.event.too_large && !self.needs.0 {
            self.skip(&format!("its values take more than {} MiB", event_tape::MAX_EVENT >> 20));
        } else {
            let event = self.event.event().map(|event| (event, self.event.is_truncated()));
            let warning = self.collector.inner.borrow_mut().state.take_event(&self.fields.event, event);
            if let Some(warning) = warning {
                self.collector.warn(&format!("{}{} {} {warning}", self.name, self.unit, self.line));
            }
        }
    }

    #[inline(always)]
    fn event(&mut self, event: Event<'_>) {
        if self.needs.0 {
            self.fields.event(event);
        }
        self.event.handle_token(event);
    }
}

/// Reads the beginning of a stream, until it is clear whether the stream is an array.
fn read_head(input: &mut impl Read) -> io::Result<io::Cursor<Vec<u8>>> {
    let mut head = vec![0; MAX_HEAD];
    let mut length = 0;
    while length < MAX_HEAD && first_two_bytes(&head[..length]).len() < 2 {
        match input.read(&mut head[length..]) {
            Ok(0) => break,
            Ok(count) => length += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
        if !first_two_bytes(&head[..length]).starts_with(b"[") && !first_two_bytes(&head[..length]).is_empty()
        {
            break;
        }
    }
    head.truncate(length);
    Ok(io::Cursor::new(head))
}

const BOM: &[u8] = b"\xef\xbb\xbf";

/// Returns the first two bytes that are not white space, without a (possibly partial) byte order mark.
fn first_two_bytes(head: &[u8]) -> Vec<u8> {
    let head = head.strip_prefix(BOM).unwrap_or(if BOM.starts_with(head) { b"" } else { head });
    head.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).take(2).collect()
}

/// True if a stream is one JSON array of events, which begins with `[{` or `[]`. A single bracket may also begin a
/// text.
fn is_array(head: &io::Cursor<Vec<u8>>) -> bool {
    matches!(&first_two_bytes(head.get_ref())[..], b"[{" | b"[]")
}

/// Reads the given lines as one stream, in which each line ends in a newline.
struct LineReader<I> {
    lines: I,
    /// Rest of the current line.
    rest: VecDeque<u8>,
}

impl<L: AsRef<[u8]>, I: Iterator<Item = L>> Read for LineReader<I> {
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
