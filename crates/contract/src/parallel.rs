//! JSON lines in chunks of whole lines: read ahead, examined by several threads, judged in order.

use super::record_pipeline::RecordSource;
use super::record_validator::{RecordValidator, ValidatedRecord, ValidatedRecords};
use super::validation::Validation;
use super::verdict::Verdict;
use super::violation::Room;
use super::workers;
use std::collections::BTreeMap;
use std::io::{self, Read};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Mutex, PoisonError};
use std::thread;
use strict_json::{
    Chunk, LineChunker, Position, ProblemKind, ReadOptions, Summary, Tape, read_lines_at_hand,
};

/// What was not judged, since it holds lines that cannot be cut: it has to be read as it comes.
pub(super) struct Rest<'r> {
    /// From the start of the first such chunk to the end of the input.
    pub reader: Box<dyn Read + 'r>,
    /// Where that is.
    pub base: Position,
}

/// The records of a chunk, validated by themselves.
type Examined = (Summary, ValidatedRecords);

/// Reads lines as long as they can be cut, and judges them.
pub(super) fn read<'r, R: Read + Send + 'r>(
    validation: &mut Validation<'_>,
    reader: R,
    verdict: &mut Verdict,
    progress: &mut dyn FnMut(u64),
) -> io::Result<Option<Rest<'r>>> {
    let mut chunker = LineChunker::new(reader);
    let unjudged = if validation.settings.threads < 2 {
        alone(validation, &mut chunker, verdict, progress)?
    } else {
        together(validation, &mut chunker, verdict, progress)?
    };
    let Some(base) = unjudged.first().map(|chunk| chunk.base) else { return Ok(None) };
    let read: Vec<u8> = unjudged.into_iter().flat_map(|chunk| chunk.bytes).chain(chunker.rest).collect();
    Ok(Some(Rest { reader: Box::new(io::Cursor::new(read).chain(chunker.reader)), base }))
}

/// Gives the chunks that are read but not judged.
fn alone<R: Read>(
    validation: &mut Validation<'_>,
    chunker: &mut LineChunker<R>,
    verdict: &mut Verdict,
    progress: &mut dyn FnMut(u64),
) -> io::Result<Vec<Chunk>> {
    let mut validator = RecordValidator::new(validation.contract(), validation.room(verdict));
    let mut buffer = Vec::new();
    while let Some(chunk) = chunker.next(std::mem::take(&mut buffer))? {
        validator.room = validation.room(verdict);
        let Some(examined) = examine(&mut validator, &validation.options(), &chunk) else {
            return Ok(vec![chunk]);
        };
        validator.records = judge(validation, &chunk, examined, verdict);
        progress(verdict.bytes);
        buffer = chunk.bytes;
    }
    Ok(Vec::new())
}

/// What the threads take chunks from.
struct ChunkSource<'r, R> {
    chunker: &'r mut LineChunker<R>,
    /// The buffers that go round: their number bounds what is read ahead.
    spare: Receiver<Buffers>,
    /// The number of the next chunk.
    number: usize,
}

/// Room for the bytes of a chunk, and for its records.
type Buffers = (Vec<u8>, ValidatedRecords);

impl<R: Read> ChunkSource<'_, R> {
    /// The next chunk, its number and room for its records; none at the end, and when there are no more buffers.
    fn next(&mut self) -> io::Result<Option<(usize, Chunk, ValidatedRecords)>> {
        let Ok((buffer, records)) = self.spare.recv() else { return Ok(None) };
        self.number += 1;
        Ok(self.chunker.next(buffer)?.map(|chunk| (self.number - 1, chunk, records)))
    }
}

/// As [`alone`], with threads of which each reads a chunk and validates its records by themselves.
fn together<R: Read + Send>(
    validation: &mut Validation<'_>,
    chunker: &mut LineChunker<R>,
    verdict: &mut Verdict,
    progress: &mut dyn FnMut(u64),
) -> io::Result<Vec<Chunk>> {
    let (threads, contract, options) =
        (validation.settings.threads, validation.contract(), validation.options());
    let (done_in, done_out) = channel();
    let (spare_in, spare) = channel();
    for _ in 0..threads + 2 {
        let _ = spare_in.send(Buffers::default());
    }
    let source = Mutex::new(ChunkSource { chunker, spare, number: 0 });
    let room = Mutex::new(validation.room(verdict));
    thread::scope(|scope| {
        let (source, room) = (&source, &room);
        let work = move || {
            let mut validator = RecordValidator::new(contract, Room::default());
            let next = || source.lock().unwrap_or_else(PoisonError::into_inner).next();
            while let Some((number, chunk, records)) = next()? {
                validator.records = records;
                validator.room = *room.lock().unwrap_or_else(PoisonError::into_inner);
                let examined = examine(&mut validator, &options, &chunk);
                let _ = done_in.send((number, chunk, examined));
            }
            Ok(())
        };
        let workers = workers::start(scope, threads, 8 << 20, work)?;
        let (mut waiting, mut next, mut spare_in) = (BTreeMap::new(), 0, Some(spare_in));
        for (number, chunk, examined) in done_out {
            waiting.insert(number, (chunk, examined));
            while let Some((chunk, examined)) = waiting.remove(&next) {
                let Some(examined) = examined else {
                    waiting.insert(next, (chunk, None));
                    // Without buffers the threads come to their end.
                    spare_in = None;
                    break;
                };
                let records = judge(validation, &chunk, examined, verdict);
                *room.lock().unwrap_or_else(PoisonError::into_inner) = validation.room(verdict);
                progress(verdict.bytes);
                next += 1;
                if let Some(spare) = &spare_in {
                    let _ = spare.send((chunk.bytes, records));
                }
            }
        }
        for worker in workers {
            workers::join(worker)?;
        }
        Ok(waiting.into_values().map(|(chunk, _)| chunk).collect())
    })
}

/// Validates the records of a chunk; none when it is no whole lines of whole records.
fn examine(validator: &mut RecordValidator<'_>, options: &ReadOptions, chunk: &Chunk) -> Option<Examined> {
    if chunk.cut {
        return None;
    }
    validator.lines_before = chunk.base.line - 1;
    let summary = read_lines_at_hand(&chunk.bytes, options, validator);
    let records = std::mem::take(&mut validator.records);
    let cut = summary.count(ProblemKind::MultiLine) + summary.count(ProblemKind::Torn);
    (cut == 0).then_some((summary, records))
}

/// Judges what holds between the records of a chunk and all before it; gives the room of the records back.
fn judge(
    validation: &mut Validation<'_>,
    chunk: &Chunk,
    examined: Examined,
    verdict: &mut Verdict,
) -> ValidatedRecords {
    let (summary, mut records) = examined;
    let mut found = Vec::new();
    let mut source = ChunkRecords { chunk, value: Tape::default(), start: None };
    let room = validation.room(verdict);
    let mut left = room;
    validation.judge(&mut records, &mut source, &mut left, &mut found, verdict);
    verdict.merge(&summary, found, chunk.base, room, |_| true);
    records
}

/// The records of a chunk, of which the one that was asked for last is read again.
struct ChunkRecords<'k> {
    chunk: &'k Chunk,
    value: Tape,
    /// Where the record starts.
    start: Option<u64>,
}

impl ChunkRecords<'_> {
    fn until(&self, offset: u64) -> &[u8] {
        let bytes = &self.chunk.bytes;
        &bytes[..usize::try_from(offset).unwrap_or(usize::MAX).min(bytes.len())]
    }
}

impl RecordSource for ChunkRecords<'_> {
    fn value(&mut self, record: &ValidatedRecord) -> &Tape {
        if self.start.replace(record.start) != Some(record.start) {
            self.value.clear(0, record.start);
            let bytes = &self.chunk.bytes[self.until(record.start).len()..self.until(record.end).len()];
            read_lines_at_hand(bytes, &ReadOptions::default(), &mut self.value);
        }
        &self.value
    }

    fn locate(&self, record: &ValidatedRecord, offset: u64) -> Option<Position> {
        let bytes = self.until(offset);
        let start = memchr::memrchr(b'\n', bytes).map_or(0, |newline| newline + 1);
        let offset = self.chunk.base.offset + start as u64;
        let line = Position { offset, line: record.line, column: 1 };
        Some(line.after(&bytes[start..]))
    }
}
