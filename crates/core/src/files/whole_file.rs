//! Files that are opened before the runs and appear when they are complete, or not at all.

use agentnative_contract::error::{Error, ErrorKind, Result};
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind as Cause, Write as _};
use std::path::{Path, PathBuf};

/// A file that takes its name with [`WholeFile::finish`]. Until then one of that name stays as it is.
pub struct WholeFile {
    path: PathBuf,
    file: File,
    /// What is renamed at the end; none where the name is that of a device, a pipe or a file in a folder that
    /// takes no further one.
    part: Option<Part>,
}

/// A file beside the one that it will be; removed unless it becomes that.
struct Part {
    path: PathBuf,
    /// The file that it will be, links resolved.
    goal: PathBuf,
}

impl Drop for Part {
    fn drop(&mut self) {
        // After the renaming there is none.
        let _ = fs::remove_file(&self.path);
    }
}

impl WholeFile {
    /// Makes the file before the runs: one that cannot be written is no reason to lose them.
    ///
    /// # Errors
    /// Write or permission, when the file cannot be written.
    pub fn create(path: &Path) -> Result<Self> {
        Self::open(path).map_err(|error| failed(path, &error))
    }

    /// Makes a file that replaces what has its name, be it a link, and never writes through that.
    ///
    /// # Errors
    /// Write or permission, when the file cannot be written.
    pub fn replace(path: &Path) -> Result<Self> {
        Self::beside(path).map_err(|error| failed(path, &error))
    }

    fn beside(path: &Path) -> io::Result<Self> {
        let old = match fs::symlink_metadata(path) {
            Ok(old) if old.is_dir() => return Err(Cause::IsADirectory.into()),
            Ok(old) => Some(old).filter(fs::Metadata::is_file),
            Err(error) if error.kind() == Cause::NotFound => None,
            Err(error) => return Err(error),
        };
        let (file, part) = part_beside(path)?;
        let part = Some(Part { path: part, goal: path.to_owned() });
        if let Some(old) = old {
            file.set_permissions(old.permissions())?;
        }
        Ok(Self { path: path.to_owned(), file, part })
    }

    fn open(path: &Path) -> io::Result<Self> {
        let path = path.to_owned();
        let old = match fs::metadata(&path) {
            // A device, a pipe; a folder is refused.
            Ok(old) if !old.is_file() => {
                return Ok(Self { file: OpenOptions::new().write(true).open(&path)?, path, part: None });
            }
            // A file that may not be written is not replaced.
            Ok(_) => Some(OpenOptions::new().write(true).open(&path)?),
            // A link to nothing: what it names is made.
            Err(_) if path.is_symlink() => {
                return Ok(Self { file: File::create(&path)?, path, part: None });
            }
            Err(_) => None,
        };
        let goal = if old.is_some() { path.canonicalize()? } else { path.clone() };
        match (part_beside(&goal), old) {
            (Ok((file, part)), old) => {
                if let Some(old) = old {
                    file.set_permissions(old.metadata()?.permissions())?;
                }
                Ok(Self { path, file, part: Some(Part { path: part, goal }) })
            }
            (Err(_), Some(file)) => Ok(Self { path, file, part: None }),
            (Err(error), None) => Err(error),
        }
    }

    /// The file, empty, to write to it.
    ///
    /// # Errors
    /// Write or permission, when the file cannot be written.
    pub fn file(&self) -> Result<File> {
        let file = || {
            if self.part.is_none() && self.file.metadata()?.is_file() {
                self.file.set_len(0)?;
            }
            self.file.try_clone()
        };
        file().map_err(|error| failed(&self.path, &error))
    }

    /// Writes all of it and gives it its name.
    ///
    /// # Errors
    /// Write or permission, when the file cannot be written.
    pub fn write(self, text: &[u8]) -> Result<()> {
        self.fill(text)?;
        self.finish()
    }

    /// Writes all of it, and leaves it without its name.
    ///
    /// # Errors
    /// Write or permission, when the file cannot be written.
    pub fn fill(&self, text: &[u8]) -> Result<()> {
        self.file()?.write_all(text).map_err(|error| failed(&self.path, &error))
    }

    /// The error that it could not be written.
    pub fn failed(&self, error: &io::Error) -> Error {
        failed(&self.path, error)
    }

    /// Gives the file its name.
    ///
    /// # Errors
    /// Write or permission, when the file cannot be written.
    pub fn finish(self) -> Result<()> {
        let renamed = self.part.as_ref().map_or(Ok(()), |part| fs::rename(&part.path, &part.goal));
        renamed.map_err(|error| failed(&self.path, &error))
    }
}

fn failed(path: &Path, error: &io::Error) -> Error {
    Error::io(ErrorKind::Write, "write", path, error)
}

/// A new file in the folder of this one.
fn part_beside(goal: &Path) -> io::Result<(File, PathBuf)> {
    let folder = goal.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
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
