//! The arguments that name the data files of a command, and how these files are read.

use super::progress::ReadingProgress;
use agentnative_contract::error::{Error, Issue, Result};
use agentnative_contract::{DataFile, ReadEvent, UnreadablePath, counted, data_files, read_files};
use agentnative_output::Output;
use schemars::JsonSchema;
use serde::Serialize;
use std::ffi::OsStr;
use std::io::{self, Read as _};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

#[derive(clap::Args)]
pub(super) struct DataFilesArgs {
    /// Also read the files listed in this file, one path per line or separated by NUL bytes; `-` for stdin.
    #[arg(long, value_name = "FILE")]
    files_from: Option<PathBuf>,
    /// Files, folders (their *.json, *.jsonl and *.ndjson, also with .gz or .zst) or `-` for stdin [default: -].
    /// Data compressed with gzip or Zstandard is decompressed.
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
}

impl DataFilesArgs {
    /// Returns whether the user named no file, so that data is read from stdin.
    pub(super) fn is_default(&self) -> bool {
        self.files.is_empty() && self.files_from.is_none()
    }

    /// Returns the files on the command line as the user named them; `-` for stdin if there are none.
    pub(super) fn files(&self) -> Vec<PathBuf> {
        if self.files.is_empty() { vec![PathBuf::from("-")] } else { self.files.clone() }
    }

    /// Returns whether the user named a folder or a list (`--files-from`), which stands for any number of files.
    pub(super) fn may_be_many(&self) -> bool {
        self.files_from.is_some() || self.files.iter().any(|path| path.is_dir())
    }

    /// Returns all data files, in the order in which they are named. Folders are replaced by their files, and an inner
    /// error is a path that cannot be read. Fails if the list of `--files-from` cannot be read or is empty, or if stdin
    /// is both the list and data.
    pub(super) fn paths(&self) -> Result<Vec<Result<PathBuf, UnreadablePath>>> {
        let Some(list) = &self.files_from else { return Ok(data_files(&self.files)) };
        let mut named = self.files.clone();
        named.extend(read_list(list)?);
        let is_stdin = |path: &PathBuf| path.as_os_str() == "-";
        if is_stdin(list) && named.iter().any(is_stdin) {
            return Err(Error::usage("stdin cannot be both the list of files and data"));
        }
        Ok(data_files(&named))
    }
}

/// Calls `read` with each file, for short files in parallel, then `done` with each result, in the order of the files.
/// Returns the files that cannot be read, and the error with which the command ends; `None` if all files were read.
pub(super) fn read_each<T: Send>(
    paths: Vec<Result<PathBuf, UnreadablePath>>,
    jobs: Option<u8>,
    output: &mut Output,
    read: impl Fn(DataFile, usize, &mut dyn FnMut(u64)) -> io::Result<T> + Sync,
    mut done: impl FnMut(&Path, T, &mut Output) -> Result<()>,
) -> Result<(Vec<UnreadableFile>, Option<Error>)> {
    let (files, mut progress, mut failed) = (paths.len(), ReadingProgress::new(), Vec::new());
    read_files(paths, jobs, read, |reading| match reading {
        ReadEvent::Progress { name, length, bytes } => {
            progress.show(name, length, bytes, output);
            Ok(())
        }
        ReadEvent::Completed(path, value) => {
            output.clear_progress();
            done(&path, value, output)
        }
        ReadEvent::Unreadable(file) => {
            output.clear_progress();
            failed.push(file);
            Ok(())
        }
    })?;
    Ok((failed.iter().map(UnreadableFile::new).collect(), unreadable_error(failed, files)))
}

/// Reads the list of `--files-from`: paths separated by NUL bytes, or by line feeds if there are no NUL bytes.
fn read_list(list: &Path) -> Result<Vec<PathBuf>> {
    let mut bytes = Vec::new();
    DataFile::open(list)?.reader.read_to_end(&mut bytes).map_err(|error| Error::data_file(list, &error))?;
    let separator = if bytes.contains(&0) { 0 } else { b'\n' };
    let lines = bytes.split(|byte| *byte == separator).filter(|line| !line.is_empty());
    let paths: Vec<PathBuf> = lines.map(|line| OsStr::from_bytes(line).into()).collect();
    if paths.is_empty() {
        return Err(Error::usage(format!("{} lists no files", list.display())));
    }
    Ok(paths)
}

/// A file that could not be read.
#[derive(Serialize, JsonSchema)]
pub(super) struct UnreadableFile {
    /// The file or folder. Bytes of its name that are not UTF-8 are written as `\xNN`.
    file: String,
    /// The reason.
    message: String,
}

impl UnreadableFile {
    fn new(unreadable: &UnreadablePath) -> Self {
        Self { file: unreadable.name(), message: unreadable.error.message.clone() }
    }
}

/// Returns the error of a command that could not read the files in `failed`; `files` is the number of all its files. If
/// that is 1, returns the error of this file, else an error that lists all unreadable files. `None` if all could be
/// read.
fn unreadable_error(mut failed: Vec<UnreadablePath>, files: usize) -> Option<Error> {
    if files == 1 {
        return failed.pop().map(|unreadable| unreadable.error);
    }
    let kind = failed.first()?.error.kind;
    let message = format!("{} of {} cannot be read", failed.len(), counted(files, "file"));
    let issue = |unreadable: UnreadablePath| Issue { place: None, message: unreadable.error.message };
    Some(Error::new(kind, message).issues(failed.into_iter().map(issue).collect()))
}
