//! A run as a line of a recording: its streams as text where they are UTF-8, else as base64. Of large streams that are
//! the same, all but the first are named by their place.
//!
//! Nothing here holds a stream as a whole.

use super::{Bytes, Captured, Chunk, Observation};
use crate::model::Stream;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::ser::Error as _;
use serde::{Deserialize, Serialize, Serializer};
use std::cell::Cell;
use std::collections::HashMap;
use std::fmt;
use std::io::{self, Read as _, Write};

/// How much of a stream is written at a time: whole groups of base64.
const PIECE: usize = 48 * 1024;

/// A stream in a recording.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RecordedStream<B> {
    pub bytes: B,
    pub chunks: Vec<Chunk>,
}

/// Where a stream stands in a recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StreamPlace {
    /// The line of its run, counted from 1.
    pub line: usize,
    pub stream: Stream,
}

#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum Written {
    Text(AsText),
    Base64(AsBase64),
    SameAs(StreamPlace),
}

/// Writes a recording: a head, then a line for each run.
pub struct RecordWriter<W> {
    out: W,
    /// The line that was written last.
    line: usize,
    /// Where the large streams stand, by the place of their bytes.
    known: HashMap<(usize, u64), StreamPlace>,
}

impl<W: Write> RecordWriter<W> {
    /// Begins with the head.
    pub fn new(mut out: W, head: &impl Serialize) -> io::Result<Self> {
        serde_json::to_writer(&mut out, head)?;
        out.write_all(b"\n")?;
        Ok(Self { out, line: 1, known: HashMap::new() })
    }

    /// Adds a run.
    pub fn push(&mut self, seen: Observation) -> io::Result<()> {
        self.line += 1;
        let seen = seen.map_streams(|stream, captured| self.written(stream, captured))?;
        serde_json::to_writer(&mut self.out, &seen)?;
        self.out.write_all(b"\n")
    }

    /// Ends the recording.
    pub fn finish(mut self) -> io::Result<()> {
        self.out.flush()
    }

    fn written(&mut self, stream: Stream, captured: Captured) -> io::Result<RecordedStream<Written>> {
        let Captured { bytes, chunks } = captured;
        let here = StreamPlace { line: self.line, stream };
        let first = match &bytes {
            Bytes::File { .. } => *self.known.entry(bytes.place()).or_insert(here),
            Bytes::Memory(_) => here,
        };
        let bytes = if first != here {
            Written::SameAs(first)
        } else if text_pieces(&bytes, |_| true)? {
            Written::Text(AsText(bytes))
        } else {
            Written::Base64(AsBase64(bytes))
        };
        Ok(RecordedStream { bytes, chunks })
    }
}

struct AsText(Bytes);

impl Serialize for AsText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        in_pieces(serializer, |put| match text_pieces(&self.0, put)? {
            true => Ok(()),
            false => Err(io::Error::other("the output of a run changed while it was written")),
        })
    }
}

struct AsBase64(Bytes);

impl Serialize for AsBase64 {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        in_pieces(serializer, |put| {
            let mut reader = self.0.reader();
            loop {
                let mut piece = Vec::with_capacity(PIECE);
                reader.by_ref().take(PIECE as u64).read_to_end(&mut piece)?;
                if piece.is_empty() || !put(&STANDARD.encode(piece)) {
                    return Ok(());
                }
            }
        })
    }
}

/// Serializes a string in pieces. `write` puts each, and ends when it is told that no more is taken.
fn in_pieces<S: Serializer>(
    serializer: S,
    write: impl Fn(&mut dyn FnMut(&str) -> bool) -> io::Result<()>,
) -> Result<S::Ok, S::Error> {
    let failed = Cell::new(None);
    let text = fmt::from_fn(|f| {
        let mut put = Ok(());
        let written = write(&mut |piece| {
            put = f.write_str(piece);
            put.is_ok()
        });
        // What cannot be read is no error of the formatter.
        failed.set(written.err());
        put
    });
    let done = serializer.collect_str(&text)?;
    failed.take().map_or(Ok(done), |error| Err(S::Error::custom(error)))
}

/// Takes a stream in pieces of text, until no more is wanted. Whether it is text as far as it was taken.
fn text_pieces(bytes: &Bytes, mut take: impl FnMut(&str) -> bool) -> io::Result<bool> {
    let (mut window, mut at) = (vec![0; PIECE], 0);
    loop {
        let n = bytes.read_at(at, &mut window)?;
        let (text, torn) = match std::str::from_utf8(&window[..n]) {
            Ok(text) => (text, false),
            Err(error) if error.error_len().is_some() => return Ok(false),
            // The next window begins with the rest of the character.
            Err(error) => (std::str::from_utf8(&window[..error.valid_up_to()]).unwrap_or_default(), true),
        };
        if text.is_empty() || !take(text) {
            return Ok(!torn);
        }
        at += text.len() as u64;
    }
}
