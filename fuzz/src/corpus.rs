//! What fuzzing begins with: files of the repository, read when they are needed, and the finds in this folder.

use crate::Target;
use std::fs;
use std::path::{Path, PathBuf};
use walkdir::WalkDir;

/// Longer inputs are cut: what is wrong with a long one is nearly always wrong with a short one.
pub const LONGEST: usize = 32 << 10;

/// Stands between the parts of an input that has several.
const SEPARATOR: &[u8] = b"\n%%\n";

/// A path in the repository.
#[must_use]
pub fn path(inside: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(inside)
}

/// The files below these folders whose names end in one of these, in the order of their paths.
#[must_use]
pub fn files(folders: &[&str], ends: &[&str]) -> Vec<PathBuf> {
    let all = folders.iter().flat_map(|folder| WalkDir::new(path(folder)).sort_by_file_name());
    let all = all.filter_map(Result::ok).filter(|entry| entry.file_type().is_file());
    let ends_so = |path: &PathBuf| ends.iter().any(|end| path.to_string_lossy().ends_with(end));
    all.map(walkdir::DirEntry::into_path).filter(ends_so).collect()
}

/// What is in these files.
#[must_use]
pub fn texts(folders: &[&str], ends: &[&str]) -> Vec<Vec<u8>> {
    files(folders, ends).iter().map(|path| read(path)).collect()
}

/// What is in a file, as far as an input goes.
#[must_use]
pub fn read(path: &Path) -> Vec<u8> {
    let mut bytes = fs::read(path).unwrap_or_default();
    bytes.truncate(LONGEST);
    bytes
}

/// The parts of an input.
pub fn parts(input: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = Some(input);
    std::iter::from_fn(move || {
        let bytes = rest?;
        let at = bytes.windows(SEPARATOR.len()).position(|window| window == SEPARATOR);
        rest = at.map(|at| &bytes[at + SEPARATOR.len()..]);
        Some(&bytes[..at.unwrap_or(bytes.len())])
    })
}

/// An input of these parts.
#[must_use]
pub fn join<T: AsRef<[u8]>>(parts: &[T]) -> Vec<u8> {
    parts.iter().map(AsRef::as_ref).collect::<Vec<_>>().join(SEPARATOR)
}

/// The finds of a target, with their paths.
#[must_use]
pub fn finds(target: &Target) -> Vec<(PathBuf, Vec<u8>)> {
    let found = files(&[&format!("fuzz/finds/{}", target.name)], &[""]);
    found.into_iter().map(|path| (path.clone(), read(&path))).collect()
}

/// All that the inputs of a target are made of; never nothing.
#[must_use]
pub fn seeds(target: &Target) -> Vec<Vec<u8>> {
    let finds = finds(target).into_iter().map(|(_, bytes)| bytes);
    let mut all: Vec<Vec<u8>> = (target.seeds)().into_iter().chain(finds).collect();
    all.iter_mut().for_each(|seed| seed.truncate(LONGEST));
    all.retain(|seed| !seed.is_empty());
    all.sort();
    all.dedup();
    all
}
