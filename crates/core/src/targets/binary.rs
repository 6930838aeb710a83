//! A program that a manifest declares, and helpers for its files.

use crate::files;
use rustix::fs::{Access, access};
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// A program that a manifest declares, with its built file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Binary {
    /// Name of the program in the manifest.
    pub name: String,
    /// Name of the package that declares the program, if the project has several packages.
    pub package: Option<String>,
    /// Folder of the package that declares the program, with its source code.
    pub folder: PathBuf,
    /// Newest built file of the program; `None` if the program is not built.
    pub built: Option<PathBuf>,
    /// Interpreter that runs the built file; `None` if the file is executable by itself.
    pub interpreter: Option<&'static str>,
    /// Whether the package runs this program by default, such as by `default-run` in `Cargo.toml`.
    pub default: bool,
    /// Whether the program is a candidate if the user does not name one. Candidates are the programs of the package in
    /// the folder. If this package has none, they are those of the other packages that are built by default.
    pub own: bool,
    /// Command that builds the program, for messages.
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

/// Returns the most recently modified file of these paths; `None` if no file exists.
pub(super) fn newest(paths: impl IntoIterator<Item = PathBuf>) -> Option<PathBuf> {
    let modified = |path: &PathBuf| {
        let metadata = path.metadata().ok().filter(std::fs::Metadata::is_file)?;
        Some(metadata.modified().unwrap_or(std::time::UNIX_EPOCH))
    };
    paths.into_iter().filter_map(|path| Some((modified(&path)?, path))).max().map(|(_, path)| path)
}
