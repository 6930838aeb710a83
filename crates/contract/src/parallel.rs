//! JSON lines in chunks of whole lines: examined by several threads, judged in order.

use super::chunks::{Rest, fold_chunks};
use super::record_pipeline::RecordSource;
use super::record_validator::{RecordValidator, ValidatedRecord, ValidatedRecords};
use super::validation::Validation;
use super::verdict::Verdict;
use super::violation::Room;
use std::io::{self, Read};
use std::sync::{Mutex, PoisonError};
use strict_json::{Chunk, Position, ProblemKind, ReadOptions, Summary, Tape, read_lines_at_hand};

/// The records of a chunk, validated by themselves.
type Examined = (Summary, ValidatedRecords);

/// Reads lines as long as they can be cut, and judges them. Returns what was not judged, since it has lines that have to
/// be read as they come.
pub(super) fn read<R: Read + Send>(
    validation: &mut Validation<'_>,
    reader: R,
    verdict: &mut Verdict,
    progress: &mut dyn FnMut(u64),
) -> io::Result<Option<Rest<R>>> {
    let (threads, contract, options) =
        (validation.settings.threads, validation.contract(), validation.options());
    // The room that is left, and that of records which are judged.
    let shared = Mutex::new((validation.room(verdict), Vec::new()));
    let lock = || shared.lock().unwrap_or_else(PoisonError::into_inner);
    let validator = || RecordValidator::new(contract, Room::default());
    let examine = |validator: &mut RecordValidator<'_>, chunk: &Chunk| {
        let take = |(room, spare): &mut (Room, Vec<_>)| (*room, spare.pop().unwrap_or_default());
        (validator.room, validator.records) = take(&mut lock());
        examine(validator, &options, chunk)
    };
    let judge = |chunk: &Chunk, examined| {
        let records = judge(validation, chunk, examined, verdict);
        progress(verdict.bytes);
        let (room, spare) = &mut *lock();
        *room = validation.room(verdict);
        spare.push(records);
        true
    };
    Ok(fold_chunks(reader, threads, validator, examine, judge)?.1)
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
