//! Keeps what a stream gave: small in memory, large in an unlinked file, with the times of arrival.

use crate::{Bytes, Captured, Chunk, End, Limit};
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::Duration;
use xxhash_rust::xxh3::Xxh3;

/// Streams up to this length stay in memory.
const MEMORY: usize = 64 * 1024;
/// How much of a capture file is read at a time.
const PIECE: usize = 256 * 1024;

/// The stream may not grow any more: past the limit in bytes, or nothing more can be stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TooMuch(pub u64);

impl From<TooMuch> for End {
    fn from(TooMuch(bytes): TooMuch) -> Self {
        Self::TooMuch(Limit::Output(bytes))
    }
}

/// A text that is waited for in a stream.
struct Awaited {
    text: Vec<u8>,
    /// The last bytes of the stream, fewer than the text has.
    last: Vec<u8>,
    seen: bool,
}

impl Awaited {
    fn look(&mut self, bytes: &[u8]) {
        self.last.extend_from_slice(bytes);
        self.seen |= self.last.windows(self.text.len()).any(|part| part == self.text);
        self.last.drain(..self.last.len().saturating_sub(self.text.len() - 1));
    }
}

/// Takes the bytes of one stream as they arrive.
pub(super) struct Sink {
    memory: Vec<u8>,
    spilled: Option<(File, Box<Xxh3>)>,
    len: u64,
    /// The most that is taken, in bytes.
    pub limit: u64,
    full: bool,
    /// Why nothing more could be stored.
    failed: Option<io::Error>,
    chunks: Vec<Chunk>,
    folder: PathBuf,
    awaited: Option<Awaited>,
}

impl Sink {
    /// A sink that takes `limit` bytes and spills into `folder`.
    pub fn new(folder: &Path, limit: u64) -> Self {
        let folder = folder.to_path_buf();
        Self {
            memory: Vec::new(),
            spilled: None,
            len: 0,
            limit,
            full: false,
            failed: None,
            chunks: Vec::new(),
            folder,
            awaited: None,
        }
    }

    /// Looks for a text, which is not empty, in all that is to come, also past the limit.
    pub fn await_text(&mut self, text: &str) {
        self.awaited = Some(Awaited { text: text.into(), last: Vec::new(), seen: false });
    }

    /// Whether the text was seen.
    pub fn has_seen(&self) -> bool {
        self.awaited.as_ref().is_some_and(|awaited| awaited.seen)
    }

    /// Number of bytes so far.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Takes more bytes. After the first refusal everything is thrown away without a word.
    pub fn push(&mut self, bytes: &[u8], at: Duration) -> Result<(), TooMuch> {
        if let Some(awaited) = &mut self.awaited {
            awaited.look(bytes);
        }
        if self.full {
            return Ok(());
        }
        let room = usize::try_from(self.limit - self.len).unwrap_or(usize::MAX);
        let (fitting, fits) = (&bytes[..bytes.len().min(room)], bytes.len() <= room);
        let stored = self.store(fitting);
        if stored.is_ok() && !fitting.is_empty() {
            self.len += fitting.len() as u64;
            self.note(at);
        }
        if stored.is_ok() && fits {
            return Ok(());
        }
        self.full = true;
        self.failed = stored.err();
        Err(TooMuch(self.len))
    }

    fn store(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.spilled.is_none() {
            if self.memory.len() + bytes.len() <= MEMORY {
                self.memory.extend_from_slice(bytes);
                return Ok(());
            }
            let mut file = tempfile::tempfile_in(&self.folder)?;
            file.write_all(&self.memory)?;
            let mut hash = Box::new(Xxh3::new());
            hash.update(&self.memory);
            self.memory = Vec::new();
            self.spilled = Some((file, hash));
        }
        if let Some((file, hash)) = &mut self.spilled {
            file.write_all(bytes)?;
            hash.update(bytes);
        }
        Ok(())
    }

    fn note(&mut self, at: Duration) {
        let chunk = Chunk { end: self.len, at };
        if self.chunks.len() == Captured::MAX_CHUNKS {
            self.chunks.pop();
        }
        self.chunks.push(chunk);
    }

    /// What arrived.
    ///
    /// # Errors
    /// When not all of it up to the limit could be stored.
    pub fn finish(self) -> io::Result<Captured> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        let bytes = match self.spilled {
            None => self.memory.into(),
            Some((file, hash)) => of_file(file, self.len, &hash),
        };
        Ok(Captured { bytes, chunks: self.chunks })
    }
}

fn of_file(file: File, len: u64, hash: &Xxh3) -> Bytes {
    Bytes::File { file: file.into(), start: 0, len, digest: hash.digest128() }
}

/// The contents of a file that a target wrote itself, up to `limit`.
pub(super) async fn adopt(file: File, limit: u64, at: Duration) -> io::Result<Captured> {
    let written = file.metadata()?.len();
    let len = written.min(limit);
    if written > limit {
        file.set_len(limit)?;
    }
    let chunks = if len == 0 { Vec::new() } else { vec![Chunk { end: len, at }] };
    let mut piece = vec![0; PIECE.min(usize::try_from(len).unwrap_or(PIECE))];
    let mut memory = Vec::new();
    let mut hash = Box::new(Xxh3::new());
    let mut done = 0;
    while done < len {
        let n = usize::try_from(len - done).unwrap_or(PIECE).min(piece.len());
        file.read_exact_at(&mut piece[..n], done)?;
        done += n as u64;
        if len <= MEMORY as u64 {
            memory.extend_from_slice(&piece[..n]);
        }
        hash.update(&piece[..n]);
        tokio::task::yield_now().await;
    }
    let bytes = match len <= MEMORY as u64 {
        true => memory.into(),
        false => of_file(file, len, &hash),
    };
    Ok(Captured { bytes, chunks })
}
