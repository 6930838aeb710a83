//! Reading samples: chunks of lines by several threads, a document by one.

use crate::shape::{PLACES, Shape, ShapeBuilder};
use agentnative_contract::{Framing, Rest, Violation, fold_chunks};
use std::io::{self, Read};
use strict_json::{
    ArrayRecords, Chunk, Position, ProblemKind, ReadOptions, Summary, read_document, read_lines,
    read_lines_at_hand,
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
    let mut learnt = Learnt { inputs: 1, ..Learnt::default() };
    if framing == Framing::Lines {
        learnt.lines(reader, threads, progress)?;
    } else {
        let mut builder = ShapeBuilder::for_schema();
        learnt.add(&document(reader, framing, &mut builder)?, Position::START);
        learnt.merge(builder)?;
    }
    progress(learnt.bytes);
    learnt.faults.sort_by_key(|fault| (fault.line, fault.column));
    learnt.faults.truncate(FAULTS);
    Ok(learnt)
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

    /// Learns from lines, up to the chunk that has the first fault.
    fn lines(
        &mut self,
        reader: impl Read + Send,
        threads: usize,
        progress: &mut dyn FnMut(u64),
    ) -> io::Result<()> {
        let examine = |builder: &mut ShapeBuilder, chunk: &Chunk| {
            let summary = || read_lines_at_hand(&chunk.bytes, &options(), builder);
            // A line that is too long for a chunk is read as it comes.
            (!chunk.cut).then(summary).map(|summary| (summary, !builder.is_full()))
        };
        let merge = |chunk: &Chunk, (summary, fits): (Summary, bool)| {
            let whole = self.add(&summary, chunk.base);
            progress(self.bytes);
            whole && fits
        };
        let (states, rest) = fold_chunks(reader, threads, ShapeBuilder::for_schema, examine, merge)?;
        for builder in states {
            self.merge(builder)?;
        }
        if let Some(Rest { reader, base }) = rest.filter(|_| self.faults.is_empty()) {
            let mut builder = ShapeBuilder::for_schema();
            let summary = read_lines(reader, &options(), &mut builder)?;
            self.add(&summary, base);
            self.merge(builder)?;
        }
        Ok(())
    }

    /// Merges what was read by one thread in.
    fn merge(&mut self, mut builder: ShapeBuilder) -> io::Result<()> {
        if builder.is_full() {
            return Err(shapeless());
        }
        self.shape.join(builder.shape);
        self.records += builder.records;
        Ok(())
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
