//! JSON lines in chunks of whole lines: read ahead, examined by several threads, judged in order.

use super::Contract;
use super::cut::{Chunk, Cutter};
use super::examine::{Examiner, offset, step};
use super::facts::{Event, Fact};
use super::finding::{Finding, Verdict};
use super::flat::Flat;
use super::validate::{Settings, Validation, forward, merge};
use super::violation::Violation;
use std::collections::BTreeMap;
use std::io::{self, Read};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread;
use strict_json::{Options, Position, ProblemKind, Sink, Span, Summary, read_lines};

/// Lines that cannot be cut: the rest of the input has to be read as it comes.
pub(super) struct Stopped<'r> {
    /// From the start of the first such chunk to the end of the input.
    pub rest: Box<dyn Read + 'r>,
    /// Where that is.
    pub base: Position,
}

/// What a chunk comes to, before anything between events is judged.
struct Examined {
    summary: Summary,
    records: Vec<Record>,
    facts: Vec<Fact>,
    found: Vec<(usize, Finding)>,
    /// Records of which something could not be judged.
    unjudged: u64,
}

/// What is known of a record.
struct Record {
    kind: Option<usize>,
    unknown: Option<String>,
    payload: u64,
    /// The end of its facts; they begin where those of the record before end.
    facts: usize,
    line: u64,
    start: usize,
    end: usize,
    good: bool,
}

/// Reads lines as long as they can be cut, and judges them.
pub(super) fn read<'r, R: Read + Send + 'r>(
    validation: &mut Validation<'_>,
    reader: R,
    verdict: &mut Verdict,
    progress: &mut dyn FnMut(u64),
) -> io::Result<Option<Stopped<'r>>> {
    let mut cutter = Cutter::new(reader);
    let stopped = if validation.settings.threads < 2 {
        alone(validation, &mut cutter, verdict, progress)?
    } else {
        together(validation, &mut cutter, verdict, progress)?
    };
    Ok(stopped.map(|(chunks, base)| {
        let before: Vec<u8> = chunks.into_iter().flat_map(|chunk| chunk.bytes).chain(cutter.rest).collect();
        Stopped { rest: Box::new(io::Cursor::new(before).chain(cutter.reader)), base }
    }))
}

/// The chunks that are read but not judged, and where they begin.
type Unjudged = Option<(Vec<Chunk>, Position)>;

fn alone<R: Read>(
    validation: &mut Validation<'_>,
    cutter: &mut Cutter<R>,
    verdict: &mut Verdict,
    progress: &mut dyn FnMut(u64),
) -> io::Result<Unjudged> {
    let mut worker = Worker::new(validation.contract, &validation.settings);
    let mut buffer = Vec::new();
    while let Some(chunk) = cutter.next(std::mem::take(&mut buffer))? {
        let examined = worker.examine(&chunk);
        let base = chunk.base.unwrap_or(Position::START);
        let Some(examined) = examined else { return Ok(Some((vec![chunk], base))) };
        judge(validation, &chunk, examined, verdict);
        worker.full = verdict.findings.len() >= validation.settings.max_errors;
        progress(verdict.bytes);
        buffer = chunk.bytes;
    }
    Ok(None)
}

fn together<R: Read + Send>(
    validation: &mut Validation<'_>,
    cutter: &mut Cutter<R>,
    verdict: &mut Verdict,
    progress: &mut dyn FnMut(u64),
) -> io::Result<Unjudged> {
    let (threads, contract, settings) =
        (validation.settings.threads, validation.contract, validation.settings);
    let (work_in, work_out) = sync_channel::<(usize, Chunk)>(threads);
    let work_out = Mutex::new(work_out);
    let (done_in, done_out) = channel::<(usize, Chunk, Option<Examined>)>();
    let (spare_in, spare_out) = channel::<Vec<u8>>();
    let (stop, full) = (AtomicBool::new(false), AtomicBool::new(false));
    for _ in 0..threads + 2 {
        // The buffers that go round: their number bounds what is read ahead.
        let _ = spare_in.send(Vec::new());
    }
    thread::scope(|scope| {
        for _ in 0..threads {
            let (work_out, done_in, full) = (&work_out, done_in.clone(), &full);
            let builder = thread::Builder::new().stack_size(8 << 20);
            let spawned =
                builder.spawn_scoped(scope, move || work(contract, &settings, work_out, &done_in, full));
            spawned.map_err(|error| io::Error::other(format!("cannot start a thread: {error}")))?;
        }
        drop(done_in);
        let stop = &stop;
        let reading = scope.spawn(move || send(cutter, &work_in, &spare_out, stop));
        let mut waiting = BTreeMap::new();
        let (mut next, mut stopped) = (0, false);
        for (number, chunk, examined) in done_out {
            waiting.insert(number, (chunk, examined));
            while !stopped && let Some((chunk, examined)) = waiting.remove(&next) {
                let Some(examined) = examined else {
                    stop.store(true, Ordering::Relaxed);
                    waiting.insert(next, (chunk, None));
                    stopped = true;
                    break;
                };
                judge(validation, &chunk, examined, verdict);
                full.store(verdict.findings.len() >= settings.max_errors, Ordering::Relaxed);
                progress(verdict.bytes);
                next += 1;
                let _ = spare_in.send(chunk.bytes);
            }
            if stopped {
                // Lets the reader come to its end.
                let _ = spare_in.send(Vec::new());
            }
        }
        reading.join().map_err(|_| io::Error::other("the reading thread failed"))??;
        let chunks: Vec<Chunk> = waiting.into_values().map(|(chunk, _)| chunk).collect();
        let base = chunks.first().and_then(|chunk| chunk.base);
        Ok(base.map(|base| (chunks, base)))
    })
}

fn send<R: Read>(
    cutter: &mut Cutter<R>,
    work: &SyncSender<(usize, Chunk)>,
    spare: &Receiver<Vec<u8>>,
    stop: &AtomicBool,
) -> io::Result<()> {
    for number in 0.. {
        let Ok(buffer) = spare.recv() else { break };
        if stop.load(Ordering::Relaxed) {
            break;
        }
        let Some(chunk) = cutter.next(buffer)? else { break };
        if work.send((number, chunk)).is_err() {
            break;
        }
    }
    Ok(())
}

fn work(
    contract: &Contract,
    settings: &Settings<'_>,
    work: &Mutex<Receiver<(usize, Chunk)>>,
    done: &Sender<(usize, Chunk, Option<Examined>)>,
    full: &AtomicBool,
) {
    let mut worker = Worker::new(contract, settings);
    loop {
        let next = work.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok((number, chunk)) = next else { return };
        worker.full = full.load(Ordering::Relaxed);
        let examined = worker.examine(&chunk);
        if done.send((number, chunk, examined)).is_err() {
            return;
        }
    }
}

/// Examines chunks.
struct Worker<'c> {
    contract: &'c Contract,
    max_errors: usize,
    flat: Flat,
    /// No more errors are kept.
    full: bool,
}

impl<'c> Worker<'c> {
    fn new(contract: &'c Contract, settings: &Settings<'_>) -> Self {
        Self { contract, max_errors: settings.max_errors, flat: Flat::default(), full: false }
    }

    /// None when the chunk is no whole lines of whole records.
    fn examine(&mut self, chunk: &Chunk) -> Option<Examined> {
        if chunk.cut {
            return None;
        }
        let most = if self.full { 0 } else { self.max_errors };
        let mut taking = Taking {
            examiner: Examiner::new(self.contract, most),
            flat: std::mem::take(&mut self.flat),
            chunk,
            line: 0,
            start: 0,
            examined: Examined {
                summary: Summary::default(),
                records: Vec::new(),
                facts: Vec::new(),
                found: Vec::new(),
                unjudged: 0,
            },
        };
        let options = Options { max_problems: self.max_errors.max(1), ..Options::default() };
        let summary = read_lines(chunk.bytes.as_slice(), &options, &mut taking);
        self.flat = taking.flat;
        let mut examined = taking.examined;
        // Reading from memory cannot fail.
        examined.summary = summary.ok()?;
        let cut = examined.summary.count(ProblemKind::MultiLine) + examined.summary.count(ProblemKind::Torn);
        (cut == 0).then_some(examined)
    }
}

/// Takes the records of a chunk.
struct Taking<'k, 'c> {
    examiner: Examiner<'c>,
    flat: Flat,
    chunk: &'k Chunk,
    line: u64,
    start: u64,
    examined: Examined,
}

impl Taking<'_, '_> {
    /// Line and column of an offset in the chunk.
    fn locate(&self, offset: u64) -> Option<Position> {
        let bytes = &self.chunk.bytes[..usize::try_from(offset).ok()?.min(self.chunk.bytes.len())];
        let start = memchr::memrchr(b'\n', bytes).map_or(0, |newline| newline + 1);
        let line = Position { offset, line: self.line, column: 1 };
        Some(Position { offset, ..line.after(&bytes[start..]) })
    }

    fn take(&mut self, end: u64) {
        let Some(root) = self.flat.root() else { return };
        let most = self.examiner.most;
        self.examiner.most = most.saturating_sub(self.examined.found.len());
        let good = self.examiner.examine(root);
        self.examiner.most = most;
        let number = self.examined.records.len();
        for violation in self.examiner.violations.drain(..).collect::<Vec<Violation>>() {
            let at = offset(&self.flat, &violation.pointer).and_then(|offset| self.locate(offset));
            self.examined.found.push((number, Finding::of_violation(violation, at)));
        }
        let facts = &mut self.examiner.facts;
        self.examined.facts.append(&mut facts.list);
        let small = |offset: u64| usize::try_from(offset).unwrap_or(usize::MAX);
        self.examined.records.push(Record {
            kind: facts.kind,
            unknown: facts.unknown.take(),
            payload: facts.payload,
            facts: self.examined.facts.len(),
            line: self.line,
            start: small(self.start),
            end: small(end),
            good,
        });
    }
}

impl Sink for Taking<'_, '_> {
    fn begin_record(&mut self, line: u64, offset: u64) {
        self.line = line + self.chunk.base.map_or(0, |base| base.line - 1);
        self.start = offset;
        self.flat.clear(offset);
    }

    fn end_record(&mut self, offset: u64, whole: bool) {
        if whole {
            self.take(offset);
            self.examined.unjudged += u64::from(self.flat.take_unjudged());
        }
    }

    forward! {
        flat:
        begin_object(start: u64);
        end_object(end: u64);
        begin_array(start: u64);
        end_array(end: u64);
        key(span: Span, text: &str);
        string(span: Span, text: &str);
        string_part(start: u64, text: &str);
        number(span: Span, text: &str);
        bool(span: Span, value: bool);
        null(span: Span);
    }
}

/// Judges what holds between the records of a chunk and all before it.
fn judge(validation: &mut Validation<'_>, chunk: &Chunk, examined: Examined, verdict: &mut Verdict) {
    let base = chunk.base.unwrap_or(Position::START);
    let several = validation.several_documents();
    let most = validation.settings.max_errors;
    let room = most.saturating_sub(verdict.findings.len());
    let (contract, ending) = (validation.contract, validation.settings.ending);
    let mut own = examined.found.into_iter().peekable();
    let (mut found, mut facts, mut violations) = (Vec::new(), 0, Vec::new());
    let mut values = Values { bytes: &chunk.bytes, flat: Flat::default(), of: None };
    for (number, record) in examined.records.iter().enumerate() {
        let event = Event {
            kind: record.kind,
            unknown: record.unknown.as_deref(),
            payload: record.payload,
            list: &examined.facts[facts..record.facts],
        };
        facts = record.facts;
        // What comes behind the last finding that is kept is counted, not described.
        let full = found.len() >= room;
        let mut again = |look: &mut dyn FnMut(&Flat)| {
            if !full {
                look(values.get(record));
            }
        };
        step(contract, &mut validation.course, event, record.line, &mut again, &mut violations);
        let count = validation.course.events;
        if several {
            violations.extend(validation.course.finish(&contract.spec, &ending).violations);
        }
        if full {
            let own = std::iter::from_fn(|| own.next_if(|(of, _)| *of == number)).count();
            let count = own + violations.drain(..).len();
            verdict.more += (count as u64).max(u64::from(!record.good));
            continue;
        }
        let before = found.len();
        while let Some((_, mut finding)) = own.next_if(|(of, _)| *of == number) {
            finding.event = Some(count).filter(|_| !several);
            found.push(finding);
        }
        for violation in violations.drain(..) {
            let start = offset(values.get(record), &violation.pointer).unwrap_or(0);
            let bytes = &chunk.bytes[..record.start + usize::try_from(start).unwrap_or(0)];
            let line = memchr::memrchr(b'\n', bytes).map_or(0, |newline| newline + 1);
            let at = Position { offset: 0, line: record.line, column: 1 }.after(&bytes[line..]);
            let violation = if several { violation } else { violation.at(count, record.line) };
            found.push(Finding::of_violation(violation, Some(at)));
        }
        verdict.more += u64::from(!record.good && found.len() == before);
    }
    merge(verdict, &examined.summary, found, base, most, |_| true);
    verdict.unjudged += examined.unjudged;
    verdict.records += examined.summary.records;
    verdict.bytes += chunk.bytes.len() as u64;
}

/// Values of records that were read before: the one that was asked for last.
struct Values<'k> {
    bytes: &'k [u8],
    flat: Flat,
    /// Where its record starts.
    of: Option<usize>,
}

impl Values<'_> {
    fn get(&mut self, record: &Record) -> &Flat {
        if self.of != Some(record.start) {
            self.of = Some(record.start);
            self.flat.clear(0);
            // Reading from memory cannot fail.
            let _ = read_lines(&self.bytes[record.start..record.end], &Options::default(), &mut self.flat);
        }
        &self.flat
    }
}
