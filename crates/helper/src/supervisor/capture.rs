//! Captures the bytes of a stream and their arrival times: short streams in memory, long ones in an unlinked file.

use crate::{Bytes, Captured, Chunk, Limit, RunEnd};
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::Duration;
use xxhash_rust::xxh3::Xxh3;

/// Maximum length of a stream that stays in memory, in bytes.
const MAX_IN_MEMORY: usize = 64 * 1024;
/// Number of bytes that are read at once from a file that the target wrote.
const READ_SIZE: usize = 256 * 1024;

/// The length in bytes at which the capture of a stream ended, because it exceeded the limit or could not be stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct OutputOverflow(pub u64);

impl From<OutputOverflow> for RunEnd {
    fn from(OutputOverflow(bytes): OutputOverflow) -> Self {
        Self::TooMuch(Limit::Output(bytes))
    }
}

/// A text that is searched for in a stream while the bytes arrive.
struct AwaitedText {
    text: Vec<u8>,
    /// The last bytes of the stream, fewer than the text has: a match may begin in them.
    tail: Vec<u8>,
    found: bool,
}

impl AwaitedText {
    fn search(&mut self, bytes: &[u8]) {
        self.tail.extend_from_slice(bytes);
        self.found |= self.tail.windows(self.text.len()).any(|part| part == self.text);
        self.tail.drain(..self.tail.len().saturating_sub(self.text.len() - 1));
    }
}

/// Captures the bytes of one stream as they arrive.
pub(super) struct CaptureBuffer {
    memory: Vec<u8>,
    spilled: Option<(File, Box<Xxh3>)>,
    len: u64,
    /// Maximum number of bytes that are captured.
    pub limit: u64,
    is_discarding: bool,
    /// The error because of which bytes could not be stored.
    error: Option<io::Error>,
    chunks: Vec<Chunk>,
    folder: PathBuf,
    awaited: Option<AwaitedText>,
}

impl CaptureBuffer {
    /// Creates a buffer for at most `limit` bytes. If they do not fit into memory, they are stored in a file in
    /// `folder`.
    pub fn new(folder: &Path, limit: u64) -> Self {
        let folder = folder.to_path_buf();
        Self {
            memory: Vec::new(),
            spilled: None,
            len: 0,
            limit,
            is_discarding: false,
            error: None,
            chunks: Vec::new(),
            folder,
            awaited: None,
        }
    }

    /// Searches all following bytes for `text`, which must not be empty. Bytes past the limit are searched as well.
    pub fn await_text(&mut self, text: &str) {
        self.awaited = Some(AwaitedText { text: text.into(), tail: Vec::new(), found: false });
    }

    pub fn has_received_awaited_text(&self) -> bool {
        self.awaited.as_ref().is_some_and(|awaited| awaited.found)
    }

    /// Returns the number of bytes captured so far.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Appends bytes that arrived at `at`, the time since the start of the run. After the first error, further bytes
    /// are silently discarded.
    pub fn push(&mut self, bytes: &[u8], at: Duration) -> Result<(), OutputOverflow> {
        if let Some(awaited) = &mut self.awaited {
            awaited.search(bytes);
        }
        if self.is_discarding {
            return Ok(());
        }
        let room = usize::try_from(self.limit - self.len).unwrap_or(usize::MAX);
        let (fitting, fits) = (&bytes[..bytes.len().min(room)], bytes.len() <= room);
        let stored = self.store(fitting);
        if stored.is_ok() && !fitting.is_empty() {
            self.len += fitting.len() as u64;
            self.add_chunk(at);
        }
        if stored.is_ok() && fits {
            return Ok(());
        }
        self.is_discarding = true;
        self.error = stored.err();
        Err(OutputOverflow(self.len))
    }

    fn store(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.spilled.is_none() {
            if self.memory.len() + bytes.len() <= MAX_IN_MEMORY {
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

    fn add_chunk(&mut self, at: Duration) {
        let chunk = Chunk { end: self.len, at };
        if self.chunks.len() == Captured::MAX_CHUNKS {
            self.chunks.pop();
        }
        self.chunks.push(chunk);
    }

    /// Returns the captured stream.
    ///
    /// # Errors
    /// If bytes below the limit could not be stored.
    pub fn finish(self) -> io::Result<Captured> {
        if let Some(error) = self.error {
            return Err(error);
        }
        let bytes = match self.spilled {
            None => self.memory.into(),
            Some((file, hash)) => bytes_in_file(file, self.len, &hash),
        };
        Ok(Captured { bytes, chunks: self.chunks })
    }
}

fn bytes_in_file(file: File, len: u64, hash: &Xxh3) -> Bytes {
    Bytes::File { file: file.into(), start: 0, len, digest: hash.digest128() }
}

/// Captures the first `limit` bytes of a file to which the target itself wrote, and truncates the file to that length.
/// Records `at` as the time of arrival.
pub(super) async fn capture_file(file: File, limit: u64, at: Duration) -> io::Result<Captured> {
    let written = file.metadata()?.len();
    let len = written.min(limit);
    if written > limit {
        file.set_len(limit)?;
    }
    let chunks = if len == 0 { Vec::new() } else { vec![Chunk { end: len, at }] };
    let mut buffer = vec![0; READ_SIZE.min(usize::try_from(len).unwrap_or(READ_SIZE))];
    let mut memory = Vec::new();
    let mut hash = Box::new(Xxh3::new());
    let mut done = 0;
    while done < len {
        let n = usize::try_from(len - done).unwrap_or(READ_SIZE).min(buffer.len());
        file.read_exact_at(&mut buffer[..n], done)?;
        done += n as u64;
        if len <= MAX_IN_MEMORY as u64 {
            memory.extend_from_slice(&buffer[..n]);
        }
        hash.update(&buffer[..n]);
        tokio::task::yield_now().await;
    }
    let bytes = match len <= MAX_IN_MEMORY as u64 {
        true => memory.into(),
        false => bytes_in_file(file, len, &hash),
    };
    Ok(Captured { bytes, chunks })
}
