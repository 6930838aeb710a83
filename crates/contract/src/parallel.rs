//! Validates JSON Lines in chunks of complete lines: several threads validate them, and one judges them in order.

use super::chunks::{RemainingInput, fold_chunks};
use super::record_pipeline::RecordAccess;
use super::record_validator::{RecordValidator, ValidatedRecord, ValidatedRecords};
use super::validation::Validation;
use super::verdict::Verdict;
use super::violation::ReportLimit;
use std::io::{self, Read};
use std::sync::{Mutex, PoisonError};
use strict_json::{Chunk, Position, ProblemKind, ReadOptions, ReadSummary, Tape, read_lines_in_memory};

/// The result of validating the records of a chunk individually: the summary of the reader, and the records.
type ExaminedChunk = (ReadSummary, ValidatedRecords);

/// Validates JSON Lines in chunks, up to the first chunk that contains a record on several lines, an incomplete line or
/// a line that is too long. Returns the rest of the input, which has to be read as a stream; `None` if all of it was
/// validated.
pub(super) fn read<R: Read + Send>(
    validation: &mut Validation<'_>,
    reader: R,
    verdict: &mut Verdict,
    progress: &mut dyn FnMut(u64),
) -> io::Result<Option<RemainingInput<R>>> {
    let (threads, contract, options) =
        (validation.settings.threads, validation.contract(), validation.options());
    // The remaining report limit, and reusable buffers of judged records.
    let shared = Mutex::new((validation.limit(verdict), Vec::new()));
    let lock = || shared.lock().unwrap_or_else(PoisonError::into_inner);
    let validator = || RecordValidator::new(contract, ReportLimit::default());
    let examine = |validator: &mut RecordValidator<'_>, chunk: &Chunk| {
        let take_state =
            |(limit, buffers): &mut (ReportLimit, Vec<_>)| (*limit, buffers.pop().unwrap_or_default());
        (validator.limit, validator.records) = take_state(&mut lock());
        examine(validator, &options, chunk)
    };
    let judge = |chunk: &Chunk, examined| {
        let records = judge(validation, chunk, examined, verdict);
        progress(verdict.bytes);
        let (limit, buffers) = &mut *lock();
        *limit = validation.limit(verdict);
        buffers.push(records);
        true
    };
    Ok(fold_chunks(reader, threads, validator, examine, judge)?.1)
}

/// Validates the records of a chunk; returns `None` if the chunk does not consist of complete lines with one complete
/// record each.
fn examine(
    validator: &mut RecordValidator<'_>,
    options: &ReadOptions,
    chunk: &Chunk,
) -> Option<ExaminedChunk> {
    if chunk.is_partial_line {
        return None;
    }
    validator.lines_before = chunk.position.line - 1;
    let summary = read_lines_in_memory(&chunk.bytes, options, validator);
    let records = std::mem::take(&mut validator.records);
    let incomplete_lines = summary.count(ProblemKind::MultiLine) + summary.count(ProblemKind::Torn);
    (incomplete_lines == 0).then_some((summary, records))
}

/// Judges the rules between records, for the records of a chunk and all earlier ones. Returns the buffer of the
/// records, emptied for reuse.
fn judge(
    validation: &mut Validation<'_>,
    chunk: &Chunk,
    examined: ExaminedChunk,
    verdict: &mut Verdict,
) -> ValidatedRecords {
    let (summary, mut records) = examined;
    let mut found = Vec::new();
    let mut source = ChunkRecords { chunk, value: Tape::default(), start: None };
    let limit = validation.limit(verdict);
    let mut remaining = limit;
    validation.judge(&mut records, &mut source, &mut remaining, &mut found, verdict);
    verdict.merge(&summary, found, chunk.position, limit, |_| true);
    records
}

/// Gives access to the records of a chunk. A requested record is parsed again.
struct ChunkRecords<'k> {
    chunk: &'k Chunk,
    value: Tape,
    /// Byte offset in the chunk of the record that `value` contains.
    start: Option<u64>,
}

impl ChunkRecords<'_> {
    fn bytes_before(&self, offset: u64) -> &[u8] {
        let bytes = &self.chunk.bytes;
        &bytes[..usize::try_from(offset).unwrap_or(usize::MAX).min(bytes.len())]
    }
}

impl RecordAccess for ChunkRecords<'_> {
    fn value(&mut self, record: &ValidatedRecord) -> &Tape {
        if self.start.replace(record.start) != Some(record.start) {
            self.value.clear(0, record.start);
            let bytes =
                &self.chunk.bytes[self.bytes_before(record.start).len()..self.bytes_before(record.end).len()];
            read_lines_in_memory(bytes, &ReadOptions::default(), &mut self.value);
        }
        &self.value
    }

    fn locate(&self, record: &ValidatedRecord, offset: u64) -> Option<Position> {
        let bytes = self.bytes_before(offset);
        let start = memchr::memrchr(b'\n', bytes).map_or(0, |newline| newline + 1);
        let offset = self.chunk.position.offset + start as u64;
        let line = Position { offset, line: record.line, column: 1 };
        Some(line.after(&bytes[start..]))
    }
}
