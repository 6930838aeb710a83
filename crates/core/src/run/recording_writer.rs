//! Writes a recording: each observation as a line. Streams are text if they are UTF-8, else base64. A large stream that
//! equals an earlier one is a reference to its position.
//!
//! No stream is held in memory as a whole.

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

/// Number of bytes of a stream that are written at once. It is a multiple of 3, so that each piece has complete groups
/// of base64.
const PIECE_SIZE: usize = 48 * 1024;

/// A stream in a recording. `B` is the type that represents its bytes.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RecordedStream<B> {
    pub bytes: B,
    pub chunks: Vec<Chunk>,
}

/// The position of a stream in a recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StreamPosition {
    /// The line of the observation in the recording, from 1.
    pub line: usize,
    pub stream: Stream,
}

#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum EncodedBytes {
    Text(AsText),
    Base64(AsBase64),
    SameAs(StreamPosition),
}

/// Writes a recording: a head, then a line for each observation.
pub struct RecordingWriter<W> {
    out: W,
    /// The number of the last written line.
    line: usize,
    /// Where each large stream was first written, by the place at which its bytes are stored.
    first_positions: HashMap<(usize, u64), StreamPosition>,
}

impl<W: Write> RecordingWriter<W> {
    /// Creates a writer, and writes the head: the first line of the recording.
    pub fn new(mut out: W, head: &impl Serialize) -> io::Result<Self> {
        serde_json::to_writer(&mut out, head)?;
        out.write_all(b"\n")?;
        Ok(Self { out, line: 1, first_positions: HashMap::new() })
    }

    /// Writes an observation as a line.
    pub fn push(&mut self, observation: Observation) -> io::Result<()> {
        self.line += 1;
        let encoded = observation.map_streams(|stream, captured| self.encode(stream, captured))?;
        serde_json::to_writer(&mut self.out, &encoded)?;
        self.out.write_all(b"\n")
    }

    /// Flushes the recording.
    pub fn finish(mut self) -> io::Result<()> {
        self.out.flush()
    }

    fn encode(&mut self, stream: Stream, captured: Captured) -> io::Result<RecordedStream<EncodedBytes>> {
        let Captured { bytes, chunks } = captured;
        let current = StreamPosition { line: self.line, stream };
        let first = match &bytes {
            Bytes::File { .. } => *self.first_positions.entry(bytes.identity()).or_insert(current),
            Bytes::Memory(_) => current,
        };
        let bytes = if first != current {
            EncodedBytes::SameAs(first)
        } else if try_text_pieces(&bytes, |_| true)? {
            EncodedBytes::Text(AsText(bytes))
        } else {
            EncodedBytes::Base64(AsBase64(bytes))
        };
        Ok(RecordedStream { bytes, chunks })
    }
}

struct AsText(Bytes);

impl Serialize for AsText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serialize_pieces(serializer, |push| match try_text_pieces(&self.0, push)? {
            true => Ok(()),
            false => Err(io::Error::other("the output of a run changed while it was written")),
        })
    }
}

struct AsBase64(Bytes);

impl Serialize for AsBase64 {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serialize_pieces(serializer, |push| {
            let mut reader = self.0.reader();
            loop {
                let mut piece = Vec::with_capacity(PIECE_SIZE);
                reader.by_ref().take(PIECE_SIZE as u64).read_to_end(&mut piece)?;
                if piece.is_empty() || !push(&STANDARD.encode(piece)) {
                    return Ok(());
                }
            }
        })
    }
}

/// Serializes a string in pieces. `write` passes each piece to the callback that it receives, and stops if the callback
/// returns false.
fn serialize_pieces<S: Serializer>(
    serializer: S,
    write: impl Fn(&mut dyn FnMut(&str) -> bool) -> io::Result<()>,
) -> Result<S::Ok, S::Error> {
    let read_error = Cell::new(None);
    let text = fmt::from_fn(|f| {
        let mut result = Ok(());
        let written = write(&mut |piece| {
            result = f.write_str(piece);
            result.is_ok()
        });
        // A read error is not an error of the formatter.
        read_error.set(written.err());
        result
    });
    let done = serializer.collect_str(&text)?;
    read_error.take().map_or(Ok(done), |error| Err(S::Error::custom(error)))
}

/// Passes a stream to `push` in pieces of text, until `push` returns false. Returns whether the bytes read until then
/// are UTF-8.
fn try_text_pieces(bytes: &Bytes, mut push: impl FnMut(&str) -> bool) -> io::Result<bool> {
    let (mut window, mut offset) = (vec![0; PIECE_SIZE], 0);
    loop {
        let n = bytes.read_at(offset, &mut window)?;
        let (text, is_truncated) = match std::str::from_utf8(&window[..n]) {
            Ok(text) => (text, false),
            Err(error) if error.error_len().is_some() => return Ok(false),
            // The window ends within a character, with which the next one begins.
            Err(error) => (std::str::from_utf8(&window[..error.valid_up_to()]).unwrap_or_default(), true),
        };
        if text.is_empty() || !push(text) {
            return Ok(!is_truncated);
        }
        offset += text.len() as u64;
    }
}
