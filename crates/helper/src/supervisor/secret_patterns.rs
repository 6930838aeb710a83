//! Searches what a run printed and wrote for a secret, in the spellings in which it is often seen.

use super::encodings;
use super::folder::Folder;
use crate::{Bytes, Captured, Changes, EntryKind, Leak, LeakForm, LeakPlace};
use std::io::{self, Read};
use std::path::Path;

/// A secret of fewer bytes is not searched: it is a part of other words.
pub(super) const MIN_SECRET_LEN: usize = 6;
/// No further leaks are told.
const MAX_LEAKS: usize = 20;

/// The spellings of a secret.
pub(super) struct SecretPatterns(Vec<(LeakForm, Vec<u8>)>);

impl SecretPatterns {
    /// Those of this secret; none if it is too short.
    pub fn new(secret: &[u8]) -> Option<Self> {
        if secret.len() < MIN_SECRET_LEN {
            return None;
        }
        Some(Self(encodings::careless_encodings(secret)))
    }

    /// Where they are in these streams, and in the files that a run changed.
    ///
    /// # Errors
    /// When something cannot be read.
    pub fn search(
        &self,
        [stdout, stderr]: [&Captured; 2],
        changes: &Changes,
        folder: &Folder,
    ) -> io::Result<Vec<Leak>> {
        let mut leaks = Vec::new();
        for (captured, place) in
            [(stdout, LeakPlace::Stdout as fn(u64) -> LeakPlace), (stderr, LeakPlace::Stderr)]
        {
            let found = self.find(bytes(&captured.bytes))?;
            leaks.extend(found.map(|(form, at)| Leak { place: place(at), form }));
        }
        for change in &changes.list {
            let Some(entry) = change.after.as_ref().filter(|entry| entry.kind == EntryKind::File) else {
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

    /// The first place of the first spelling that is there.
    fn find(&self, mut reader: impl Read) -> io::Result<Option<(LeakForm, u64)>> {
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
                if let Some(at) = window.windows(pattern.len()).position(|part| part == pattern) {
                    return Ok(Some((*form, start + at as u64)));
                }
            }
            let gone = window.len().saturating_sub(max_pattern_len - 1);
            window.drain(..gone);
            start += gone as u64;
        }
    }
}

fn bytes(bytes: &Bytes) -> impl Read + '_ {
    bytes.reader()
}
