//! A program that a manifest declares, and its files.

use crate::files;
use rustix::fs::{Access, access};
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// A program that a manifest declares.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Binary {
    /// The name that it is declared under.
    pub name: String,
    /// The package that declares it, where there are several.
    pub package: Option<String>,
    /// The folder of that package: the code that it is built from.
    pub folder: PathBuf,
    /// The newest of its built files.
    pub built: Option<PathBuf>,
    /// The program that runs the built file, if it does not run by itself.
    pub interpreter: Option<&'static str>,
    /// It is the one that its package runs by default.
    pub default: bool,
    /// It belongs to the folder's own package, or all packages are alike.
    pub own: bool,
    /// The command that builds it, for people.
    pub build: String,
}

pub(super) fn is_executable(file: &Path) -> bool {
    access(file, Access::EXEC_OK).is_ok()
}

/// The first bytes of a file; empty if it cannot be read.
pub(super) fn start_of(file: &Path) -> Vec<u8> {
    let mut start = Vec::new();
    let read = files::open(file).and_then(|file| file.take(256).read_to_end(&mut start));
    if read.is_err() {
        start.clear();
    }
    start
}

/// The newest of the files that exist.
pub(super) fn newest(paths: impl IntoIterator<Item = PathBuf>) -> Option<PathBuf> {
    let changed = |path: &PathBuf| {
        let metadata = path.metadata().ok().filter(std::fs::Metadata::is_file)?;
        Some(metadata.modified().unwrap_or(std::time::UNIX_EPOCH))
    };
    paths.into_iter().filter_map(|path| Some((changed(&path)?, path))).max().map(|(_, path)| path)
}
