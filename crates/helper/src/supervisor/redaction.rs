//! Removes secrets from an outcome before it leaves the helper. A replacement has the same length, so that all offsets
//! stay valid.

use super::encodings;
use super::secret_patterns::MIN_SECRET_LEN;
use crate::{Bytes, Captured, LeakPlace, Outcome, RunEnd};
use memchr::memchr2_iter;
use memchr::memmem::Finder;
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::FileExt as _;
use xxhash_rust::xxh3::Xxh3;

/// Minimum length in bytes of a redacted secret that consists only of letters. A shorter one may be a name such as
/// `production`, which may appear anywhere.
const MIN_WORD_LEN: usize = 12;
/// Length at which the kernel truncates the name of a process, in bytes.
const TRUNCATED_NAME_LEN: usize = 15;
/// Number of bytes that are read at once from a file with captured output.
const READ_SIZE: usize = 256 * 1024;

/// Removes secrets from outcomes.
#[derive(Clone, Default)]
pub(super) struct Redaction {
    patterns: Vec<Pattern>,
}

/// An encoded secret that is searched for. It contains no line breaks, since printed text may be wrapped anywhere.
#[derive(Clone)]
struct Pattern {
    finder: Finder<'static>,
    /// Whether the secret consists of digits, points and dashes.
    is_number: bool,
}

impl Pattern {
    fn new(bytes: &[u8]) -> Self {
        let is_number = bytes.iter().all(|byte| b"0123456789.-".contains(byte));
        Self { finder: Finder::new(bytes).into_owned(), is_number }
    }

    fn bytes(&self) -> &[u8] {
        self.finder.needle()
    }

    /// Returns the byte that replaces `byte` of a found secret: `*`, or `9` for a digit of a number. A number stays a
    /// number, so that JSON stays valid.
    fn replacement(&self, byte: u8) -> u8 {
        match byte {
            b'0'..=b'9' if self.is_number => b'9',
            other if self.is_number => other,
            _ => b'*',
        }
    }
}

/// A part of the searched bytes, in its original form and its redacted form.
#[derive(Default)]
struct Window {
    original: Vec<u8>,
    redacted: Vec<u8>,
    /// The original without line breaks, in which secrets are searched.
    text: Vec<u8>,
    /// Start of each line as two offsets: in `text`, and in `original`.
    line_starts: Vec<(usize, usize)>,
}

impl Window {
    fn join_lines(&mut self) {
        self.text.clear();
        self.line_starts.clear();
        let mut from = 0;
        for to in memchr2_iter(b'\n', b'\r', &self.original).chain([self.original.len()]) {
            if to > from {
                self.line_starts.push((self.text.len(), from));
                self.text.extend_from_slice(&self.original[from..to]);
            }
            from = to + 1;
        }
    }

    /// Converts an offset in `text` to an offset in `original`. The end of the text corresponds to the end of the
    /// original.
    fn index_in_window(&self, nth: usize) -> usize {
        match self.line_starts.partition_point(|(of_text, _)| *of_text <= nth) {
            next if next > 0 && nth < self.text.len() => {
                let (of_text, of_window) = self.line_starts[next - 1];
                of_window + nth - of_text
            }
            _ => self.original.len(),
        }
    }

    /// Redacts the bytes in this range of `text`.
    fn replace(&mut self, bytes: Range<usize>, pattern: &Pattern) {
        for nth in bytes {
            let index = self.index_in_window(nth);
            self.redacted[index] = pattern.replacement(self.text[nth]);
        }
    }
}

impl Redaction {
    /// Creates a redaction of these secrets. Omits those that are too short or too common to redact.
    pub fn new<'v>(values: impl IntoIterator<Item = &'v OsString>) -> Self {
        let values = values.into_iter().map(|value| value.as_bytes().trim_ascii());
        let is_word = |value: &[u8]| value.len() < MIN_WORD_LEN && value.iter().all(u8::is_ascii_alphabetic);
        let secret = values.filter(|value| value.len() >= MIN_SECRET_LEN && !is_word(value));
        let mut all: Vec<Vec<u8>> =
            secret.flat_map(encodings::all_encodings).map(without_line_breaks).collect();
        all.retain(|pattern| pattern.len() >= MIN_SECRET_LEN);
        all.sort();
        all.dedup();
        Self { patterns: all.iter().map(|pattern| Pattern::new(pattern)).collect() }
    }

    /// Returns a redaction of the secrets of both redactions.
    pub fn union(&self, other: Self) -> Self {
        Self { patterns: self.patterns.iter().cloned().chain(other.patterns).collect() }
    }

    pub fn is_empty(&self) -> bool {
        self.patterns.is_empty()
    }

    fn max_pattern_len(&self) -> usize {
        self.patterns.iter().map(|pattern| pattern.bytes().len()).max().unwrap_or(0)
    }

    /// Redacts every text of an outcome: streams, names, paths and messages.
    ///
    /// # Errors
    /// If a captured stream cannot be read or written.
    pub fn redact(&self, outcome: &mut Outcome) -> io::Result<()> {
        let is_truncated = matches!(outcome.end, RunEnd::TooMuch(_));
        self.redact_captured(&mut outcome.stdout, is_truncated)?;
        self.redact_captured(&mut outcome.stderr, is_truncated)?;
        self.redact_bytes(&mut outcome.terminal, true);
        if let RunEnd::NotStarted(_, message) = &mut outcome.end {
            self.redact_text(message);
        }
        for left in &mut outcome.left_behind {
            let is_truncated = left.name.len() == TRUNCATED_NAME_LEN;
            self.redact_bytes(&mut left.name, is_truncated);
        }
        for trip in outcome.trips.iter_mut().flatten() {
            trip.args.iter_mut().chain([&mut trip.program]).for_each(|word| self.redact_text(word));
        }
        if let Some(changes) = &mut outcome.changes {
            changes.list.iter_mut().for_each(|change| self.redact_text(&mut change.path));
        }
        for leak in outcome.leaks.iter_mut().flatten() {
            if let LeakPlace::File(_, path, _) = &mut leak.place {
                self.redact_text(path);
            }
        }
        if let Some(path) = outcome.lock.as_mut().and_then(|lock| lock.path.as_mut()) {
            self.redact_text(path);
        }
        Ok(())
    }

    fn redact_text(&self, text: &mut String) {
        let mut bytes = std::mem::take(text).into_bytes();
        self.redact_bytes(&mut bytes, false);
        // A value that is not UTF-8 may match in the middle of a character.
        *text = String::from_utf8_lossy(&bytes).into_owned();
    }

    fn redact_bytes(&self, bytes: &mut Vec<u8>, is_truncated: bool) {
        let mut window =
            Window { redacted: bytes.clone(), original: std::mem::take(bytes), ..Window::default() };
        self.search(&mut window);
        if is_truncated {
            self.search_truncated(&mut window);
        }
        *bytes = window.redacted;
    }

    fn redact_captured(&self, captured: &mut Captured, is_truncated: bool) -> io::Result<()> {
        match &mut captured.bytes {
            Bytes::Memory(bytes) => {
                let mut redacted = bytes.to_vec();
                self.redact_bytes(&mut redacted, is_truncated);
                if redacted[..] != bytes[..] {
                    *bytes = redacted.into();
                }
            }
            // A capture in this process occupies its whole file.
            Bytes::File { file, len, digest, .. } => *digest = self.redact_file(file, *len, is_truncated)?,
        }
        Ok(())
    }

    /// Redacts the first `len` bytes of a file, which has no name and no other reader. Returns the new digest of these
    /// bytes.
    fn redact_file(&self, file: &File, len: u64, is_truncated: bool) -> io::Result<u128> {
        let max_pattern_len = self.max_pattern_len();
        let mut hash = Box::new(Xxh3::new());
        let mut window = Window::default();
        // Offsets of the window in the file.
        let (mut start, mut end) = (0, 0);
        loop {
            let more = usize::try_from(len - end).map_or(READ_SIZE, |left| left.min(READ_SIZE));
            let kept = window.original.len();
            window.original.resize(kept + more, 0);
            file.read_exact_at(&mut window.original[kept..], end)?;
            window.redacted.extend_from_slice(&window.original[kept..]);
            end += more as u64;
            self.search(&mut window);
            if is_truncated && end == len {
                self.search_truncated(&mut window);
            }
            // Keep the possible beginning of a pattern, unless it is padded with a great many line breaks.
            let finished = match end == len {
                true => window.original.len(),
                false => {
                    let kept = window.text.len().saturating_sub(max_pattern_len.saturating_sub(1));
                    window
                        .index_in_window(kept)
                        .max(window.original.len().saturating_sub(READ_SIZE + max_pattern_len))
                }
            };
            if window.redacted[..finished] != window.original[..finished] {
                file.write_all_at(&window.redacted[..finished], start)?;
            }
            hash.update(&window.redacted[..finished]);
            start += finished as u64;
            window.original.drain(..finished);
            window.redacted.drain(..finished);
            if end == len {
                return Ok(hash.digest128());
            }
        }
    }

    /// Redacts all secrets in the window.
    fn search(&self, window: &mut Window) {
        window.join_lines();
        for pattern in &self.patterns {
            let (mut from, mut done) = (0, 0);
            while let Some(index) = pattern.finder.find(&window.text[from..]) {
                let end = from + index + pattern.bytes().len();
                window.replace(done.max(from + index)..end, pattern);
                // Occurrences may overlap.
                (from, done) = (from + index + 1, end);
            }
        }
    }

    /// Redacts the beginning of a secret at the end of the window, where the output was truncated.
    fn search_truncated(&self, window: &mut Window) {
        let text = &window.text;
        let begins =
            |from: &usize| self.patterns.iter().find(|pattern| pattern.bytes().starts_with(&text[*from..]));
        let last = (text.len() + 1).saturating_sub(MIN_SECRET_LEN);
        let first = text.len().saturating_sub(self.max_pattern_len());
        let found = (first..last).find_map(|from| Some((from, begins(&from)?)));
        if let Some((from, pattern)) = found {
            window.replace(from..text.len(), pattern);
        }
    }
}

fn is_line_break(byte: u8) -> bool {
    matches!(byte, b'\n' | b'\r')
}

fn without_line_breaks(pattern: Vec<u8>) -> Vec<u8> {
    pattern.into_iter().filter(|byte| !is_line_break(*byte)).collect()
}
