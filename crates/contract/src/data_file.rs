//! The data files that a user names: found, opened, and what their names say of them.

use crate::Framing;
use crate::decompress::{Decompressed, decompressed};
use crate::error::{Error, Result};
use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::thread;
use strict_json::sanitize;
use walkdir::WalkDir;

/// A file with fewer bytes is read by one thread.
const SHORT: u64 = 2 << 20;
/// More threads than this are not used, unless they are asked for.
const MAX_THREADS: usize = 8;

/// A file of documents or records, or standard input, open to be read.
pub struct DataFile {
    /// Its name for people; bytes that are not UTF-8 are spelt `\xNN`.
    pub name: String,
    /// How data is put into it, where its name says so.
    pub framing: Option<Framing>,
    /// Its length in bytes, where that is known: that of standard input and of compressed data is not.
    pub length: Option<u64>,
    /// It is compressed.
    pub compressed: bool,
    /// Its bytes, decompressed.
    pub reader: Box<dyn Read + Send>,
}

impl DataFile {
    /// Opens a file, which may be compressed with gzip or Zstandard; `-` is standard input. An error as
    /// [`Error::data`] has it when it cannot be opened.
    pub fn open(path: &Path) -> Result<Self> {
        let unreadable = |error| Error::data(path, &error);
        let (Decompressed { reader, compressed }, length) = if path.as_os_str() == "-" {
            (decompressed(io::stdin()).map_err(unreadable)?, None)
        } else {
            let file = File::open(path).map_err(unreadable)?;
            let length = file.metadata().ok().filter(Metadata::is_file).map(|metadata| metadata.len());
            (decompressed(file).map_err(unreadable)?, length)
        };
        let length = length.filter(|_| !compressed);
        Ok(Self { name: name(path), framing: framing(path), length, compressed, reader })
    }

    /// How many threads are to read it: as many as asked for, else as there are processors, at most 8; one
    /// where it is short.
    pub fn threads(&self, asked: Option<u8>) -> usize {
        self.length.map_or_else(|| threads(asked), |length| threads_for(length, asked))
    }
}

/// The same for so many bytes.
pub fn threads_for(length: u64, asked: Option<u8>) -> usize {
    if length < SHORT { 1 } else { threads(asked) }
}

/// So many threads as asked for, else as there are processors, at most 8.
pub(super) fn threads(asked: Option<u8>) -> usize {
    let processors = || thread::available_parallelism().map_or(1, |count| count.get().min(MAX_THREADS));
    asked.map_or_else(processors, usize::from)
}

/// Whether a file is so short that one thread reads it.
pub(super) fn is_short(path: &Path) -> bool {
    path.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.len() < SHORT)
}

/// A file or folder that cannot be read.
#[derive(Debug)]
pub struct Unreadable {
    /// As it was named, or found in a folder.
    pub path: PathBuf,
    /// Why.
    pub error: Error,
}

impl Unreadable {
    /// Its name for people, as that of a [`DataFile`].
    pub fn name(&self) -> String {
        name(&self.path)
    }
}

fn name(path: &Path) -> String {
    sanitize::lossless(path.as_os_str().as_encoded_bytes()).into_owned()
}

/// The files, and the `*.json`, `*.jsonl` and `*.ndjson` in the folders, also with `.gz` or `.zst` behind, sorted by
/// name; standard input when none are named. A folder that cannot be read or has none of them takes the place of its
/// files. Whether a file can be opened is not looked at.
pub fn data_files(named: &[PathBuf]) -> Vec<Result<PathBuf, Unreadable>> {
    if named.is_empty() {
        return vec![Ok(PathBuf::from("-"))];
    }
    let mut files = Vec::new();
    for path in named {
        if path.as_os_str() == "-" || !path.is_dir() {
            files.push(Ok(path.clone()));
            continue;
        }
        let before = files.len();
        for entry in WalkDir::new(path).sort_by_file_name() {
            match entry {
                Ok(entry) if entry.file_type().is_file() && framing(entry.path()).is_some() => {
                    files.push(Ok(entry.into_path()));
                }
                Ok(_) => {}
                Err(error) => {
                    let path = error.path().unwrap_or(path).to_owned();
                    let error = Error::data(&path, &error.into());
                    files.push(Err(Unreadable { path, error }));
                }
            }
        }
        if files.len() == before {
            let message = format!("{} contains no *.json, *.jsonl or *.ndjson file", path.display());
            files.push(Err(Unreadable { path: path.clone(), error: Error::usage(message) }));
        }
    }
    files
}

/// What a file's name says of how data is put into it, whether it is compressed or not.
pub fn framing(path: &Path) -> Option<Framing> {
    match path.extension()?.to_str()? {
        "gz" | "zst" => framing(Path::new(path.file_stem()?)),
        "jsonl" | "ndjson" => Some(Framing::Lines),
        "json" => Some(Framing::Document),
        _ => None,
    }
}
