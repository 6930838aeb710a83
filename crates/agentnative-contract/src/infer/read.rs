//! Reading samples: chunks of lines by several threads, a document by one.

use super::super::line_chunker::{Chunk, LineChunker};
use super::super::spec::Framing;
use super::super::violation::Violation;
use super::PLACES;
use super::builder::ShapeBuilder;
use super::shape::Shape;
use std::io::{self, Read};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::thread;
use strict_json::{Position, ProblemKind, ReadOptions, Summary, read_document, read_lines};

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
    let message = format!(
        "the samples have more than {PLACES} different places: their keys are data at several depths"
    );
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
    let threads = if framing == Framing::Document { 1 } else { threads.max(1) };
    let shared = Shared { cutter: Mutex::new(LineChunker::new(reader)), stop: AtomicBool::new(false) };
    let (told, telling) = channel();
    thread::scope(|scope| {
        let mut workers = Vec::new();
        for _ in 0..threads {
            let (shared, told) = (&shared, told.clone());
            // Merging goes as deep as the values do.
            let builder = thread::Builder::new().stack_size(16 << 20);
            let work = move || match framing {
                Framing::Document => document(shared, &told),
                Framing::Lines => lines(shared, &told),
            };
            let spawned = builder.spawn_scoped(scope, work);
            workers
                .push(spawned.map_err(|error| io::Error::other(format!("cannot start a thread: {error}")))?);
        }
        drop(told);
        let mut bytes = 0;
        for more in telling {
            bytes += more;
            progress(bytes);
        }
        let mut all = Learnt::default();
        for worker in workers {
            let learnt = worker.join().map_err(|_| io::Error::other("a reading thread failed"))??;
            all.shape.join(learnt.shape);
            all.records += learnt.records;
            all.bytes += learnt.bytes;
            all.faults.extend(learnt.faults);
        }
        all.faults.sort_by_key(|fault| (fault.line, fault.column));
        all.faults.truncate(FAULTS);
        Ok(all)
    })
}

/// Tells lines from a document: the first line is a whole value, and there is more behind it.
fn glance(reader: &mut impl Read, start: &mut Vec<u8>) -> io::Result<Framing> {
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

/// Learns from chunks of lines until there are no more.
fn lines<R: Read>(shared: &Shared<R>, told: &Sender<u64>) -> io::Result<Learnt> {
    let (mut builder, mut learnt) = (ShapeBuilder::default(), Learnt::default());
    let mut buffer = Vec::new();
    while !shared.stop.load(Ordering::Relaxed) {
        let mut cutter = shared.cutter.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(chunk) = cutter.next(std::mem::take(&mut buffer))? else { break };
        let base = chunk.base;
        let summary = if chunk.cut {
            // A line too long for a chunk: this thread reads all the rest as it comes.
            let Chunk { bytes, .. } = chunk;
            read_lines(io::Cursor::new(bytes).chain(&mut cutter.reader), &options(), &mut builder)?
        } else {
            drop(cutter);
            let summary = read_lines(chunk.bytes.as_slice(), &options(), &mut builder)?;
            buffer = chunk.bytes;
            summary
        };
        let whole = learnt.add(&summary, base);
        let _ = told.send(summary.bytes);
        let fits = fits(&builder);
        if !whole || fits.is_err() {
            // What comes before is with other threads, which tell its faults.
            shared.stop.store(true, Ordering::Relaxed);
        }
        fits?;
    }
    (learnt.shape, learnt.records) = (builder.shape, builder.records);
    Ok(learnt)
}

fn document<R: Read>(shared: &Shared<R>, told: &Sender<u64>) -> io::Result<Learnt> {
    let (mut builder, mut learnt) = (ShapeBuilder::default(), Learnt::default());
    let mut cutter = shared.cutter.lock().unwrap_or_else(PoisonError::into_inner);
    let summary = read_document(&mut cutter.reader, &options(), &mut builder)?;
    builder.end_document(summary.whole > 0);
    learnt.add(&summary, Position::START);
    let _ = told.send(summary.bytes);
    fits(&builder)?;
    (learnt.shape, learnt.records) = (builder.shape, builder.records);
    Ok(learnt)
}

/// Whether what was learnt is not too much.
fn fits(builder: &ShapeBuilder) -> io::Result<()> {
    if builder.full || builder.count() > PLACES { Err(shapeless()) } else { Ok(()) }
}

impl Learnt {
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
