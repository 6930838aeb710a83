//! Reads a recording line by line. The streams are extracted while a line is read: small ones stay in memory, all large
//! ones are stored in one unlinked temporary file. The recording may come from an untrusted source.

use super::recording_writer::{RecordedStream, StreamPosition};
use super::{Bytes, Captured, Observation};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use memchr::{memchr, memchr2, memchr3};
use serde::Deserialize;
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek as _, SeekFrom, Write as _};
use std::sync::Arc;
use xxhash_rust::xxh3::Xxh3;

/// Maximum size of a stream in memory, in bytes.
const MAX_IN_MEMORY: usize = 4 * 1024;
/// Number of bytes that are read and decoded at a time.
const BUFFER_SIZE: usize = 64 * 1024;
/// Maximum total size of all lines without their streams, in bytes.
const MAX_TEXT_SIZE: usize = 64 << 20;
/// Number of streams of a run.
const STREAMS_PER_RUN: usize = 2;

/// The reason why a recording cannot be read.
#[derive(Debug)]
pub enum RecordingError {
    /// The file cannot be read.
    Read(io::Error),
    /// The large streams cannot be stored.
    Store(io::Error),
    /// The recording is invalid.
    Invalid {
        /// The line, from 1.
        line: usize,
        /// The byte in the line, from 1.
        column: usize,
        /// The error or the expectation.
        message: String,
    },
}

type Result<T> = std::result::Result<T, RecordingError>;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Encoding {
    Text,
    Base64,
}

/// A stream in a line whose strings are extracted. The number is the index of the string in the line.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum StreamReference {
    Text(usize),
    Base64(usize),
    SameAs(StreamPosition),
}

/// Reads the lines of a recording.
pub struct RecordingReader<R> {
    input: Input<R>,
    spill: Spill,
    /// Total size of the lines so far without their streams, in bytes.
    text_size: usize,
    streams: HashMap<StreamPosition, Bytes>,
}

/// A line without its streams.
#[derive(Default)]
struct Line {
    text: Vec<u8>,
    streams: Vec<Option<Bytes>>,
    /// The offset of each extracted stream in `text`, and by how many bytes it was longer than its replacement.
    cuts: Vec<(usize, usize)>,
}

impl Line {
    /// Returns the encoding of the string at the end of the text so far, if the string is a stream.
    fn encoding(&self) -> Option<Encoding> {
        let key = self.text.trim_ascii_end().strip_suffix(b":")?.trim_ascii_end();
        let has_name = |name: &[u8]| key.ends_with(name);
        match () {
            () if has_name(b"\"text\"") => Some(Encoding::Text),
            () if has_name(b"\"base64\"") => Some(Encoding::Base64),
            () => None,
        }
    }

    /// Converts a column of the text to the column in the recording.
    fn column(&self, column: usize) -> usize {
        let before = self.cuts.iter().take_while(|(offset, _)| *offset < column);
        column + before.map(|(_, longer)| longer).sum::<usize>()
    }
}

impl<R: Read> RecordingReader<R> {
    /// Returns a reader of the recording in `input`.
    pub fn new(input: R) -> Self {
        let input = Input { reader: BufReader::with_capacity(BUFFER_SIZE, input), line: 0, column: 0 };
        Self { input, spill: Spill::default(), text_size: 0, streams: HashMap::new() }
    }

    /// Returns the number of the last read line, from 1.
    pub const fn line(&self) -> usize {
        self.input.line
    }

    /// Reads the first line; empty if there is none.
    pub fn head(&mut self) -> Result<Vec<u8>> {
        self.input.line += 1;
        let mut text = Vec::new();
        loop {
            let buffer = self.input.fill()?;
            let (length, end) = (buffer.len(), memchr(b'\n', buffer));
            self.consume_text(&mut text, end.unwrap_or(length))?;
            if end.is_some() || length == 0 {
                self.input.consume(usize::from(end.is_some()));
                return Ok(text);
            }
        }
    }

    /// Reads the next observation; `None` at the end.
    pub fn next_observation(&mut self) -> Result<Option<Observation>> {
        if self.input.fill()?.is_empty() {
            return Ok(None);
        }
        self.input.line += 1;
        self.input.column = 0;
        let mut line = self.read_line()?;
        let number = self.line();
        let invalid = |column, message: &str| RecordingError::Invalid {
            line: number,
            column,
            message: message.to_owned(),
        };
        const EXPECTED: &str = "expected a run in the format of this version";
        let observation: Observation<RecordedStream<StreamReference>> = serde_json::from_slice(&line.text)
            .map_err(|error| {
                let damaged = "expected one JSON object; the recording is damaged";
                invalid(line.column(error.column()), if error.is_data() { EXPECTED } else { damaged })
            })?;
        let observation = observation.map_streams(|stream, RecordedStream { bytes, chunks }| {
            let bytes = match bytes {
                // A number in the recording itself refers to no string, or to one that another stream needs.
                StreamReference::Text(nth) | StreamReference::Base64(nth) => {
                    let extracted = line.streams.get_mut(nth).and_then(Option::take);
                    extracted.ok_or_else(|| invalid(1, &format!("expected {} as a string", stream.name())))?
                }
                StreamReference::SameAs(position) => {
                    self.streams.get(&position).cloned().ok_or_else(|| {
                        let other = format!("{} of line {}", position.stream.name(), position.line);
                        invalid(
                            1,
                            &format!("{} is that of {other}; expected a stream before it", stream.name()),
                        )
                    })?
                }
            };
            self.streams.insert(StreamPosition { line: number, stream }, bytes.clone());
            Ok(Captured { bytes, chunks })
        })?;
        match line.streams.iter().any(Option::is_some) {
            true => Err(invalid(1, EXPECTED)),
            false => Ok(Some(observation)),
        }
    }

    /// Reads a line, and replaces each stream by its index.
    fn read_line(&mut self) -> Result<Line> {
        let (mut line, mut in_string) = (Line::default(), false);
        loop {
            let buffer = self.input.fill()?;
            let special = match in_string {
                true => memchr3(b'\n', b'"', b'\\', buffer),
                false => memchr2(b'\n', b'"', buffer),
            };
            let (length, found) = (buffer.len(), special.map(|at| buffer[at]));
            self.consume_text(&mut line.text, special.unwrap_or(length))?;
            match found {
                None if length > 0 => {}
                None => return Ok(line),
                Some(b'\n') => {
                    self.input.consume(1);
                    return Ok(line);
                }
                Some(b'"') if !in_string && line.encoding().is_some() => self.extract_stream(&mut line)?,
                Some(b'"') => {
                    in_string = !in_string;
                    self.consume_text(&mut line.text, 1)?;
                }
                // A backslash and the escaped byte.
                Some(_) => {
                    self.consume_text(&mut line.text, 1)?;
                    if self.input.fill()?.first().is_some_and(|byte| *byte != b'\n') {
                        self.consume_text(&mut line.text, 1)?;
                    }
                }
            }
        }
    }

    /// Moves bytes of the input to `text`.
    fn consume_text(&mut self, text: &mut Vec<u8>, length: usize) -> Result<()> {
        self.text_size += length;
        if self.text_size > MAX_TEXT_SIZE {
            let message =
                format!("the recording holds more than {MAX_TEXT_SIZE} bytes besides the output of the runs");
            return Err(self.input.invalid(message));
        }
        text.extend_from_slice(&self.input.fill()?[..length]);
        self.input.consume(length);
        Ok(())
    }

    /// Decodes the string at the current position, and replaces it by its index in the line.
    fn extract_stream(&mut self, line: &mut Line) -> Result<()> {
        let nth = line.streams.len();
        if nth == STREAMS_PER_RUN {
            return Err(self.input.invalid(format!("expected a run with {STREAMS_PER_RUN} streams")));
        }
        let (encoding, start) = (line.encoding().unwrap_or(Encoding::Text), self.input.column);
        self.input.consume(1);
        let bytes = self.input.decode_string(Decoder::new(encoding, &mut self.spill))?;
        line.cuts.push((line.text.len(), self.input.column - start - 1));
        line.text.push(b'0' + nth as u8);
        line.streams.push(Some(bytes));
        Ok(())
    }
}

/// The bytes of a recording, with the current position.
struct Input<R> {
    reader: BufReader<R>,
    line: usize,
    /// Number of bytes of the line that were read.
    column: usize,
}

impl<R: Read> Input<R> {
    /// Returns the buffered bytes, after reading more if there are none; empty at the end.
    fn fill(&mut self) -> Result<&[u8]> {
        self.reader.fill_buf().map_err(RecordingError::Read)
    }

    fn consume(&mut self, length: usize) {
        self.reader.consume(length);
        self.column += length;
    }

    /// Returns an error at the next byte.
    fn invalid(&self, message: impl Into<String>) -> RecordingError {
        RecordingError::Invalid { line: self.line, column: self.column + 1, message: message.into() }
    }

    /// Decodes a string after its opening quote.
    fn decode_string(&mut self, mut decoder: Decoder<'_>) -> Result<Bytes> {
        loop {
            let buffer = self.fill()?;
            let end = memchr2(b'"', b'\\', buffer);
            let run = &buffer[..end.unwrap_or(buffer.len())];
            let (length, at_end) = (run.len(), buffer.is_empty());
            let control = run.iter().position(|byte| *byte < b' ');
            let is_complete = end.is_some_and(|at| buffer[at] == b'"');
            let pushed = if control.is_none() { decoder.push(run) } else { Ok(()) };
            self.consume(control.unwrap_or(length));
            pushed.map_err(|error| self.locate(error))?;
            if at_end || control.is_some() {
                return Err(self.invalid("expected the rest of a string; the recording is damaged"));
            }
            if is_complete {
                let bytes = decoder.finish().map_err(|error| self.locate(error));
                self.consume(1);
                return bytes;
            }
            if end.is_some() {
                self.consume(1);
                let character = self.unescape()?;
                let pushed = decoder.push(character.encode_utf8(&mut [0; 4]).as_bytes());
                pushed.map_err(|error| self.locate(error))?;
            }
        }
    }

    /// Adds the current position to a decoding error.
    fn locate(&self, error: DecodeError) -> RecordingError {
        match error {
            DecodeError::Store(error) => RecordingError::Store(error),
            DecodeError::Invalid(message) => self.invalid(message),
        }
    }

    fn next_byte(&mut self) -> Result<Option<u8>> {
        let byte = self.fill()?.first().copied();
        self.consume(usize::from(byte.is_some()));
        Ok(byte)
    }

    /// Decodes an escape after its backslash.
    fn unescape(&mut self) -> Result<char> {
        Ok(match self.next_byte()? {
            Some(literal @ (b'"' | b'\\' | b'/')) => char::from(literal),
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => {
                let first = self.hex_unit()?;
                let is_high_surrogate = (0xD800..0xDC00).contains(&first);
                let second = match is_high_surrogate
                    && self.next_byte()? == Some(b'\\')
                    && self.next_byte()? == Some(b'u')
                {
                    true => Some(self.hex_unit()?),
                    false => None,
                };
                let mut characters = char::decode_utf16([first].into_iter().chain(second));
                match (characters.next(), characters.next()) {
                    (Some(Ok(character)), None) => character,
                    _ => return Err(self.invalid("expected both halves of a surrogate pair")),
                }
            }
            _ => return Err(self.invalid("expected an escape of JSON")),
        })
    }

    /// Reads a UTF-16 code unit of four hexadecimal digits.
    fn hex_unit(&mut self) -> Result<u16> {
        let mut unit = 0;
        for _ in 0..4 {
            let digit = self.next_byte()?.and_then(|byte| char::from(byte).to_digit(16));
            let digit = digit.ok_or_else(|| self.invalid("expected four hexadecimal digits"))?;
            unit = unit << 4 | digit as u16;
        }
        Ok(unit)
    }
}

enum DecodeError {
    Invalid(&'static str),
    Store(io::Error),
}

/// Decodes one stream from the characters of its string.
struct Decoder<'s> {
    encoding: Encoding,
    spill: &'s mut Spill,
    /// The characters that are not decoded yet.
    pending: Vec<u8>,
    /// The decoded bytes, unless they exceed [`MAX_IN_MEMORY`].
    memory: Vec<u8>,
    /// Number of decoded bytes in the file.
    stored: u64,
    hash: Box<Xxh3>,
    /// Whether padding has ended the base64.
    is_padded: bool,
}

impl<'s> Decoder<'s> {
    fn new(encoding: Encoding, spill: &'s mut Spill) -> Self {
        Self {
            encoding,
            spill,
            pending: Vec::new(),
            memory: Vec::new(),
            stored: 0,
            hash: Box::new(Xxh3::new()),
            is_padded: false,
        }
    }

    fn push(&mut self, characters: &[u8]) -> std::result::Result<(), DecodeError> {
        self.pending.extend_from_slice(characters);
        if self.pending.len() < BUFFER_SIZE { Ok(()) } else { self.decode(false) }
    }

    /// Decodes the pending characters, except an incomplete group at the end unless it `is_last`.
    fn decode(&mut self, is_last: bool) -> std::result::Result<(), DecodeError> {
        let complete = match self.encoding {
            Encoding::Text => match std::str::from_utf8(&self.pending) {
                Ok(text) => text.len(),
                Err(error) if error.error_len().is_none() && !is_last => error.valid_up_to(),
                Err(_) => return Err(DecodeError::Invalid("expected UTF-8")),
            },
            Encoding::Base64 if is_last => self.pending.len(),
            Encoding::Base64 => self.pending.len() / 4 * 4,
        };
        let rest = self.pending.split_off(complete);
        let characters = std::mem::replace(&mut self.pending, rest);
        match self.encoding {
            Encoding::Text => self.store(characters),
            Encoding::Base64 => {
                let decoded = STANDARD.decode(&characters).ok().filter(|_| !self.is_padded || complete == 0);
                self.is_padded |= characters.ends_with(b"=");
                self.store(decoded.ok_or(DecodeError::Invalid("expected base64"))?)
            }
        }
    }

    fn store(&mut self, bytes: Vec<u8>) -> std::result::Result<(), DecodeError> {
        if self.stored == 0 {
            self.memory.extend_from_slice(&bytes);
            if self.memory.len() <= MAX_IN_MEMORY {
                return Ok(());
            }
        }
        let bytes = if self.stored == 0 { std::mem::take(&mut self.memory) } else { bytes };
        self.hash.update(&bytes);
        self.spill.write(self.stored, &bytes).map_err(DecodeError::Store)?;
        self.stored += bytes.len() as u64;
        Ok(())
    }

    fn finish(mut self) -> std::result::Result<Bytes, DecodeError> {
        self.decode(true)?;
        match &self.spill.file {
            Some(file) if self.stored > 0 => {
                let (file, len, digest) = (Arc::clone(file), self.stored, self.hash.digest128());
                let start = self.spill.finish_stream(len, digest);
                Ok(Bytes::File { file, start, len, digest })
            }
            _ => Ok(self.memory.into()),
        }
    }
}

/// The large streams, consecutively in one unlinked file.
#[derive(Default)]
struct Spill {
    file: Option<Arc<File>>,
    /// Start of the next stream in the file.
    next_start: u64,
    /// Start of each stream, by its length and digest.
    starts: HashMap<(u64, u128), u64>,
}

impl Spill {
    /// Writes a part of the next stream, at an offset in that stream.
    fn write(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let file = match &self.file {
            Some(file) => file,
            None => self.file.insert(Arc::new(tempfile::tempfile()?)),
        };
        let mut file = &**file;
        file.seek(SeekFrom::Start(self.next_start + offset))?;
        file.write_all(bytes)
    }

    /// Ends a stream, and returns its start: that of an equal stream, which is not stored again, if there is one.
    fn finish_stream(&mut self, len: u64, digest: u128) -> u64 {
        let start = *self.starts.entry((len, digest)).or_insert(self.next_start);
        if start == self.next_start {
            self.next_start += len;
        }
        start
    }
}
