//! Reads many files: short ones in parallel, each with one thread; long ones one after another, each with all threads.

use super::budget;
use super::data_file::{DataFile, UnreadablePath, default_threads, is_short};
use super::error::{Error, Result};
use super::workers::run_in_order;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What [`read_files`] reports while it reads files.
pub enum ReadEvent<'a, T> {
    /// More bytes of a file were read.
    Progress {
        /// Name of the file.
        name: &'a str,
        /// Length of the file in bytes, if known.
        length: Option<u64>,
        /// Number of bytes read so far.
        bytes: u64,
    },
    /// A file that was read to its end, with the result of reading it. These events have the order of the paths.
    Completed(PathBuf, T),
    /// A file or folder that cannot be read.
    Unreadable(UnreadablePath),
}

/// Calls `read` for each file. Its arguments are the open file, the number of threads that it may use, and a function
/// to call with the number of bytes read so far. `tell` receives the events.
///
/// # Errors
/// The first error of `tell`, which stops reading; or no thread can be spawned.
pub fn read_files<T: Send>(
    paths: Vec<Result<PathBuf, UnreadablePath>>,
    jobs: Option<u8>,
    read: impl Fn(DataFile, usize, &mut dyn FnMut(u64)) -> io::Result<T> + Sync,
    mut tell: impl FnMut(ReadEvent<'_, T>) -> Result<()>,
) -> Result<()> {
    let mut paths = paths.into_iter().peekable();
    while paths.peek().is_some() {
        let mut short = Vec::new();
        while let Some(Ok(path)) = paths.next_if(|path| path.as_ref().is_ok_and(|path| is_short(path))) {
            short.push(path);
        }
        match default_threads(jobs).min(short.len()) {
            0 => {}
            1 => short.into_iter().try_for_each(|path| read_one(path, jobs, &read, &mut tell))?,
            count => read_parallel(&short, count, &read, &mut tell)?,
        }
        match paths.next() {
            Some(Ok(path)) => read_one(path, jobs, &read, &mut tell)?,
            Some(Err(unreadable)) => tell(ReadEvent::Unreadable(unreadable))?,
            None => {}
        }
    }
    Ok(())
}

/// Reads one file, with as many threads as [`DataFile::thread_count`] returns, and passes the events to `tell`.
fn read_one<T>(
    path: PathBuf,
    jobs: Option<u8>,
    read: impl FnOnce(DataFile, usize, &mut dyn FnMut(u64)) -> io::Result<T>,
    tell: &mut impl FnMut(ReadEvent<'_, T>) -> Result<()>,
) -> Result<()> {
    let mut tell_result = Ok(());
    let result = DataFile::open(&path).and_then(|file| {
        let (threads, name, length) = (file.thread_count(jobs), file.name.clone(), file.length);
        let mut progress = |bytes| {
            budget::finish_step();
            if tell_result.is_ok() {
                tell_result = tell(ReadEvent::Progress { name: &name, length, bytes });
            }
        };
        read(file, threads, &mut progress).map_err(|error| Error::data_file(&path, &error))
    });
    tell_result?;
    tell(ReadEvent::from_result(path, result))
}

/// Reads several files in parallel: `count` threads read one file each at a time.
fn read_parallel<T: Send>(
    paths: &[PathBuf],
    count: usize,
    read: impl Fn(DataFile, usize, &mut dyn FnMut(u64)) -> io::Result<T> + Sync,
    tell: &mut impl FnMut(ReadEvent<'_, T>) -> Result<()>,
) -> Result<()> {
    let (next_index, mut tell_result) = (AtomicUsize::new(0), Ok(()));
    let work = |deliver: &mut dyn FnMut(usize, (usize, Result<T>))| {
        loop {
            let index = next_index.fetch_add(1, Ordering::Relaxed);
            let Some(path) = paths.get(index) else { return Ok(()) };
            let result = DataFile::open(path)
                .and_then(|file| read(file, 1, &mut |_| ()).map_err(|error| Error::data_file(path, &error)));
            deliver(index, (index, result));
        }
    };
    let take = |(index, result): (usize, _)| {
        budget::finish_step();
        if tell_result.is_ok() {
            tell_result = tell(ReadEvent::from_result(paths[index].clone(), result));
        }
        if tell_result.is_err() {
            next_index.store(paths.len(), Ordering::Relaxed);
        }
    };
    run_in_order(count, work, take).map_err(|error| Error::general(error.to_string()))?;
    tell_result
}

impl<T> ReadEvent<'_, T> {
    fn from_result(path: PathBuf, result: Result<T>) -> Self {
        match result {
            Ok(value) => Self::Completed(path, value),
            Err(error) => Self::Unreadable(UnreadablePath { path, error }),
        }
    }
}
