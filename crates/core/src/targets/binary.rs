//! A program that a manifest declares, and helpers for its files.

use crate::files;
use rustix::fs::{Access, access};
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// A program that a manifest declares, with its built file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Binary {
    /// Declared name.
    pub name: String,
    /// Name of the package that declares it, if there are several packages.
    pub package: Option<String>,
    /// Folder of that package, with its source code.
    pub folder: PathBuf,
    /// Newest built file; `None` if it is not built.
    pub built: Option<PathBuf>,
    /// Interpreter of the built file, if the file is not executable by itself.
    pub interpreter: Option<&'static str>,
    /// Whether its package runs it by default.
    pub default: bool,
    /// Whether it belongs to the package of the folder, or no package takes precedence.
    pub own: bool,
    /// Build command, for messages.
    pub build: String,
}

pub(super) fn is_executable(file: &Path) -> bool {
    access(file, Access::EXEC_OK).is_ok()
}

/// Returns the first 256 bytes of a file; empty if it cannot be read.
pub(super) fn start_of(file: &Path) -> Vec<u8> {
    let mut start = Vec::new();
    let read = files::open(file).and_then(|file| file.take(256).read_to_end(&mut start));
    if read.is_err() {
        start.clear();
    }
    start
}

/// Returns the most recently modified of the files that exist.
pub(super) fn newest(paths: impl IntoIterator<Item = PathBuf>) -> Option<PathBuf> {
    let modified = |path: &PathBuf| {
        let metadata = path.metadata().ok().filter(std::fs::Metadata::is_file)?;
        Some(metadata.modified().unwrap_or(std::time::UNIX_EPOCH))
    };
    paths.into_iter().filter_map(|path| Some((modified(&path)?, path))).max().map(|(_, path)| path)
}
