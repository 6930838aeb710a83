//! Reads the runs of a recording in bounded memory: large streams go to one unlinked temporary file while a line is
//! read.
//!
//! A recording is untrusted input.

use super::recording_writer::{RecordedStream, StreamPosition};
use super::{Bytes, Captured, Observation};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufRead, Read, Seek as _, SeekFrom, Write as _};
use std::sync::Arc;
use strict_json::{Event, JsonType, Problem, ProblemKind, ReadOptions, Sink, read_lines};
use xxhash_rust::xxh3::Xxh3;

/// Maximum length of a stream that stays in memory, in bytes.
const MAX_IN_MEMORY: usize = 4 * 1024;
/// Maximum total length of all lines without their streams, in bytes.
const MAX_TEXT_SIZE: usize = 64 << 20;
/// Number of streams of a run: stdout and stderr.
const STREAMS: usize = 2;

/// The reason why a recording cannot be read.
#[derive(Debug)]
pub enum RecordingError {
    /// The file cannot be read.
    Read(io::Error),
    /// The large streams cannot be stored in a temporary file.
    Store(io::Error),
    /// The content is invalid.
    Invalid {
        /// 1-based line of the recording.
        line: usize,
        /// 1-based byte in the line.
        column: usize,
        /// The problem, or what was expected instead.
        message: String,
    },
}

type Result<T> = std::result::Result<T, RecordingError>;

/// Reads the first line of a recording, without its line feed.
pub fn read_head(input: &mut impl BufRead) -> Result<Vec<u8>> {
    let mut head = Vec::new();
    input.take(MAX_TEXT_SIZE as u64 + 1).read_until(b'\n', &mut head).map_err(RecordingError::Read)?;
    head.pop_if(|last| *last == b'\n');
    match head.len() > MAX_TEXT_SIZE {
        true => Err(RecordingError::Invalid { line: 1, column: head.len(), message: too_long() }),
        false => Ok(head),
    }
}

/// Reads the runs of a recording, whose first line was already read and has `head_length` bytes.
pub fn read_runs(input: impl Read, head_length: usize) -> Result<Vec<Observation>> {
    let mut runs = Runs { length: head_length, ..Runs::default() };
    read_lines(input, &ReadOptions::default(), &mut runs).map_err(RecordingError::Read)?;
    runs.error.map_or(Ok(runs.complete), Err)
}

fn too_long() -> String {
    format!("the recording contains more than {MAX_TEXT_SIZE} bytes apart from the output of the runs")
}

/// The bytes of a stream in a line whose streams were replaced by numbers: such a number, or the position of an equal
/// stream in an earlier line.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum StreamReference {
    Text(usize),
    Base64(usize),
    SameAs(StreamPosition),
}

/// Receives the events of the JSON reader, and collects the runs of a recording.
#[derive(Default)]
struct Runs {
    complete: Vec<Observation>,
    /// The first error; reading stops after it.
    error: Option<RecordingError>,
    /// Total length of the lines read until now without their streams, in bytes.
    length: usize,
    streams: HashMap<StreamPosition, Bytes>,
    spill: Spill,
    line: RecordingLine,
}

/// A line of a recording while it is read. In its `text`, each stream is replaced by a number.
#[derive(Default)]
struct RecordingLine {
    number: usize,
    /// Byte offset of the line in the input.
    start: u64,
    text: Vec<u8>,
    /// Closing brackets of the objects and arrays that are not yet complete.
    open: Vec<u8>,
    /// True while only a part of a long string has been read.
    in_string: bool,
    /// The stream that the next string, or the next part of a string, belongs to.
    stream: Option<Box<Stream>>,
    streams: Vec<Option<Bytes>>,
    /// The places where a stream was replaced: the column in `text`, and the number of bytes by which the line became
    /// shorter.
    replaced: Vec<(usize, usize)>,
}

impl RecordingLine {
    /// Converts a column in `text` to the column in the recording, which contains the streams.
    fn original_column(&self, column: usize) -> usize {
        let before = self.replaced.iter().take_while(|(at, _)| *at < column);
        column + before.map(|(_, shorter_by)| shorter_by).sum::<usize>()
    }

    /// Appends a scalar or an opening bracket to the text, after a comma if one is needed.
    fn push(&mut self, bytes: &[u8]) {
        if !matches!(self.text.last(), None | Some(b'{' | b'[' | b':')) {
            self.text.push(b',');
        }
        self.text.extend_from_slice(bytes);
    }

    /// Appends a string to the text, or a part of a long string.
    fn push_string(&mut self, text: &str, is_last_part: bool) {
        let continues = std::mem::replace(&mut self.in_string, !is_last_part);
        if !continues {
            self.push(b"");
        }
        let start = self.text.len();
        // Writing to memory never fails.
        let _ = serde_json::to_writer(&mut self.text, text);
        if continues {
            self.text.remove(start);
        }
        if !is_last_part {
            self.text.pop();
        }
    }

    fn invalid(&self, column: usize, message: impl Into<String>) -> RecordingError {
        RecordingError::Invalid { line: self.number, column, message: message.into() }
    }

    /// Creates an error at a byte offset of the input.
    fn invalid_at(&self, offset: u64, message: impl Into<String>) -> RecordingError {
        self.invalid((offset - self.start) as usize + 1, message)
    }
}

impl Sink for Runs {
    const COMPARES_KEYS: bool = false;

    fn problem(&mut self, kind: ProblemKind, kept: Option<&Problem>) {
        // A line that is not an object is rejected when it is deserialized.
        if let Some(problem) = kept.filter(|_| kind.rejects() && kind != ProblemKind::NotObject) {
            self.fail(RecordingError::Invalid {
                line: problem.position.line as usize + 1,
                column: problem.position.column as usize,
                message: self.message(problem).to_owned(),
            });
        }
    }

    fn begin_record(&mut self, line: u64, offset: u64) {
        let mut text = std::mem::take(&mut self.line.text);
        text.clear();
        self.line =
            RecordingLine { number: line as usize + 1, start: offset, text, ..RecordingLine::default() };
    }

    fn end_record(&mut self, _: u64, whole: bool) {
        self.length += self.line.text.len();
        if whole && self.error.is_none() {
            match self.run() {
                Ok(run) => self.complete.push(run),
                Err(error) => self.fail(error),
            }
        }
    }

    fn event(&mut self, event: Event<'_>) {
        if self.error.is_some() {
            return;
        }
        if let Err(error) = self.append(event) {
            self.fail(error);
        } else if self.length + self.line.text.len() > MAX_TEXT_SIZE {
            self.fail(self.line.invalid(self.line.original_column(self.line.text.len()), too_long()));
        }
    }

    fn is_done(&self) -> bool {
        self.error.is_some()
    }
}

impl Runs {
    fn fail(&mut self, error: RecordingError) {
        self.error.get_or_insert(error);
    }

    fn message(&self, problem: &Problem) -> &'static str {
        match problem.kind {
            _ if self.line.stream.is_none() => "expected one JSON object; the recording is damaged",
            ProblemKind::InvalidEscape if problem.message.contains("found \\\\u") => {
                "expected four hexadecimal digits"
            }
            ProblemKind::InvalidEscape => "expected a JSON escape",
            ProblemKind::UnpairedSurrogate => "expected both halves of a surrogate pair",
            ProblemKind::InvalidUtf8 => "expected UTF-8",
            _ => "expected the end of a string; the recording is damaged",
        }
    }

    /// Processes an event of the JSON reader: appends it to the text of the line or, if it is a part of a stream, to
    /// the stream.
    fn append(&mut self, event: Event<'_>) -> Result<()> {
        let stream = self.line.stream.take();
        match (event, stream) {
            (Event::StringPart(start, text), Some(stream)) => {
                self.line.stream = Some(self.append_to_stream(stream, start, text)?);
            }
            (Event::String(span, text), Some(stream)) => {
                let bytes = self.append_to_stream(stream, span.start, text)?.finish(&mut self.spill);
                let shorter_by = (span.end - span.start) as usize - 1;
                self.line.replaced.push((self.line.text.len(), shorter_by));
                self.line.push(&[b'0' + self.line.streams.len() as u8]);
                self.line.streams.push(Some(bytes));
            }
            (Event::Key(_, key), _) => {
                self.line.push_string(key, true);
                self.line.text.push(b':');
                if key == "text" || key == "base64" {
                    let stream = Stream { is_base64: key == "base64", ..Stream::default() };
                    self.line.stream = Some(Box::new(stream));
                }
            }
            (Event::Begin(container, _), _) => {
                let [open, close] = if container == JsonType::Object { *b"{}" } else { *b"[]" };
                self.line.open.push(close);
                self.line.push(&[open]);
            }
            (Event::End(_), _) => self.line.text.extend(self.line.open.pop()),
            (Event::StringPart(_, text), _) => self.line.push_string(text, false),
            (Event::String(_, text), _) => self.line.push_string(text, true),
            (Event::Number(_, text), _) => self.line.push(text.as_bytes()),
            (Event::Boolean(_, value), _) => self.line.push(if value { b"true" } else { b"false" }),
            (Event::Null(_), _) => self.line.push(b"null"),
        }
        Ok(())
    }

    /// Decodes `text`, a part of a string, and appends it to a stream. `start` is the offset of the string in the
    /// input.
    fn append_to_stream(&mut self, mut stream: Box<Stream>, start: u64, text: &str) -> Result<Box<Stream>> {
        if self.line.streams.len() == STREAMS {
            return Err(self.line.invalid_at(start, format!("expected a run with {STREAMS} streams")));
        }
        match stream.decode(text, &mut self.spill) {
            Ok(true) => Ok(stream),
            Ok(false) => Err(self.line.invalid_at(start, "expected base64")),
            Err(error) => Err(RecordingError::Store(error)),
        }
    }

    /// Converts the complete line to an observation.
    fn run(&mut self) -> Result<Observation> {
        const EXPECTED: &str = "expected a run in the format of this version";
        let line = &mut self.line;
        let recorded: Observation<RecordedStream<StreamReference>> = serde_json::from_slice(&line.text)
            .map_err(|error| {
                let incomplete = "expected one JSON object; the recording is damaged";
                line.invalid(
                    line.original_column(error.column()),
                    if error.is_data() { EXPECTED } else { incomplete },
                )
            })?;
        let observation = recorded.map_streams(|stream, RecordedStream { bytes, chunks }| {
            let bytes = match bytes {
                // A number in the recording itself is rejected: each stream is used once.
                StreamReference::Text(nth) | StreamReference::Base64(nth) => {
                    let bytes = line.streams.get_mut(nth).and_then(Option::take);
                    bytes.ok_or_else(|| line.invalid(1, format!("expected {} as a string", stream.name())))?
                }
                StreamReference::SameAs(place) => self.streams.get(&place).cloned().ok_or_else(|| {
                    let other = format!("{} of line {}", place.stream.name(), place.line);
                    line.invalid(
                        1,
                        format!("{} refers to {other}; expected an earlier stream", stream.name()),
                    )
                })?,
            };
            self.streams.insert(StreamPosition { line: line.number, stream }, bytes.clone());
            Ok(Captured { bytes, chunks })
        })?;
        match line.streams.iter().any(Option::is_some) {
            true => Err(line.invalid(1, EXPECTED)),
            false => Ok(observation),
        }
    }
}

/// A stream of a run, decoded from the parts of a JSON string.
#[derive(Default)]
struct Stream {
    is_base64: bool,
    /// The bytes of the stream, while it is small enough to stay in memory.
    memory: Vec<u8>,
    /// Number of bytes of the stream in the temporary file.
    stored: u64,
    hash: Xxh3,
    /// True after the padding (`=`) of base64.
    padded: bool,
}

impl Stream {
    /// Appends a part of the string to the stream; returns false if the part cannot be decoded. All parts but the last
    /// have 64 KiB, which are complete groups of base64.
    fn decode(&mut self, text: &str, spill: &mut Spill) -> io::Result<bool> {
        if !self.is_base64 {
            return self.store(text.as_bytes(), spill).map(|()| true);
        }
        let decoded = STANDARD.decode(text).ok().filter(|_| !self.padded || text.is_empty());
        self.padded |= text.ends_with('=');
        decoded.map_or(Ok(false), |bytes| self.store(&bytes, spill).map(|()| true))
    }

    fn store(&mut self, bytes: &[u8], spill: &mut Spill) -> io::Result<()> {
        if self.stored == 0 && self.memory.len() + bytes.len() <= MAX_IN_MEMORY {
            self.memory.extend_from_slice(bytes);
            return Ok(());
        }
        for bytes in [&std::mem::take(&mut self.memory)[..], bytes] {
            self.hash.update(bytes);
            spill.write(self.stored, bytes)?;
            self.stored += bytes.len() as u64;
        }
        Ok(())
    }

    fn finish(self, spill: &mut Spill) -> Bytes {
        match &spill.file {
            Some(file) if self.stored > 0 => {
                let (file, len, digest) = (Arc::clone(file), self.stored, self.hash.digest128());
                let start = spill.end(len, digest);
                Bytes::File { file, start, len, digest }
            }
            _ => self.memory.into(),
        }
    }
}

/// The large streams of a recording, concatenated in one unlinked temporary file.
#[derive(Default)]
struct Spill {
    file: Option<Arc<File>>,
    /// Offset in the file at which the next stream starts.
    next: u64,
    /// Offsets of the stored streams by length and digest.
    known: HashMap<(u64, u128), u64>,
}

impl Spill {
    /// Writes a part of the next stream; `at` is its offset in the stream.
    fn write(&mut self, at: u64, bytes: &[u8]) -> io::Result<()> {
        let file = match &self.file {
            Some(file) => file,
            None => self.file.insert(Arc::new(tempfile::tempfile()?)),
        };
        let mut file = &**file;
        file.seek(SeekFrom::Start(self.next + at))?;
        file.write_all(bytes)
    }

    /// Completes the next stream and returns its offset in the file. If an equal stream is already stored, returns its
    /// offset and discards the new one.
    fn end(&mut self, len: u64, digest: u128) -> u64 {
        let start = *self.known.entry((len, digest)).or_insert(self.next);
        if start == self.next {
            self.next += len;
        }
        start
    }
}
