//! Takes secrets out of what was seen of a run, before anybody is told of it. What stands in their place has as many
//! bytes, so that all offsets stay what they are.

use super::needles::SHORTEST;
use super::spellings;
use crate::{Bytes, Captured, End, LeakPlace, Outcome};
use memchr::memchr2_iter;
use memchr::memmem::Finder;
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::FileExt as _;
use xxhash_rust::xxh3::Xxh3;

/// A word of fewer letters is a name, such as `production`, which may stand anywhere.
const LONGEST_WORD: usize = 12;
/// A name of a process that has so many bytes may be the beginning of a longer one.
const CUT_NAME: usize = 15;
/// So much of a file is looked at at a time, in bytes.
const PIECE: usize = 256 * 1024;

/// The secrets that nobody is to be told.
#[derive(Clone, Default)]
pub(super) struct Redaction {
    spellings: Vec<Spelling>,
}

/// A spelling without line breaks: what is printed in lines may be broken anywhere.
#[derive(Clone)]
struct Spelling {
    finder: Finder<'static>,
    /// It has digits only, but for points and dashes.
    is_number: bool,
}

impl Spelling {
    fn new(bytes: &[u8]) -> Self {
        let is_number = bytes.iter().all(|byte| b"0123456789.-".contains(byte));
        Self { finder: Finder::new(bytes).into_owned(), is_number }
    }

    fn bytes(&self) -> &[u8] {
        self.finder.needle()
    }

    /// What stands for a byte of it: a number stays one, so that JSON stays JSON.
    fn instead_of(&self, byte: u8) -> u8 {
        match byte {
            b'0'..=b'9' if self.is_number => b'9',
            other if self.is_number => other,
            _ => b'*',
        }
    }
}

/// A piece of what is looked at, as it was and as it is told.
#[derive(Default)]
struct Window {
    was: Vec<u8>,
    told: Vec<u8>,
    /// What it was, without line breaks.
    text: Vec<u8>,
    /// Where a line begins: in the text, and in the window.
    lines: Vec<(usize, usize)>,
}

impl Window {
    fn read_lines(&mut self) {
        self.text.clear();
        self.lines.clear();
        let mut from = 0;
        for to in memchr2_iter(b'\n', b'\r', &self.was).chain([self.was.len()]) {
            if to > from {
                self.lines.push((self.text.len(), from));
                self.text.extend_from_slice(&self.was[from..to]);
            }
            from = to + 1;
        }
    }

    /// The place in the window of a byte of the text; the end of the window for the end of the text.
    fn place(&self, nth: usize) -> usize {
        match self.lines.partition_point(|(of_text, _)| *of_text <= nth) {
            next if next > 0 && nth < self.text.len() => {
                let (of_text, of_window) = self.lines[next - 1];
                of_window + nth - of_text
            }
            _ => self.was.len(),
        }
    }

    /// Replaces these bytes of the text.
    fn replace(&mut self, bytes: Range<usize>, spelling: &Spelling) {
        for nth in bytes {
            let place = self.place(nth);
            self.told[place] = spelling.instead_of(self.text[nth]);
        }
    }
}

impl Redaction {
    /// Of these values, as far as they can be told from other text.
    pub fn of<'v>(values: impl IntoIterator<Item = &'v OsString>) -> Self {
        let values = values.into_iter().map(|value| value.as_bytes().trim_ascii());
        let is_word = |value: &[u8]| value.len() < LONGEST_WORD && value.iter().all(u8::is_ascii_alphabetic);
        let secret = values.filter(|value| value.len() >= SHORTEST && !is_word(value));
        let mut all: Vec<Vec<u8>> = secret.flat_map(spellings::all).map(without_breaks).collect();
        all.retain(|spelling| spelling.len() >= SHORTEST);
        all.sort();
        all.dedup();
        Self { spellings: all.iter().map(|spelling| Spelling::new(spelling)).collect() }
    }

    /// This and another one.
    pub fn and(&self, other: Self) -> Self {
        Self { spellings: self.spellings.iter().cloned().chain(other.spellings).collect() }
    }

    /// Whether there is nothing to be taken out.
    pub fn is_empty(&self) -> bool {
        self.spellings.is_empty()
    }

    fn longest(&self) -> usize {
        self.spellings.iter().map(|spelling| spelling.bytes().len()).max().unwrap_or(0)
    }

    /// Takes the secrets out of everything that an outcome tells.
    ///
    /// # Errors
    /// When what a run printed cannot be read or written.
    pub fn outcome(&self, outcome: &mut Outcome) -> io::Result<()> {
        let is_cut = matches!(outcome.end, End::TooMuch(_));
        self.captured(&mut outcome.stdout, is_cut)?;
        self.captured(&mut outcome.stderr, is_cut)?;
        self.bytes(&mut outcome.terminal, true);
        if let End::NotStarted(_, words) = &mut outcome.end {
            self.text(words);
        }
        for left in &mut outcome.left_behind {
            let is_cut = left.name.len() == CUT_NAME;
            self.bytes(&mut left.name, is_cut);
        }
        for trip in outcome.trips.iter_mut().flatten() {
            trip.args.iter_mut().chain([&mut trip.program]).for_each(|word| self.text(word));
        }
        if let Some(changes) = &mut outcome.changes {
            changes.list.iter_mut().for_each(|change| self.text(&mut change.path));
        }
        for leak in outcome.leaks.iter_mut().flatten() {
            if let LeakPlace::File(_, path, _) = &mut leak.place {
                self.text(path);
            }
        }
        if let Some(path) = outcome.lock.as_mut().and_then(|lock| lock.path.as_mut()) {
            self.text(path);
        }
        Ok(())
    }

    fn text(&self, text: &mut String) {
        let mut bytes = std::mem::take(text).into_bytes();
        self.bytes(&mut bytes, false);
        // A value that is no UTF-8 can be found within a character.
        *text = String::from_utf8_lossy(&bytes).into_owned();
    }

    fn bytes(&self, bytes: &mut Vec<u8>, is_cut: bool) {
        let mut window = Window { told: bytes.clone(), was: std::mem::take(bytes), ..Window::default() };
        self.search(&mut window);
        if is_cut {
            self.search_end(&mut window);
        }
        *bytes = window.told;
    }

    fn captured(&self, captured: &mut Captured, is_cut: bool) -> io::Result<()> {
        match &mut captured.bytes {
            Bytes::Memory(bytes) => {
                let mut told = bytes.to_vec();
                self.bytes(&mut told, is_cut);
                if told[..] != bytes[..] {
                    *bytes = told.into();
                }
            }
            // A capture of this process is all of its file.
            Bytes::File { file, len, digest, .. } => *digest = self.file(file, *len, is_cut)?,
        }
        Ok(())
    }

    /// Takes the secrets out of the first `len` bytes of a file, which has no name and no other reader; gives its digest.
    fn file(&self, file: &File, len: u64, is_cut: bool) -> io::Result<u128> {
        let longest = self.longest();
        let mut hash = Box::new(Xxh3::new());
        let mut window = Window::default();
        // Where the window begins, and where it ends.
        let (mut start, mut end) = (0, 0);
        loop {
            let more = usize::try_from(len - end).map_or(PIECE, |left| left.min(PIECE));
            let kept = window.was.len();
            window.was.resize(kept + more, 0);
            file.read_exact_at(&mut window.was[kept..], end)?;
            window.told.extend_from_slice(&window.was[kept..]);
            end += more as u64;
            self.search(&mut window);
            if is_cut && end == len {
                self.search_end(&mut window);
            }
            // What may be the beginning of a spelling stays. A great many line breaks are none.
            let gone = match end == len {
                true => window.was.len(),
                false => {
                    let kept = window.text.len().saturating_sub(longest.saturating_sub(1));
                    window.place(kept).max(window.was.len().saturating_sub(PIECE + longest))
                }
            };
            if window.told[..gone] != window.was[..gone] {
                file.write_all_at(&window.told[..gone], start)?;
            }
            hash.update(&window.told[..gone]);
            start += gone as u64;
            window.was.drain(..gone);
            window.told.drain(..gone);
            if end == len {
                return Ok(hash.digest128());
            }
        }
    }

    /// Replaces all spellings in the window.
    fn search(&self, window: &mut Window) {
        window.read_lines();
        for spelling in &self.spellings {
            let (mut from, mut done) = (0, 0);
            while let Some(at) = spelling.finder.find(&window.text[from..]) {
                let end = from + at + spelling.bytes().len();
                window.replace(done.max(from + at)..end, spelling);
                // It may begin anew within itself.
                (from, done) = (from + at + 1, end);
            }
        }
    }

    /// Replaces the beginning of a spelling that the window ends with.
    fn search_end(&self, window: &mut Window) {
        let text = &window.text;
        let begins = |from: &usize| {
            self.spellings.iter().find(|spelling| spelling.bytes().starts_with(&text[*from..]))
        };
        let last = (text.len() + 1).saturating_sub(SHORTEST);
        let first = text.len().saturating_sub(self.longest());
        let found = (first..last).find_map(|from| Some((from, begins(&from)?)));
        if let Some((from, spelling)) = found {
            window.replace(from..text.len(), spelling);
        }
    }
}

fn is_break(byte: u8) -> bool {
    matches!(byte, b'\n' | b'\r')
}

fn without_breaks(spelling: Vec<u8>) -> Vec<u8> {
    spelling.into_iter().filter(|byte| !is_break(*byte)).collect()
}
