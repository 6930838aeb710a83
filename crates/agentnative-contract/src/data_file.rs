//! The data files that a user names: found, opened, and what their names say of them.

use crate::Framing;
use crate::error::{Error, Result};
use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::thread;
use strict_json::sanitize;
use walkdir::WalkDir;

/// A shorter file is read by one thread, in bytes.
const SHORT: u64 = 2 << 20;
/// More threads than this are not used, unless they are asked for.
const MAX_THREADS: usize = 8;

/// A file of documents or records, or standard input, open to be read.
pub struct DataFile {
    /// Its name for people; bytes that are not UTF-8 are spelt `\xNN`.
    pub name: String,
    /// How data is put into it, where its name says so.
    pub framing: Option<Framing>,
    /// Its length in bytes, where that is known.
    pub length: Option<u64>,
    /// Its bytes.
    pub reader: Box<dyn Read + Send>,
}

impl DataFile {
    /// Opens a file; `-` is standard input. An error as [`Error::data`] has it when it cannot be opened.
    pub fn open(path: &Path) -> Result<Self> {
        let (reader, length): (Box<dyn Read + Send>, _) = if path.as_os_str() == "-" {
            (Box::new(io::stdin()), None)
        } else {
            let file = File::open(path).map_err(|error| Error::data(path, &error))?;
            let length = file.metadata().ok().filter(Metadata::is_file).map(|metadata| metadata.len());
            (Box::new(file), length)
        };
        let name = sanitize::lossless(path.as_os_str().as_encoded_bytes()).into_owned();
        Ok(Self { name, framing: framing(path), length, reader })
    }

    /// How many threads are to read it: as many as asked for, else as there are processors, at most 8; one
    /// where it is short.
    pub fn threads(&self, asked: Option<u8>) -> usize {
        match self.length {
            Some(length) if length < SHORT => 1,
            _ => asked.map_or_else(processors, usize::from),
        }
    }
}

fn processors() -> usize {
    thread::available_parallelism().map_or(1, |count| count.get().min(MAX_THREADS))
}

/// The files, and the `*.json`, `*.jsonl` and `*.ndjson` in the folders, sorted by name; standard input
/// when none are named. An error of usage when a folder cannot be read or has none of them.
pub fn data_files(named: &[PathBuf]) -> Result<Vec<PathBuf>> {
    if named.is_empty() {
        return Ok(vec![PathBuf::from("-")]);
    }
    let mut files = Vec::new();
    for path in named {
        if path.as_os_str() == "-" || !path.is_dir() {
            files.push(path.clone());
            continue;
        }
        let before = files.len();
        for entry in WalkDir::new(path).sort_by_file_name() {
            let entry = entry.map_err(|error| Error::data(path, &error.into()))?;
            if entry.file_type().is_file() && framing(entry.path()).is_some() {
                files.push(entry.into_path());
            }
        }
        if files.len() == before {
            return Err(Error::usage(format!(
                "{} contains no *.json, *.jsonl or *.ndjson file",
                path.display()
            )));
        }
    }
    Ok(files)
}

/// What a file's name says of how data is put into it.
pub(super) fn framing(path: &Path) -> Option<Framing> {
    match path.extension()?.to_str()? {
        "jsonl" | "ndjson" => Some(Framing::Lines),
        "json" => Some(Framing::Document),
        _ => None,
    }
}
