//! Reads samples. Several threads read the chunks of JSON Lines; one thread reads a document.

use crate::shape::{MAX_POSITIONS, Shape, ShapeBuilder};
use agentnative_contract::{Framing, RemainingInput, Violation, fold_chunks};
use std::io::{self, Read};
use strict_json::{
    ArrayRecords, Chunk, Position, ProblemKind, ReadOptions, ReadSummary, read_document, read_lines,
    read_lines_in_memory,
};

/// Number of bytes at the start of an input that are examined first to detect its framing.
const DETECTION_BYTES: usize = 1 << 16;
/// Maximum length of the first line of JSON Lines, in bytes. An input with a longer first line is read as a document.
const MAX_FIRST_LINE: usize = 8 << 20;
/// Maximum number of reported JSON errors.
const MAX_PROBLEMS: usize = 20;

/// The merged shape and the statistics of all inputs that were read.
#[derive(Default)]
pub(super) struct InferenceState {
    pub shape: Shape,
    pub inputs: u64,
    pub records: u64,
    pub bytes: u64,
    pub problems: Vec<Violation>,
}

pub(super) fn too_many_positions() -> io::Error {
    let message = format!(
        "the samples have more than {MAX_POSITIONS} different positions; keys at several depths seem to be data"
    );
    io::Error::new(io::ErrorKind::InvalidData, message)
}

pub(super) fn read_samples(
    mut reader: impl Read + Send,
    framing: Option<Framing>,
    threads: usize,
    progress: &mut dyn FnMut(u64),
) -> io::Result<InferenceState> {
    let mut start = Vec::new();
    let framing = match framing {
        Some(framing) => framing,
        None => detect_framing(&mut reader, &mut start)?,
    };
    let reader = io::Cursor::new(start).chain(reader);
    let mut state = InferenceState { inputs: 1, ..InferenceState::default() };
    if framing == Framing::Lines {
        state.read_line_samples(reader, threads, progress)?;
    } else {
        let mut builder = ShapeBuilder::for_schema();
        state.add(&read_document_samples(reader, framing, &mut builder)?, Position::START);
        state.merge(builder)?;
    }
    progress(state.bytes);
    state.problems.sort_by_key(|problem| (problem.line, problem.column));
    state.problems.truncate(MAX_PROBLEMS);
    Ok(state)
}

/// Detects the framing of an input. It is JSON Lines if the first line is a complete JSON value and is followed by more
/// than whitespace; otherwise it is a document. Appends the bytes that it consumed from `reader` to `start`.
pub(crate) fn detect_framing(reader: &mut impl Read, start: &mut Vec<u8>) -> io::Result<Framing> {
    let mut limit = DETECTION_BYTES;
    loop {
        let read = reader.by_ref().take((limit - start.len()) as u64).read_to_end(start)?;
        let line = memchr::memchr(b'\n', start);
        if line.is_some() || read == 0 || limit >= MAX_FIRST_LINE {
            let Some(line) = line else { return Ok(Framing::Document) };
            let (first, rest) = start.split_at(line);
            let is_complete = read_document(first, &options(), &mut ())?.complete > 0;
            let has_more = rest.iter().any(|byte| !byte.is_ascii_whitespace());
            return Ok(if is_complete && has_more { Framing::Lines } else { Framing::Document });
        }
        limit *= 2;
    }
}

fn options() -> ReadOptions {
    ReadOptions { max_problems: MAX_PROBLEMS, ..ReadOptions::default() }
}

/// Reads a document into a shape builder. With `Framing::Array`, each element of the document is a sample.
fn read_document_samples(
    reader: impl Read,
    framing: Framing,
    builder: &mut ShapeBuilder,
) -> io::Result<ReadSummary> {
    if framing == Framing::Array {
        let mut records = ArrayRecords::new(builder, |_| 1);
        let summary = read_document(reader, &options(), &mut records)?;
        return match records.non_array_start {
            Some(_) => Err(io::Error::new(io::ErrorKind::InvalidData, "expected an array of events")),
            None => Ok(summary),
        };
    }
    let summary = read_document(reader, &options(), builder)?;
    builder.end_document(summary.complete > 0);
    Ok(summary)
}

impl InferenceState {
    pub fn join(&mut self, other: Self) {
        self.shape.merge(other.shape);
        self.inputs += other.inputs;
        self.records += other.records;
        self.bytes += other.bytes;
        self.problems.extend(other.problems);
    }

    /// Reads JSON Lines in chunks. Stops after the first chunk with a JSON error.
    fn read_line_samples(
        &mut self,
        reader: impl Read + Send,
        threads: usize,
        progress: &mut dyn FnMut(u64),
    ) -> io::Result<()> {
        let examine = |builder: &mut ShapeBuilder, chunk: &Chunk| {
            let summary = || read_lines_in_memory(&chunk.bytes, &options(), builder);
            // A line that is too long for a chunk is read as a stream.
            (!chunk.is_partial_line).then(summary).map(|summary| (summary, !builder.is_full()))
        };
        let merge = |chunk: &Chunk, (summary, fits): (ReadSummary, bool)| {
            let whole = self.add(&summary, chunk.position);
            progress(self.bytes);
            whole && fits
        };
        let (states, rest) = fold_chunks(reader, threads, ShapeBuilder::for_schema, examine, merge)?;
        for builder in states {
            self.merge(builder)?;
        }
        if let Some(RemainingInput { reader, base }) = rest.filter(|_| self.problems.is_empty()) {
            let mut builder = ShapeBuilder::for_schema();
            let summary = read_lines(reader, &options(), &mut builder)?;
            self.add(&summary, base);
            self.merge(builder)?;
        }
        Ok(())
    }

    /// Merges the shape that one thread built. Fails if the shape has too many positions.
    fn merge(&mut self, mut builder: ShapeBuilder) -> io::Result<()> {
        if builder.is_full() {
            return Err(too_many_positions());
        }
        self.shape.merge(builder.shape);
        self.records += builder.records;
        Ok(())
    }

    /// Adds the statistics and errors of one chunk or input, which begins at `base`. Returns whether it has no errors.
    fn add(&mut self, summary: &ReadSummary, base: Position) -> bool {
        self.bytes += summary.bytes;
        let is_error = |kind: ProblemKind| kind.rejects() && kind != ProblemKind::NotObject;
        let problems = summary.problems.iter().filter(|problem| is_error(problem.kind));
        let before = self.problems.len();
        self.problems.extend(problems.map(|problem| Violation::from_problem(problem, base)));
        self.problems.len() == before
    }
}
