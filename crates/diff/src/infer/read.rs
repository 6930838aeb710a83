//! Reading samples: chunks of lines by several threads, a document by one.

use super::builder::ShapeBuilder;
use super::shape::{PLACES, Shape};
use agentnative_contract::{Framing, Violation, workers};
use std::io::{self, Read};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::thread;
use strict_json::{
    ArrayRecords, Chunk, LineChunker, Position, ProblemKind, ReadOptions, Summary, read_document, read_lines,
};

/// So many bytes are looked at to tell lines from a document.
const GLANCE: usize = 1 << 16;
/// A first line that is longer belongs to a document.
const LONG: usize = 8 << 20;
/// So many faults are told.
const FAULTS: usize = 20;

/// What an input gave.
#[derive(Default)]
pub(super) struct Learnt {
    pub shape: Shape,
    pub inputs: u64,
    pub records: u64,
    pub bytes: u64,
    pub faults: Vec<Violation>,
}

/// What the threads share.
struct Shared<R> {
    cutter: Mutex<LineChunker<R>>,
    stop: AtomicBool,
}

pub(super) fn shapeless() -> io::Error {
    let message =
        format!("the samples have more than {PLACES} different places: at several depths, the keys are data");
    io::Error::new(io::ErrorKind::InvalidData, message)
}

/// Reads an input to its end.
pub(super) fn read(
    mut reader: impl Read + Send,
    framing: Option<Framing>,
    threads: usize,
    progress: &mut dyn FnMut(u64),
) -> io::Result<Learnt> {
    let mut start = Vec::new();
    let framing = match framing {
        Some(framing) => framing,
        None => glance(&mut reader, &mut start)?,
    };
    let reader = io::Cursor::new(start).chain(reader);
    let threads = if framing == Framing::Lines { threads.max(1) } else { 1 };
    let shared = Shared { cutter: Mutex::new(LineChunker::new(reader)), stop: AtomicBool::new(false) };
    let (told, telling) = channel();
    thread::scope(|scope| {
        let shared = &shared;
        // Merging goes as deep as the values do.
        let workers = workers::start(scope, threads, 16 << 20, move || work(shared, framing, &told))?;
        let mut bytes = 0;
        for more in telling {
            bytes += more;
            progress(bytes);
        }
        let mut all = Learnt::default();
        for worker in workers {
            all.join(workers::join(worker)?);
        }
        all.faults.sort_by_key(|fault| (fault.line, fault.column));
        all.faults.truncate(FAULTS);
        all.inputs = 1;
        Ok(all)
    })
}

/// Tells lines from a document: the first line is a whole value, and there is more behind it.
pub(crate) fn glance(reader: &mut impl Read, start: &mut Vec<u8>) -> io::Result<Framing> {
    let mut want = GLANCE;
    loop {
        let read = reader.by_ref().take((want - start.len()) as u64).read_to_end(start)?;
        let line = memchr::memchr(b'\n', start);
        if line.is_some() || read == 0 || want >= LONG {
            let Some(line) = line else { return Ok(Framing::Document) };
            let (first, rest) = start.split_at(line);
            let whole = read_document(first, &options(), &mut ())?.whole > 0;
            let more = rest.iter().any(|byte| !byte.is_ascii_whitespace());
            return Ok(if whole && more { Framing::Lines } else { Framing::Document });
        }
        want *= 2;
    }
}

fn options() -> ReadOptions {
    ReadOptions { max_problems: FAULTS, ..ReadOptions::default() }
}

/// Learns from a document, or from chunks of lines until there are no more.
fn work<R: Read>(shared: &Shared<R>, framing: Framing, told: &Sender<u64>) -> io::Result<Learnt> {
    let (mut builder, mut learnt) = (ShapeBuilder::default(), Learnt::default());
    let mut buffer = Vec::new();
    while !shared.stop.load(Ordering::Relaxed) {
        let mut cutter = shared.cutter.lock().unwrap_or_else(PoisonError::into_inner);
        let (summary, base) = if framing == Framing::Lines {
            let Some(Chunk { bytes, base, cut }) = cutter.next(std::mem::take(&mut buffer))? else { break };
            let summary = if cut {
                // A line too long for a chunk: this thread reads all the rest as it comes.
                read_lines(io::Cursor::new(bytes).chain(&mut cutter.reader), &options(), &mut builder)?
            } else {
                drop(cutter);
                let summary = read_lines(bytes.as_slice(), &options(), &mut builder)?;
                buffer = bytes;
                summary
            };
            (summary, base)
        } else {
            shared.stop.store(true, Ordering::Relaxed);
            (document(&mut cutter.reader, framing, &mut builder)?, Position::START)
        };
        let whole = learnt.add(&summary, base);
        let _ = told.send(summary.bytes);
        let fits = !builder.full && builder.places() <= PLACES;
        if !whole || !fits {
            // What comes before is with other threads, which tell its faults.
            shared.stop.store(true, Ordering::Relaxed);
        }
        if !fits {
            return Err(shapeless());
        }
    }
    (learnt.shape, learnt.records) = (builder.shape, builder.records);
    Ok(learnt)
}

/// Learns from a document, or from each item of one.
fn document(reader: impl Read, framing: Framing, builder: &mut ShapeBuilder) -> io::Result<Summary> {
    if framing == Framing::Array {
        let mut records = ArrayRecords::new(builder, |_| 1);
        let summary = read_document(reader, &options(), &mut records)?;
        return match records.other {
            Some(_) => Err(io::Error::new(io::ErrorKind::InvalidData, "expected an array of events")),
            None => Ok(summary),
        };
    }
    let summary = read_document(reader, &options(), builder)?;
    builder.end_document(summary.whole > 0);
    Ok(summary)
}

impl Learnt {
    /// Merges what another reading gave in.
    pub fn join(&mut self, other: Self) {
        self.shape.join(other.shape);
        self.inputs += other.inputs;
        self.records += other.records;
        self.bytes += other.bytes;
        self.faults.extend(other.faults);
    }

    /// Adds what a reading came to; gives whether there was no fault.
    fn add(&mut self, summary: &Summary, base: Position) -> bool {
        self.bytes += summary.bytes;
        let rejects = |kind: ProblemKind| kind.rejects() && kind != ProblemKind::NotObject;
        let faults = summary.problems.iter().filter(|problem| rejects(problem.kind));
        let before = self.faults.len();
        self.faults.extend(faults.map(|problem| Violation::of_problem(problem, base)));
        self.faults.len() == before
    }
}
