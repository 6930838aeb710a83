//! Lists the files of a folder, whether they are source code or not.

use super::exclusions::{VENDORED, patterns, walker};
use ignore::DirEntry;
use std::path::{Path, PathBuf};

/// Returns the files under a folder, whether they are code or not. Ignored files, hidden files and foreign code are
/// omitted.
pub fn project_files(folder: &Path) -> impl Iterator<Item = PathBuf> {
    let vendored = patterns(folder, VENDORED);
    let is_folder = |entry: &DirEntry| entry.file_type().is_some_and(|kind| kind.is_dir());
    let enter = move |entry: &DirEntry| {
        !(entry.depth() > 0 && is_folder(entry) && vendored.matched(entry.path(), true).is_ignore())
    };
    let entries = walker(folder, enter).build().filter_map(Result::ok);
    let is_file = |entry: &DirEntry| entry.file_type().is_some_and(|kind| kind.is_file());
    entries.filter(is_file).map(DirEntry::into_path)
}

/// True if a file is source code according to its name, such as `main.rs`.
#[cfg(feature = "source")]
pub fn is_code(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    super::language::by_name(&name).is_some()
}

/// Always true: this build cannot recognize source code, so any file may be source code.
#[cfg(not(feature = "source"))]
pub fn is_code(_: &Path) -> bool {
    true
}
