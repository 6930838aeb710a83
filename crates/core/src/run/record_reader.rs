//! Reads a recording line by line. Its streams are taken out while a line is read: small ones stay in memory, all large
//! ones are in one unlinked temporary file. A recording may come from anybody.

use super::recorded::{RecordedStream, StreamPlace};
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

/// Streams up to this length stay in memory.
const MEMORY: usize = 4 * 1024;
/// How much of a stream is decoded at a time.
const PIECE: usize = 64 * 1024;
/// All lines without their streams together are at most this long.
const HELD: usize = 64 << 20;
/// A run has so many streams.
const STREAMS: usize = 2;

/// Why a recording cannot be read.
#[derive(Debug)]
pub enum RecordFault {
    /// Its file cannot be read.
    Read(io::Error),
    /// Its large streams cannot be stored.
    Store(io::Error),
    /// It is wrong at a place, counted from 1, and what was expected there.
    Wrong {
        /// The line.
        line: usize,
        /// The byte in the line.
        column: usize,
        /// What is wrong, or was expected.
        message: String,
    },
}

type Result<T> = std::result::Result<T, RecordFault>;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Encoding {
    Text,
    Base64,
}

/// A stream as a line has it once its strings are taken out: by their number in it.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Found {
    Text(usize),
    Base64(usize),
    SameAs(StreamPlace),
}

/// Reads the lines of a recording.
pub struct RecordReader<R> {
    input: Input<R>,
    spill: Spill,
    /// The bytes of all lines so far, without the streams.
    held: usize,
    streams: HashMap<StreamPlace, Bytes>,
}

/// A line without its streams.
#[derive(Default)]
struct Line {
    text: Vec<u8>,
    taken: Vec<Option<Bytes>>,
    /// Where they were taken out of the text, and how many more bytes they had than what is there now.
    cuts: Vec<(usize, usize)>,
}

impl Line {
    /// How the string that begins here is encoded, if it is a stream.
    fn encoding(&self) -> Option<Encoding> {
        let key = self.text.trim_ascii_end().strip_suffix(b":")?.trim_ascii_end();
        let is = |name: &[u8]| key.ends_with(name);
        match () {
            () if is(b"\"text\"") => Some(Encoding::Text),
            () if is(b"\"base64\"") => Some(Encoding::Base64),
            () => None,
        }
    }

    /// The column of the recording that a column of the text comes from.
    fn column(&self, column: usize) -> usize {
        let before = self.cuts.iter().take_while(|(at, _)| *at < column);
        column + before.map(|(_, longer)| longer).sum::<usize>()
    }
}

impl<R: Read> RecordReader<R> {
    /// Reads from here on.
    pub fn new(input: R) -> Self {
        let input = Input { reader: BufReader::with_capacity(PIECE, input), line: 0, column: 0 };
        Self { input, spill: Spill::default(), held: 0, streams: HashMap::new() }
    }

    /// The line that was read last.
    pub const fn line(&self) -> usize {
        self.input.line
    }

    /// The first line; empty where there is none.
    pub fn head(&mut self) -> Result<Vec<u8>> {
        self.input.line += 1;
        let mut text = Vec::new();
        loop {
            let buffer = self.input.fill()?;
            let (length, end) = (buffer.len(), memchr(b'\n', buffer));
            self.keep(&mut text, end.unwrap_or(length))?;
            if end.is_some() || length == 0 {
                self.input.consume(usize::from(end.is_some()));
                return Ok(text);
            }
        }
    }

    /// The next run; none at the end.
    pub fn run(&mut self) -> Result<Option<Observation>> {
        if self.input.fill()?.is_empty() {
            return Ok(None);
        }
        self.input.line += 1;
        self.input.column = 0;
        let mut line = self.read_line()?;
        let number = self.line();
        let wrong =
            |column, message: &str| RecordFault::Wrong { line: number, column, message: message.to_owned() };
        const EXPECTED: &str = "expected a run in the format of this version";
        let seen: Observation<RecordedStream<Found>> =
            serde_json::from_slice(&line.text).map_err(|error| {
                let torn = "expected one JSON object; the recording is damaged";
                wrong(line.column(error.column()), if error.is_data() { EXPECTED } else { torn })
            })?;
        let seen = seen.map_streams(|stream, RecordedStream { bytes, chunks }| {
            let bytes = match bytes {
                // A number that stands there is no string, whichever it is.
                Found::Text(nth) | Found::Base64(nth) => {
                    let taken = line.taken.get_mut(nth).and_then(Option::take);
                    taken.ok_or_else(|| wrong(1, &format!("expected {} as a string", stream.name())))?
                }
                Found::SameAs(place) => self.streams.get(&place).cloned().ok_or_else(|| {
                    let other = format!("{} of line {}", place.stream.name(), place.line);
                    wrong(1, &format!("{} is that of {other}; expected a stream before it", stream.name()))
                })?,
            };
            self.streams.insert(StreamPlace { line: number, stream }, bytes.clone());
            Ok(Captured { bytes, chunks })
        })?;
        match line.taken.iter().any(Option::is_some) {
            true => Err(wrong(1, EXPECTED)),
            false => Ok(Some(seen)),
        }
    }

    /// Reads to the end of the line, with a number in the place of each stream.
    fn read_line(&mut self) -> Result<Line> {
        let (mut line, mut in_string) = (Line::default(), false);
        loop {
            let buffer = self.input.fill()?;
            let special = match in_string {
                true => memchr3(b'\n', b'"', b'\\', buffer),
                false => memchr2(b'\n', b'"', buffer),
            };
            let (length, found) = (buffer.len(), special.map(|at| buffer[at]));
            self.keep(&mut line.text, special.unwrap_or(length))?;
            match found {
                None if length > 0 => {}
                None => return Ok(line),
                Some(b'\n') => {
                    self.input.consume(1);
                    return Ok(line);
                }
                Some(b'"') if !in_string && line.encoding().is_some() => self.take_stream(&mut line)?,
                Some(b'"') => {
                    in_string = !in_string;
                    self.keep(&mut line.text, 1)?;
                }
                // A backslash, and what it escapes.
                Some(_) => {
                    self.keep(&mut line.text, 1)?;
                    if self.input.fill()?.first().is_some_and(|byte| *byte != b'\n') {
                        self.keep(&mut line.text, 1)?;
                    }
                }
            }
        }
    }

    /// Moves bytes of the input to what is held.
    fn keep(&mut self, text: &mut Vec<u8>, length: usize) -> Result<()> {
        self.held += length;
        if self.held > HELD {
            let message =
                format!("the recording holds more than {HELD} bytes besides the output of the runs");
            return Err(self.input.wrong(message));
        }
        text.extend_from_slice(&self.input.fill()?[..length]);
        self.input.consume(length);
        Ok(())
    }

    /// Takes the string that begins here out of the line.
    fn take_stream(&mut self, line: &mut Line) -> Result<()> {
        let nth = line.taken.len();
        if nth == STREAMS {
            return Err(self.input.wrong(format!("expected a run with {STREAMS} streams")));
        }
        let (encoding, from) = (line.encoding().unwrap_or(Encoding::Text), self.input.column);
        self.input.consume(1);
        let bytes = self.input.string(Decoder::new(encoding, &mut self.spill))?;
        line.cuts.push((line.text.len(), self.input.column - from - 1));
        line.text.push(b'0' + nth as u8);
        line.taken.push(Some(bytes));
        Ok(())
    }
}

/// The bytes of a recording, with the place that is read.
struct Input<R> {
    reader: BufReader<R>,
    line: usize,
    /// How many bytes of the line were read.
    column: usize,
}

impl<R: Read> Input<R> {
    /// What can be read now; empty at the end.
    fn fill(&mut self) -> Result<&[u8]> {
        self.reader.fill_buf().map_err(RecordFault::Read)
    }

    fn consume(&mut self, length: usize) {
        self.reader.consume(length);
        self.column += length;
    }

    /// A fault at the byte that is read next.
    fn wrong(&self, message: impl Into<String>) -> RecordFault {
        RecordFault::Wrong { line: self.line, column: self.column + 1, message: message.into() }
    }

    /// Decodes a string behind its opening quote.
    fn string(&mut self, mut to: Decoder<'_>) -> Result<Bytes> {
        loop {
            let buffer = self.fill()?;
            let end = memchr2(b'"', b'\\', buffer);
            let run = &buffer[..end.unwrap_or(buffer.len())];
            let (length, at_end) = (run.len(), buffer.is_empty());
            let control = run.iter().position(|byte| *byte < b' ');
            let quoted = end.is_some_and(|at| buffer[at] == b'"');
            let put = if control.is_none() { to.put(run) } else { Ok(()) };
            self.consume(control.unwrap_or(length));
            put.map_err(|fault| self.fault(fault))?;
            if at_end || control.is_some() {
                return Err(self.wrong("expected the rest of a string; the recording is damaged"));
            }
            if quoted {
                let done = to.finish().map_err(|fault| self.fault(fault));
                self.consume(1);
                return done;
            }
            if end.is_some() {
                self.consume(1);
                let character = self.escaped()?;
                let put = to.put(character.encode_utf8(&mut [0; 4]).as_bytes());
                put.map_err(|fault| self.fault(fault))?;
            }
        }
    }

    fn fault(&self, fault: Undecodable) -> RecordFault {
        match fault {
            Undecodable::Store(error) => RecordFault::Store(error),
            Undecodable::Wrong(message) => self.wrong(message),
        }
    }

    fn byte(&mut self) -> Result<Option<u8>> {
        let byte = self.fill()?.first().copied();
        self.consume(usize::from(byte.is_some()));
        Ok(byte)
    }

    /// The character that is escaped, behind the backslash.
    fn escaped(&mut self) -> Result<char> {
        Ok(match self.byte()? {
            Some(plain @ (b'"' | b'\\' | b'/')) => char::from(plain),
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => {
                let first = self.unit()?;
                let high = (0xD800..0xDC00).contains(&first);
                let second = match high && self.byte()? == Some(b'\\') && self.byte()? == Some(b'u') {
                    true => Some(self.unit()?),
                    false => None,
                };
                let mut characters = char::decode_utf16([first].into_iter().chain(second));
                match (characters.next(), characters.next()) {
                    (Some(Ok(character)), None) => character,
                    _ => return Err(self.wrong("expected both halves of a surrogate pair")),
                }
            }
            _ => return Err(self.wrong("expected an escape of JSON")),
        })
    }

    /// Four hexadecimal digits.
    fn unit(&mut self) -> Result<u16> {
        let mut unit = 0;
        for _ in 0..4 {
            let digit = self.byte()?.and_then(|byte| char::from(byte).to_digit(16));
            let digit = digit.ok_or_else(|| self.wrong("expected four hexadecimal digits"))?;
            unit = unit << 4 | digit as u16;
        }
        Ok(unit)
    }
}

enum Undecodable {
    Wrong(&'static str),
    Store(io::Error),
}

/// Decodes one stream from the characters of its string.
struct Decoder<'s> {
    encoding: Encoding,
    spill: &'s mut Spill,
    /// Characters that are not decoded yet.
    waiting: Vec<u8>,
    /// The bytes, until they are too many.
    memory: Vec<u8>,
    /// How many are in the file.
    stored: u64,
    hash: Box<Xxh3>,
    /// Padding ended the base64.
    padded: bool,
}

impl<'s> Decoder<'s> {
    fn new(encoding: Encoding, spill: &'s mut Spill) -> Self {
        Self {
            encoding,
            spill,
            waiting: Vec::new(),
            memory: Vec::new(),
            stored: 0,
            hash: Box::new(Xxh3::new()),
            padded: false,
        }
    }

    fn put(&mut self, characters: &[u8]) -> std::result::Result<(), Undecodable> {
        self.waiting.extend_from_slice(characters);
        if self.waiting.len() < PIECE { Ok(()) } else { self.decode(false) }
    }

    /// Decodes what waits, as far as it is whole.
    fn decode(&mut self, last: bool) -> std::result::Result<(), Undecodable> {
        let whole = match self.encoding {
            Encoding::Text => match std::str::from_utf8(&self.waiting) {
                Ok(text) => text.len(),
                Err(error) if error.error_len().is_none() && !last => error.valid_up_to(),
                Err(_) => return Err(Undecodable::Wrong("expected UTF-8")),
            },
            Encoding::Base64 if last => self.waiting.len(),
            Encoding::Base64 => self.waiting.len() / 4 * 4,
        };
        let rest = self.waiting.split_off(whole);
        let characters = std::mem::replace(&mut self.waiting, rest);
        match self.encoding {
            Encoding::Text => self.store(characters),
            Encoding::Base64 => {
                let decoded = STANDARD.decode(&characters).ok().filter(|_| !self.padded || whole == 0);
                self.padded |= characters.ends_with(b"=");
                self.store(decoded.ok_or(Undecodable::Wrong("expected base64"))?)
            }
        }
    }

    fn store(&mut self, bytes: Vec<u8>) -> std::result::Result<(), Undecodable> {
        if self.stored == 0 {
            self.memory.extend_from_slice(&bytes);
            if self.memory.len() <= MEMORY {
                return Ok(());
            }
        }
        let bytes = if self.stored == 0 { std::mem::take(&mut self.memory) } else { bytes };
        self.hash.update(&bytes);
        self.spill.write(self.stored, &bytes).map_err(Undecodable::Store)?;
        self.stored += bytes.len() as u64;
        Ok(())
    }

    fn finish(mut self) -> std::result::Result<Bytes, Undecodable> {
        self.decode(true)?;
        match &self.spill.file {
            Some(file) if self.stored > 0 => {
                let (file, len, digest) = (Arc::clone(file), self.stored, self.hash.digest128());
                let start = self.spill.end(len, digest);
                Ok(Bytes::File { file, start, len, digest })
            }
            _ => Ok(self.memory.into()),
        }
    }
}

/// The large streams, one after the other in one unlinked file.
#[derive(Default)]
struct Spill {
    file: Option<Arc<File>>,
    /// Where the next one begins.
    next: u64,
    /// Where one of this length and digest begins.
    known: HashMap<(u64, u128), u64>,
}

impl Spill {
    /// Writes a part of the stream that comes next.
    fn write(&mut self, at: u64, bytes: &[u8]) -> io::Result<()> {
        let file = match &self.file {
            Some(file) => file,
            None => self.file.insert(Arc::new(tempfile::tempfile()?)),
        };
        let mut file = &**file;
        file.seek(SeekFrom::Start(self.next + at))?;
        file.write_all(bytes)
    }

    /// Ends a stream: where it begins. One that is there already is not kept again.
    fn end(&mut self, len: u64, digest: u128) -> u64 {
        let start = *self.known.entry((len, digest)).or_insert(self.next);
        if start == self.next {
            self.next += len;
        }
        start
    }
}
