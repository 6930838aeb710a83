//! Reads many files: short ones side by side, long ones one after the other, each by all threads.

use super::budget;
use super::data_file::{DataFile, Unreadable, is_short, threads};
use super::error::{Error, Result};
use super::workers::in_order;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What is told of the reading of files.
pub enum Reading<'a, T> {
    /// So many bytes of a file were read.
    Progress {
        /// The file.
        name: &'a str,
        /// Its length, where that is known.
        length: Option<u64>,
        /// How much of it was read.
        bytes: u64,
    },
    /// A file was read to its end. They come in the order in which the files were named.
    Read(PathBuf, T),
    /// A file or folder could not be read.
    Unreadable(Unreadable),
}

/// Reads each file by `read`, which is given the number of threads that may share the work, and tells of it.
///
/// # Errors
/// The first one of `tell`, which ends the reading; or no thread can be had.
pub fn read_files<T: Send>(
    paths: Vec<Result<PathBuf, Unreadable>>,
    jobs: Option<u8>,
    read: impl Fn(DataFile, usize, &mut dyn FnMut(u64)) -> io::Result<T> + Sync,
    mut tell: impl FnMut(Reading<'_, T>) -> Result<()>,
) -> Result<()> {
    let mut paths = paths.into_iter().peekable();
    while paths.peek().is_some() {
        let mut short = Vec::new();
        while let Some(Ok(path)) = paths.next_if(|path| path.as_ref().is_ok_and(|path| is_short(path))) {
            short.push(path);
        }
        match threads(jobs).min(short.len()) {
            0 => {}
            1 => short.into_iter().try_for_each(|path| alone(path, jobs, &read, &mut tell))?,
            count => side_by_side(&short, count, &read, &mut tell)?,
        }
        match paths.next() {
            Some(Ok(path)) => alone(path, jobs, &read, &mut tell)?,
            Some(Err(unreadable)) => tell(Reading::Unreadable(unreadable))?,
            None => {}
        }
    }
    Ok(())
}

/// Reads a file by this thread, or by several that it starts.
fn alone<T>(
    path: PathBuf,
    jobs: Option<u8>,
    read: impl FnOnce(DataFile, usize, &mut dyn FnMut(u64)) -> io::Result<T>,
    tell: &mut impl FnMut(Reading<'_, T>) -> Result<()>,
) -> Result<()> {
    let mut told = Ok(());
    let result = DataFile::open(&path).and_then(|file| {
        let (threads, name, length) = (file.threads(jobs), file.name.clone(), file.length);
        let mut progress = |bytes| {
            budget::progress();
            if told.is_ok() {
                told = tell(Reading::Progress { name: &name, length, bytes });
            }
        };
        read(file, threads, &mut progress).map_err(|error| Error::data(&path, &error))
    });
    told?;
    tell(Reading::ended(path, result))
}

/// Reads files by so many threads, each file by one.
fn side_by_side<T: Send>(
    paths: &[PathBuf],
    count: usize,
    read: impl Fn(DataFile, usize, &mut dyn FnMut(u64)) -> io::Result<T> + Sync,
    tell: &mut impl FnMut(Reading<'_, T>) -> Result<()>,
) -> Result<()> {
    let (taken, mut told) = (AtomicUsize::new(0), Ok(()));
    let work = |deliver: &mut dyn FnMut(usize, (usize, Result<T>))| {
        loop {
            let nth = taken.fetch_add(1, Ordering::Relaxed);
            let Some(path) = paths.get(nth) else { return Ok(()) };
            let result = DataFile::open(path)
                .and_then(|file| read(file, 1, &mut |_| ()).map_err(|error| Error::data(path, &error)));
            deliver(nth, (nth, result));
        }
    };
    let take = |(nth, result): (usize, _)| {
        budget::progress();
        if told.is_ok() {
            told = tell(Reading::ended(paths[nth].clone(), result));
        }
        if told.is_err() {
            taken.store(paths.len(), Ordering::Relaxed);
        }
    };
    in_order(count, work, take).map_err(|error| Error::general(error.to_string()))?;
    told
}

impl<T> Reading<'_, T> {
    fn ended(path: PathBuf, result: Result<T>) -> Self {
        match result {
            Ok(value) => Self::Read(path, value),
            Err(error) => Self::Unreadable(Unreadable { path, error }),
        }
    }
}
