//! JSON lines in chunks of whole lines: read ahead, examined by several threads, judged in order.

use super::contract::Contract;
use super::finding::Verdict;
use super::line_chunker::{Chunk, LineChunker};
use super::record_pipeline::RecordSource;
use super::record_validator::{Record, RecordValidator, Records};
use super::tape::Tape;
use super::validate::{Validation, merge};
use std::collections::BTreeMap;
use std::io::{self, Read};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread;
use strict_json::{Options, Position, ProblemKind, Summary, read_lines};

/// What was not judged, since it holds lines that cannot be cut: it has to be read as it comes.
pub(super) struct Rest<'r> {
    /// From the start of the first such chunk to the end of the input.
    pub reader: Box<dyn Read + 'r>,
    /// Where that is.
    pub base: Position,
}

/// The records of a chunk, validated by themselves.
type Examined = (Summary, Records);

/// Reads lines as long as they can be cut, and judges them.
pub(super) fn read<'r, R: Read + Send + 'r>(
    validation: &mut Validation<'_>,
    reader: R,
    verdict: &mut Verdict,
    progress: &mut dyn FnMut(u64),
) -> io::Result<Option<Rest<'r>>> {
    let mut chunker = LineChunker::new(reader);
    let stopped = if validation.settings.threads < 2 {
        alone(validation, &mut chunker, verdict, progress)?
    } else {
        together(validation, &mut chunker, verdict, progress)?
    };
    Ok(stopped.map(|(chunks, base)| {
        let read: Vec<u8> = chunks.into_iter().flat_map(|chunk| chunk.bytes).chain(chunker.rest).collect();
        Rest { reader: Box::new(io::Cursor::new(read).chain(chunker.reader)), base }
    }))
}

/// The chunks that are read but not judged, and where they begin.
type Unjudged = Option<(Vec<Chunk>, Position)>;

fn alone<R: Read>(
    validation: &mut Validation<'_>,
    chunker: &mut LineChunker<R>,
    verdict: &mut Verdict,
    progress: &mut dyn FnMut(u64),
) -> io::Result<Unjudged> {
    let mut worker = Worker::new(validation.contract(), validation.settings.max_errors, validation.options());
    let mut buffer = Vec::new();
    while let Some(chunk) = chunker.next(std::mem::take(&mut buffer))? {
        let examined = worker.examine(&chunk);
        let Some(examined) = examined else {
            let base = chunk.base;
            return Ok(Some((vec![chunk], base)));
        };
        judge(validation, &chunk, examined, verdict);
        worker.full = verdict.findings.len() >= validation.settings.max_errors;
        progress(verdict.bytes);
        buffer = chunk.bytes;
    }
    Ok(None)
}

fn together<R: Read + Send>(
    validation: &mut Validation<'_>,
    chunker: &mut LineChunker<R>,
    verdict: &mut Verdict,
    progress: &mut dyn FnMut(u64),
) -> io::Result<Unjudged> {
    let (threads, max_errors) = (validation.settings.threads, validation.settings.max_errors);
    let (contract, options) = (validation.contract(), validation.options());
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
            let spawned = builder.spawn_scoped(scope, move || {
                work(Worker::new(contract, max_errors, options), work_out, &done_in, full)
            });
            spawned.map_err(|error| io::Error::other(format!("cannot start a thread: {error}")))?;
        }
        drop(done_in);
        let stop = &stop;
        let reading = scope.spawn(move || send(chunker, &work_in, &spare_out, stop));
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
                full.store(verdict.findings.len() >= max_errors, Ordering::Relaxed);
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
        let base = chunks.first().map(|chunk| chunk.base);
        Ok(base.map(|base| (chunks, base)))
    })
}

fn send<R: Read>(
    chunker: &mut LineChunker<R>,
    work: &SyncSender<(usize, Chunk)>,
    spare: &Receiver<Vec<u8>>,
    stop: &AtomicBool,
) -> io::Result<()> {
    for number in 0.. {
        let Ok(buffer) = spare.recv() else { break };
        if stop.load(Ordering::Relaxed) {
            break;
        }
        let Some(chunk) = chunker.next(buffer)? else { break };
        if work.send((number, chunk)).is_err() {
            break;
        }
    }
    Ok(())
}

fn work(
    mut worker: Worker<'_>,
    work: &Mutex<Receiver<(usize, Chunk)>>,
    done: &Sender<(usize, Chunk, Option<Examined>)>,
    full: &AtomicBool,
) {
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

/// Validates the records of chunks.
struct Worker<'c> {
    validator: RecordValidator<'c>,
    options: Options,
    max_errors: usize,
    /// No more errors are kept.
    full: bool,
}

impl<'c> Worker<'c> {
    fn new(contract: &'c Contract, max_errors: usize, options: Options) -> Self {
        let validator = RecordValidator::new(contract, max_errors);
        Self { validator, options, max_errors, full: false }
    }

    /// None when the chunk is no whole lines of whole records.
    fn examine(&mut self, chunk: &Chunk) -> Option<Examined> {
        if chunk.cut {
            return None;
        }
        self.validator.max_violations = if self.full { 0 } else { self.max_errors };
        self.validator.lines_before = chunk.base.line - 1;
        let summary = read_lines(chunk.bytes.as_slice(), &self.options, &mut self.validator);
        let records = std::mem::take(&mut self.validator.records);
        // Reading from memory cannot fail.
        let summary = summary.ok()?;
        let cut = summary.count(ProblemKind::MultiLine) + summary.count(ProblemKind::Torn);
        (cut == 0).then_some((summary, records))
    }
}

/// Judges what holds between the records of a chunk and all before it.
fn judge(validation: &mut Validation<'_>, chunk: &Chunk, examined: Examined, verdict: &mut Verdict) {
    let (summary, mut records) = examined;
    let mut found = Vec::new();
    let mut source = ChunkRecords { bytes: &chunk.bytes, value: Tape::default(), start: None };
    validation.judge(&mut records, &mut source, &mut found, verdict);
    merge(verdict, &summary, found, chunk.base, validation.settings.max_errors, |_| true);
}

/// The records of a chunk, of which the one that was asked for last is read again.
struct ChunkRecords<'k> {
    bytes: &'k [u8],
    value: Tape,
    /// Where the record starts.
    start: Option<u64>,
}

impl ChunkRecords<'_> {
    fn until(&self, offset: u64) -> &[u8] {
        &self.bytes[..usize::try_from(offset).unwrap_or(usize::MAX).min(self.bytes.len())]
    }
}

impl RecordSource for ChunkRecords<'_> {
    fn value(&mut self, record: &Record) -> &Tape {
        if self.start.replace(record.start) != Some(record.start) {
            self.value.clear(0, record.start);
            let bytes = &self.bytes[self.until(record.start).len()..self.until(record.end).len()];
            // Reading from memory cannot fail.
            let _ = read_lines(bytes, &Options::default(), &mut self.value);
        }
        &self.value
    }

    fn locate(&self, record: &Record, offset: u64) -> Option<Position> {
        let bytes = self.until(offset);
        let start = memchr::memrchr(b'\n', bytes).map_or(0, |newline| newline + 1);
        let line = Position { offset: start as u64, line: record.line, column: 1 };
        Some(line.after(&bytes[start..]))
    }
}
