//! Searches the output and the changed files of a run for a secret, in common encodings.

use super::encodings;
use super::folder::RunFolder;
use crate::{Bytes, Captured, Changes, FileKind, Leak, LeakEncoding, LeakPlace};
use std::io::{self, Read};
use std::path::Path;

/// Minimum length of a secret that is searched for, in bytes: a shorter one may be a part of other words.
pub(super) const MIN_SECRET_LEN: usize = 6;
/// Maximum number of leaks that are reported for a run.
const MAX_LEAKS: usize = 20;

/// A secret in all encodings that are searched for, with the kind of each.
pub(super) struct SecretPatterns(Vec<(LeakEncoding, Vec<u8>)>);

impl SecretPatterns {
    /// Creates the patterns for the search of a secret; `None` if the secret is too short.
    pub fn new(secret: &[u8]) -> Option<Self> {
        if secret.len() < MIN_SECRET_LEN {
            return None;
        }
        Some(Self(encodings::careless_encodings(secret)))
    }

    /// Searches the two streams and the changed files of a run for the secret. Returns at most one leak per stream or
    /// file.
    ///
    /// # Errors
    /// If a stream or a file cannot be read.
    pub fn search(
        &self,
        [stdout, stderr]: [&Captured; 2],
        changes: &Changes,
        folder: &RunFolder,
    ) -> io::Result<Vec<Leak>> {
        let mut leaks = Vec::new();
        for (captured, make_place) in
            [(stdout, LeakPlace::Stdout as fn(u64) -> LeakPlace), (stderr, LeakPlace::Stderr)]
        {
            let found = self.find(bytes(&captured.bytes))?;
            leaks.extend(found.map(|(form, offset)| Leak { place: make_place(offset), form }));
        }
        for change in &changes.list {
            let Some(entry) = change.after.as_ref().filter(|entry| entry.kind == FileKind::File) else {
                continue;
            };
            let root = folder.area(change.area)?.ok_or(io::ErrorKind::NotFound)?;
            let found = self.find(root.read_below(Path::new(&change.path))?.take(entry.size))?;
            let place = LeakPlace::File(change.area, change.path.clone(), entry.mode);
            leaks.extend(found.map(|(form, _)| Leak { place, form }));
        }
        leaks.truncate(MAX_LEAKS);
        Ok(leaks)
    }

    /// Returns the encoding and the offset of the first match; `None` if the secret is not found.
    fn find(&self, mut reader: impl Read) -> io::Result<Option<(LeakEncoding, u64)>> {
        let max_pattern_len = self.0.iter().map(|(_, pattern)| pattern.len()).max().unwrap_or(0);
        let (mut window, mut start) = (Vec::new(), 0);
        let mut buffer = vec![0; 1 << 16];
        loop {
            let read = reader.read(&mut buffer)?;
            if read == 0 {
                return Ok(None);
            }
            window.extend_from_slice(&buffer[..read]);
            for (form, pattern) in &self.0 {
                if let Some(offset) = window.windows(pattern.len()).position(|part| part == pattern) {
                    return Ok(Some((*form, start + offset as u64)));
                }
            }
            let discarded = window.len().saturating_sub(max_pattern_len - 1);
            window.drain(..discarded);
            start += discarded as u64;
        }
    }
}

fn bytes(bytes: &Bytes) -> impl Read + '_ {
    bytes.reader()
}
