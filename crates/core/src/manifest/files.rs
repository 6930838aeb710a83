//! Reads manifests and the folders around them.

use crate::files::{MAX_TEXT_BYTES, read_if_exists};
use crate::model::matches_pattern;
use agentnative_contract::error::{Error, ErrorKind, Issue, Place, Result};
use agentnative_contract::spanned_toml::place;
use serde_json::{Map, Value as Json};
use std::ffi::OsStr;
use std::io;
use std::path::{Component, Path, PathBuf};
use walkdir::{DirEntry, WalkDir};

/// Returns the paths of a folder's entries, sorted by name; empty if it cannot be read.
pub(super) fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut entries: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    entries.sort();
    entries
}

/// Returns the folders below `root` that match a workspace pattern: `*` matches any part of a name, `**` any number of
/// folders.
pub(super) fn matching_folders(root: &Path, pattern: &str) -> Vec<PathBuf> {
    const MAX_FOLDERS: usize = 10_000;
    let all_below = |folder: &PathBuf| -> Vec<PathBuf> {
        let entries = WalkDir::new(folder).sort_by_file_name().into_iter();
        let is_folder = |entry: &DirEntry| entry.file_type().is_dir();
        let folders = entries.filter_entry(is_folder).flatten().take(MAX_FOLDERS);
        folders.map(DirEntry::into_path).collect()
    };
    let matching = |folder: &PathBuf, part: &str| -> Vec<PathBuf> {
        let is_called = |path: &PathBuf| {
            path.file_name().and_then(OsStr::to_str).is_some_and(|name| matches_pattern(part, name))
                && path.is_dir()
        };
        entries(folder).into_iter().filter(is_called).collect()
    };
    let parts = pattern.split('/').filter(|part| !part.is_empty());
    parts.fold(vec![root.to_owned()], |found, part| match part {
        "**" => found.iter().flat_map(all_below).collect(),
        part if part.contains('*') => found.iter().flat_map(|folder| matching(folder, part)).collect(),
        part => found.iter().map(|folder| normalize_lexically(&folder.join(part))).collect(),
    })
}

/// Removes `.` and `..` from a path lexically, without resolving symbolic links.
pub fn normalize_lexically(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(normal.pop()),
            Component::CurDir => {}
            part => normal.push(part),
        }
    }
    normal
}

/// Reads a UTF-8 file; returns `None` if it does not exist.
pub(super) fn text(path: &Path) -> Result<Option<String>> {
    let text = read_if_exists(path, MAX_TEXT_BYTES)
        .and_then(|bytes| bytes.map(|bytes| String::from_utf8(bytes).map_err(io::Error::other)).transpose());
    text.map_err(|error| Error::io(ErrorKind::Config, "read", path, &error))
}

/// Reads a TOML file; returns `None` if it does not exist.
pub(super) fn toml(path: &Path) -> Result<Option<toml::Table>> {
    let Some(text) = text(path)? else { return Ok(None) };
    text.parse().map(Some).map_err(|error: toml::de::Error| {
        let place = place(path, &text, error.span().unwrap_or_default().start);
        syntax_error(path, "TOML", place, error.message().to_owned())
    })
}

/// Reads a JSON object; returns `None` if the file does not exist.
pub(super) fn json(path: &Path) -> Result<Option<Map<String, Json>>> {
    let Some(text) = text(path)? else { return Ok(None) };
    serde_json::from_str(&text).map(Some).map_err(|error| {
        let place = Place { file: path.to_owned(), line: error.line(), column: error.column() };
        syntax_error(path, "a JSON object", place, error.to_string())
    })
}

fn syntax_error(path: &Path, expected: &str, place: Place, message: String) -> Error {
    Error::config(format!("{} is not {expected}", path.display()))
        .issues(vec![Issue { place: Some(place), message }])
}

/// Returns the value at a path of nested keys, such as `package.name`.
pub(super) fn value_at<'a>(table: &'a toml::Table, keys: &[&str]) -> Option<&'a toml::Value> {
    let (first, rest) = keys.split_first()?;
    rest.iter().try_fold(table.get(*first)?, |value, key| value.get(*key))
}
