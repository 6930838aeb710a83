//! The data files that a subcommand is given.

use agentnative_contract::error::{Error, Result};
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::thread;
use strict_json::sanitize;
use walkdir::WalkDir;

/// The name of a file as it is told; bytes that are not UTF-8 are spelt `\xNN`.
pub(super) fn name(path: &Path) -> String {
    sanitize::lossless(path.as_os_str().as_bytes()).into_owned()
}

/// As many threads as asked for, else as there are processors, at most 8.
pub(super) fn threads(jobs: Option<u8>) -> usize {
    jobs.map_or_else(|| thread::available_parallelism().map_or(1, |n| n.get().min(8)), usize::from)
}

/// How far the reading of a file is.
pub(super) fn progress_line(name: &str, bytes: u64, length: Option<u64>) -> String {
    let megabytes = |bytes: u64| bytes as f64 / 1e6;
    match length {
        Some(length) => format!("{name}: {:.0} of {:.0} MB", megabytes(bytes), megabytes(length)),
        None => format!("{name}: {:.0} MB", megabytes(bytes)),
    }
}

/// The files, and those in the folders, sorted by name.
pub(super) fn inputs(named: &[PathBuf]) -> Result<Vec<PathBuf>> {
    if named.is_empty() {
        return Ok(vec![PathBuf::from("-")]);
    }
    let mut inputs = Vec::new();
    for path in named {
        if path.as_os_str() == "-" || !path.is_dir() {
            inputs.push(path.clone());
            continue;
        }
        let before = inputs.len();
        for entry in WalkDir::new(path).sort_by_file_name() {
            let entry =
                entry.map_err(|error| Error::usage(format!("cannot read {}: {error}", path.display())))?;
            let data = entry.path().extension().is_some_and(|extension| extension == "json")
                || is_lines(entry.path());
            if entry.file_type().is_file() && data {
                inputs.push(entry.into_path());
            }
        }
        if inputs.len() == before {
            return Err(Error::usage(format!(
                "there is no *.json, *.jsonl or *.ndjson in {}",
                path.display()
            )));
        }
    }
    Ok(inputs)
}

/// Whether a file's name says that it is JSON lines.
pub(super) fn is_lines(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "jsonl" || extension == "ndjson")
}

/// The input, and its length where that is known.
pub(super) fn open(path: &Path) -> Result<(Box<dyn Read + Send>, Option<u64>)> {
    if path.as_os_str() == "-" {
        return Ok((Box::new(io::stdin()), None));
    }
    let file =
        File::open(path).map_err(|error| Error::usage(format!("cannot open {}: {error}", path.display())))?;
    let length = file.metadata().ok().filter(std::fs::Metadata::is_file).map(|metadata| metadata.len());
    Ok((Box::new(file), length))
}
