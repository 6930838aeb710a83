//! The seeds of fuzzing: files of the repository, read at run time, and the finds in `finds/`.

use crate::Target;
use std::fs;
use std::path::{Path, PathBuf};
use walkdir::WalkDir;

/// Maximum size of an input, in bytes. Nearly every bug of a longer input also has a short one.
pub const MAX_INPUT: usize = 32 << 10;

/// Separates the parts of an input.
const SEPARATOR: &[u8] = b"\n%%\n";

/// Returns the path of a file or folder of the repository.
#[must_use]
pub fn path(relative: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(relative)
}

/// Returns the files below these folders whose names have one of these suffixes, sorted by path.
#[must_use]
pub fn files(folders: &[&str], suffixes: &[&str]) -> Vec<PathBuf> {
    let entries = folders.iter().flat_map(|folder| WalkDir::new(path(folder)).sort_by_file_name());
    let entries = entries.filter_map(Result::ok).filter(|entry| entry.file_type().is_file());
    let has_suffix = |path: &PathBuf| suffixes.iter().any(|suffix| path.to_string_lossy().ends_with(suffix));
    entries.map(walkdir::DirEntry::into_path).filter(has_suffix).collect()
}

/// Returns the contents of these files.
#[must_use]
pub fn texts(folders: &[&str], suffixes: &[&str]) -> Vec<Vec<u8>> {
    files(folders, suffixes).iter().map(|path| read(path)).collect()
}

/// Reads a file up to the maximum size of an input.
#[must_use]
pub fn read(path: &Path) -> Vec<u8> {
    let mut bytes = fs::read(path).unwrap_or_default();
    bytes.truncate(MAX_INPUT);
    bytes
}

/// Returns the parts of an input.
pub fn parts(input: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = Some(input);
    std::iter::from_fn(move || {
        let bytes = rest?;
        let end = bytes.windows(SEPARATOR.len()).position(|window| window == SEPARATOR);
        rest = end.map(|end| &bytes[end + SEPARATOR.len()..]);
        Some(&bytes[..end.unwrap_or(bytes.len())])
    })
}

/// Joins parts to an input.
#[must_use]
pub fn join<T: AsRef<[u8]>>(parts: &[T]) -> Vec<u8> {
    parts.iter().map(AsRef::as_ref).collect::<Vec<_>>().join(SEPARATOR)
}

/// Returns the finds of a target with their paths.
#[must_use]
pub fn finds(target: &Target) -> Vec<(PathBuf, Vec<u8>)> {
    let paths = files(&[&format!("fuzz/finds/{}", target.name)], &[""]);
    paths.into_iter().map(|path| (path.clone(), read(&path))).collect()
}

/// Returns the seeds and finds of a target without empty ones, sorted and without duplicates.
#[must_use]
pub fn seeds(target: &Target) -> Vec<Vec<u8>> {
    let finds = finds(target).into_iter().map(|(_, bytes)| bytes);
    let mut seeds: Vec<Vec<u8>> = (target.seeds)().into_iter().chain(finds).collect();
    seeds.iter_mut().for_each(|seed| seed.truncate(MAX_INPUT));
    seeds.retain(|seed| !seed.is_empty());
    seeds.sort();
    seeds.dedup();
    seeds
}
