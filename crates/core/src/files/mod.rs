//! Files of a project, which may be anything: read with a limit, and written as a whole.

mod whole_file;

pub use whole_file::WholeFile;

use rustix::fs::OFlags;
use std::fs::{File, FileType, Metadata, OpenOptions};
use std::io::{self, ErrorKind as Cause, Read as _};
use std::os::unix::fs::{FileTypeExt as _, OpenOptionsExt as _};
use std::path::Path;

/// The maximum size of configurations, manifests and documents in bytes.
pub const MAX_TEXT: u64 = 4 << 20;
/// The maximum size of other files that are read at once, in bytes.
pub const MAX_DATA: u64 = 64 << 20;

/// Opens a regular file, also behind links. Nothing else is opened: a pipe would wait for its other end.
///
/// # Errors
/// Those of the system; `IsADirectory` and `InvalidInput` for what is no regular file.
pub fn open(path: &Path) -> io::Result<File> {
    regular(&path.metadata()?)?;
    let flags = (OFlags::NONBLOCK | OFlags::NOCTTY).bits().cast_signed();
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    // It may have been replaced meanwhile.
    regular(&file.metadata()?)?;
    Ok(file)
}

/// Reads a regular file of at most `max` bytes.
///
/// # Errors
/// Those of [`open`]; `FileTooLarge`.
pub fn read(path: &Path, max: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let file = open(path)?;
    let size = file.metadata()?.len();
    // Files of some file systems have no size, and others grow.
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

/// Reads a file as [`read`] does; none where there is none of this name, or a folder.
///
/// # Errors
/// Those of [`read`] otherwise.
pub fn read_if_any(path: &Path, max: u64) -> io::Result<Option<Vec<u8>>> {
    match read(path, max) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if is_missing(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Whether a path names anything but a folder.
///
/// # Errors
/// When that cannot be told, as in a folder that may not be entered.
pub fn is_any(path: &Path) -> io::Result<bool> {
    match path.metadata() {
        Ok(metadata) => Ok(!metadata.is_dir()),
        Err(error) if is_missing(&error) => Ok(false),
        Err(error) => Err(error),
    }
}

fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), Cause::NotFound | Cause::NotADirectory | Cause::IsADirectory)
}

fn regular(metadata: &Metadata) -> io::Result<()> {
    let kind = metadata.file_type();
    if kind.is_file() {
        return Ok(());
    }
    let cause = if kind.is_dir() { Cause::IsADirectory } else { Cause::InvalidInput };
    Err(io::Error::new(cause, format!("expected a regular file, found {}", name(kind))))
}

fn name(kind: FileType) -> &'static str {
    match kind {
        _ if kind.is_dir() => "a folder",
        _ if kind.is_fifo() => "a pipe",
        _ if kind.is_socket() => "a socket",
        _ => "a device",
    }
}
