//! Reads untrusted project files with a size limit, and writes files atomically.

mod atomic_file;

pub use atomic_file::AtomicFile;

use rustix::fs::OFlags;
use std::fs::{File, FileType, Metadata, OpenOptions};
use std::io::{self, ErrorKind as Cause, Read as _};
use std::os::unix::fs::{FileTypeExt as _, OpenOptionsExt as _};
use std::path::Path;

/// Maximum size of a configuration, manifest or document, in bytes.
pub const MAX_TEXT_BYTES: u64 = 4 << 20;
/// Maximum size of any other file that is read into memory, in bytes.
pub const MAX_DATA_BYTES: u64 = 64 << 20;

/// Opens a regular file; follows symbolic links. Other kinds are rejected: opening a pipe could block.
///
/// # Errors
/// I/O errors; `IsADirectory` for a folder and `InvalidInput` for anything else that is not a regular file.
pub fn open(path: &Path) -> io::Result<File> {
    check_regular(&path.metadata()?)?;
    let flags = (OFlags::NONBLOCK | OFlags::NOCTTY).bits().cast_signed();
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    // The file may have been replaced since the first check.
    check_regular(&file.metadata()?)?;
    Ok(file)
}

/// Reads a regular file of at most `max` bytes.
///
/// # Errors
/// The errors of [`open`]; `FileTooLarge`.
pub fn read(path: &Path, max: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let file = open(path)?;
    let size = file.metadata()?.len();
    // Some file systems report a size of 0, and a file can grow while it is read.
    if size <= max {
        bytes.reserve(usize::try_from(size).unwrap_or(0));
        file.take(max + 1).read_to_end(&mut bytes)?;
    }
    if size > max || bytes.len() as u64 > max {
        let limit = if max < 1 << 20 { format!("{max} bytes") } else { format!("{} MiB", max >> 20) };
        return Err(io::Error::new(Cause::FileTooLarge, format!("expected at most {limit}")));
    }
    Ok(bytes)
}

/// Reads a file like [`read`]; returns `None` if the path does not exist or is a folder.
///
/// # Errors
/// The other errors of [`read`].
pub fn read_if_exists(path: &Path, max: u64) -> io::Result<Option<Vec<u8>>> {
    match read(path, max) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if is_missing(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Returns whether a path exists and is not a folder. Follows symbolic links.
///
/// # Errors
/// I/O errors, such as a missing permission for a parent folder.
pub fn exists_as_file(path: &Path) -> io::Result<bool> {
    match path.metadata() {
        Ok(metadata) => Ok(!metadata.is_dir()),
        Err(error) if is_missing(&error) => Ok(false),
        Err(error) => Err(error),
    }
}

fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), Cause::NotFound | Cause::NotADirectory | Cause::IsADirectory)
}

fn check_regular(metadata: &Metadata) -> io::Result<()> {
    let kind = metadata.file_type();
    if kind.is_file() {
        return Ok(());
    }
    let cause = if kind.is_dir() { Cause::IsADirectory } else { Cause::InvalidInput };
    Err(io::Error::new(cause, format!("expected a regular file, found {}", kind_name(kind))))
}

fn kind_name(kind: FileType) -> &'static str {
    match kind {
        _ if kind.is_dir() => "a folder",
        _ if kind.is_fifo() => "a pipe",
        _ if kind.is_socket() => "a socket",
        _ => "a device",
    }
}
