//! Finds and opens the data files that a user names.

use crate::Framing;
use crate::decompress::{Decompressed, decompressed};
use crate::error::{Error, Result};
use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::thread;
use strict_json::sanitize;
use walkdir::WalkDir;

/// Minimum length of a file that several threads read, in bytes.
const MIN_PARALLEL_BYTES: u64 = 2 << 20;
/// Maximum number of threads, unless the user sets a number.
const MAX_THREADS: usize = 8;

/// An open file of documents or records, or stdin.
pub struct DataFile {
    /// The name of the file for messages. Bytes that are not UTF-8 are escaped as `\xNN`.
    pub name: String,
    /// The framing of the data, if the file name determines it, such as lines for `x.jsonl`.
    pub framing: Option<Framing>,
    /// The length of the file in bytes; `None` for stdin and compressed data.
    pub length: Option<u64>,
    /// Whether the file is compressed.
    pub compressed: bool,
    /// Reader of the contents, which it decompresses.
    pub reader: Box<dyn Read + Send>,
}

impl DataFile {
    /// Opens a file, which may be compressed with gzip or Zstandard; `-` is stdin.
    ///
    /// # Errors
    /// If the file cannot be opened: the error that [`Error::data_file`] creates.
    pub fn open(path: &Path) -> Result<Self> {
        let open_error = |error| Error::data_file(path, &error);
        let (Decompressed { reader, compressed }, length) = if path.as_os_str() == "-" {
            (decompressed(io::stdin()).map_err(open_error)?, None)
        } else {
            let file = File::open(path).map_err(open_error)?;
            let length = file.metadata().ok().filter(Metadata::is_file).map(|metadata| metadata.len());
            (decompressed(file).map_err(open_error)?, length)
        };
        let length = length.filter(|_| !compressed);
        Ok(Self { name: display_name(path), framing: framing(path), length, compressed, reader })
    }

    /// Returns the number of threads that read the file: 1 for a file under 2 MiB; otherwise `requested`, or, if that
    /// is `None`, the number of processors, at most 8.
    pub fn thread_count(&self, requested: Option<u8>) -> usize {
        self.length.map_or_else(|| default_threads(requested), |length| thread_count(length, requested))
    }
}

/// Returns the number of threads that read a file of `length` bytes; see [`DataFile::thread_count`].
pub fn thread_count(length: u64, requested: Option<u8>) -> usize {
    if length < MIN_PARALLEL_BYTES { 1 } else { default_threads(requested) }
}

/// Returns `requested`; if that is `None`, the number of processors, at most 8.
pub(super) fn default_threads(requested: Option<u8>) -> usize {
    let processors = || thread::available_parallelism().map_or(1, |count| count.get().min(MAX_THREADS));
    requested.map_or_else(processors, usize::from)
}

/// Returns whether a file is so short (under 2 MiB) that one thread reads it.
pub(super) fn is_short(path: &Path) -> bool {
    path.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.len() < MIN_PARALLEL_BYTES)
}

/// A file or folder that cannot be read.
#[derive(Debug)]
pub struct UnreadablePath {
    /// The path as named by the user, or as found in a folder.
    pub path: PathBuf,
    /// The reason why the path cannot be read.
    pub error: Error,
}

impl UnreadablePath {
    /// Returns the name of the path for messages, as in [`DataFile::name`].
    pub fn name(&self) -> String {
        display_name(&self.path)
    }
}

fn display_name(path: &Path) -> String {
    sanitize::lossless(path.as_os_str().as_encoded_bytes()).into_owned()
}

/// Returns the files that a user names. Replaces a folder by its `*.json`, `*.jsonl` and `*.ndjson` files (also with
/// `.gz` or `.zst`), sorted by name. Returns `-`, which is stdin, if `named` is empty.
///
/// A folder that cannot be read or has no such file is an [`UnreadablePath`]. Files are not opened.
pub fn data_files(named: &[PathBuf]) -> Vec<Result<PathBuf, UnreadablePath>> {
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
                    let error = Error::data_file(&path, &error.into());
                    files.push(Err(UnreadablePath { path, error }));
                }
            }
        }
        if files.len() == before {
            let message = format!("{} contains no *.json, *.jsonl or *.ndjson file", path.display());
            files.push(Err(UnreadablePath { path: path.clone(), error: Error::usage(message) }));
        }
    }
    files
}

/// Returns the framing that the extensions of a file name determine, such as lines for `x.jsonl.gz`; `None` for other
/// extensions.
pub fn framing(path: &Path) -> Option<Framing> {
    match path.extension()?.to_str()? {
        "gz" | "zst" => framing(Path::new(path.file_stem()?)),
        "jsonl" | "ndjson" => Some(Framing::Lines),
        "json" => Some(Framing::Document),
        _ => None,
    }
}
