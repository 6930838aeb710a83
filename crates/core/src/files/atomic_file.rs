//! Atomic file writes: a file is created before the runs and appears under its name only when it is complete.

use agentnative_contract::error::{Error, ErrorKind, Result};
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind as Cause, Write as _};
use std::path::{Path, PathBuf};

/// A file that replaces the file at its path only when [`AtomicFile::persist`] is called. Until then, an existing file
/// stays unchanged.
pub struct AtomicFile {
    path: PathBuf,
    file: File,
    /// Temporary file that later replaces the file at `path`. `None` if the path is a device or a pipe, or no file can
    /// be created in its folder; the path is then written directly.
    part: Option<TempPart>,
}

/// A temporary file in the folder of its later path; removed on drop, unless it was renamed to this path.
struct TempPart {
    path: PathBuf,
    /// The path to which the temporary file is renamed, with symbolic links resolved.
    destination: PathBuf,
}

impl Drop for TempPart {
    fn drop(&mut self) {
        // Fails after the rename, as intended.
        let _ = fs::remove_file(&self.path);
    }
}

impl AtomicFile {
    /// Opens a file for writing that later appears at `path`. Callers call this before the runs, so that an unwritable
    /// path is reported early.
    ///
    /// # Errors
    /// Of kind `Write`, or `Auth` if permission is denied.
    pub fn create(path: &Path) -> Result<Self> {
        Self::open(path).map_err(|error| write_failure(path, &error))
    }

    /// Opens a file for writing that later replaces whatever is at `path`. A symbolic link is replaced, not followed.
    ///
    /// # Errors
    /// Of kind `Write`, or `Auth` if permission is denied.
    pub fn replace(path: &Path) -> Result<Self> {
        Self::open_replacing(path).map_err(|error| write_failure(path, &error))
    }

    fn open_replacing(path: &Path) -> io::Result<Self> {
        let old = match fs::symlink_metadata(path) {
            Ok(old) if old.is_dir() => return Err(Cause::IsADirectory.into()),
            Ok(old) => Some(old).filter(fs::Metadata::is_file),
            Err(error) if error.kind() == Cause::NotFound => None,
            Err(error) => return Err(error),
        };
        let (file, part) = create_part(path)?;
        let part = Some(TempPart { path: part, destination: path.to_owned() });
        if let Some(old) = old {
            file.set_permissions(old.permissions())?;
        }
        Ok(Self { path: path.to_owned(), file, part })
    }

    fn open(path: &Path) -> io::Result<Self> {
        let path = path.to_owned();
        let old = match fs::metadata(&path) {
            // A device or a pipe is written directly; opening a folder fails.
            Ok(old) if !old.is_file() => {
                return Ok(Self { file: OpenOptions::new().write(true).open(&path)?, path, part: None });
            }
            // A read-only file is not replaced: opening it for writing fails.
            Ok(_) => Some(OpenOptions::new().write(true).open(&path)?),
            // A dangling link: its target is created.
            Err(_) if path.is_symlink() => {
                return Ok(Self { file: File::create(&path)?, path, part: None });
            }
            Err(_) => None,
        };
        let destination = if old.is_some() { path.canonicalize()? } else { path.clone() };
        match (create_part(&destination), old) {
            (Ok((file, part)), old) => {
                if let Some(old) = old {
                    file.set_permissions(old.metadata()?.permissions())?;
                }
                Ok(Self { path, file, part: Some(TempPart { path: part, destination }) })
            }
            (Err(_), Some(file)) => Ok(Self { path, file, part: None }),
            (Err(error), None) => Err(error),
        }
    }

    /// Returns a handle for writing the file, which is empty.
    ///
    /// # Errors
    /// Of kind `Write`, or `Auth` if permission is denied.
    pub fn file(&self) -> Result<File> {
        let file = || {
            if self.part.is_none() && self.file.metadata()?.is_file() {
                self.file.set_len(0)?;
            }
            self.file.try_clone()
        };
        file().map_err(|error| write_failure(&self.path, &error))
    }

    /// Writes all contents of the file, and puts it at its path.
    ///
    /// # Errors
    /// Of kind `Write`, or `Auth` if permission is denied.
    pub fn write(self, text: &[u8]) -> Result<()> {
        self.write_contents(text)?;
        self.persist()
    }

    /// Writes all contents of the file. Only [`AtomicFile::persist`] puts it at its path.
    ///
    /// # Errors
    /// Of kind `Write`, or `Auth` if permission is denied.
    pub fn write_contents(&self, text: &[u8]) -> Result<()> {
        self.file()?.write_all(text).map_err(|error| write_failure(&self.path, &error))
    }

    /// Converts an I/O error of a write into an error that names the file.
    pub fn write_error(&self, error: &io::Error) -> Error {
        write_failure(&self.path, error)
    }

    /// Puts the file at its path: renames the temporary file to its final name.
    ///
    /// # Errors
    /// Of kind `Write`, or `Auth` if permission is denied.
    pub fn persist(self) -> Result<()> {
        let renamed = self.part.as_ref().map_or(Ok(()), |part| fs::rename(&part.path, &part.destination));
        renamed.map_err(|error| write_failure(&self.path, &error))
    }
}

fn write_failure(path: &Path, error: &io::Error) -> Error {
    Error::io(ErrorKind::Write, "write", path, error)
}

/// Creates a temporary file in the folder of `destination`. Returns the open file and its path.
fn create_part(destination: &Path) -> io::Result<(File, PathBuf)> {
    let folder =
        destination.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut number = 0;
    loop {
        let part = folder.join(format!(".agentnative-{}-{number}.part", std::process::id()));
        match OpenOptions::new().write(true).create_new(true).open(&part) {
            Ok(file) => return Ok((file, part)),
            Err(error) if error.kind() == Cause::AlreadyExists => number += 1,
            Err(error) => return Err(error),
        }
    }
}
