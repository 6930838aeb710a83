//! Reading files and folders beside a manifest.

use crate::files::{MAX_TEXT, read_if_any};
use crate::model::matches;
use agentnative_contract::error::{Error, ErrorKind, Issue, Place, Result};
use agentnative_contract::spanned_toml::place;
use serde_json::{Map, Value as Json};
use std::ffi::OsStr;
use std::io;
use std::path::{Component, Path, PathBuf};
use walkdir::{DirEntry, WalkDir};

/// What is in a folder, sorted by name.
pub(super) fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut entries: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    entries.sort();
    entries
}

/// The folders below `root` that a pattern of a workspace names: `*` stands for any part of a name, `**` for any
/// number of folders.
pub(super) fn matching_folders(root: &Path, pattern: &str) -> Vec<PathBuf> {
    const MOST: usize = 10_000;
    let all_below = |folder: &PathBuf| -> Vec<PathBuf> {
        let entries = WalkDir::new(folder).sort_by_file_name().into_iter();
        let is_folder = |entry: &DirEntry| entry.file_type().is_dir();
        let folders = entries.filter_entry(is_folder).flatten().take(MOST);
        folders.map(DirEntry::into_path).collect()
    };
    let matching = |folder: &PathBuf, part: &str| -> Vec<PathBuf> {
        let is_called = |path: &PathBuf| {
            path.file_name().and_then(OsStr::to_str).is_some_and(|name| matches(part, name)) && path.is_dir()
        };
        entries(folder).into_iter().filter(is_called).collect()
    };
    let parts = pattern.split('/').filter(|part| !part.is_empty());
    parts.fold(vec![root.to_owned()], |found, part| match part {
        "**" => found.iter().flat_map(all_below).collect(),
        part if part.contains('*') => found.iter().flat_map(|folder| matching(folder, part)).collect(),
        part => found.iter().map(|folder| normal(&folder.join(part))).collect(),
    })
}

/// A path without `.` and `..`, as its words say: links are not looked at.
pub fn normal(path: &Path) -> PathBuf {
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

/// The text of a file; none when it is not there.
pub(super) fn text(path: &Path) -> Result<Option<String>> {
    let text = read_if_any(path, MAX_TEXT)
        .and_then(|bytes| bytes.map(|bytes| String::from_utf8(bytes).map_err(io::Error::other)).transpose());
    text.map_err(|error| Error::io(ErrorKind::Config, "read", path, &error))
}

/// A TOML file; none when it is not there.
pub(super) fn toml(path: &Path) -> Result<Option<toml::Table>> {
    let Some(text) = text(path)? else { return Ok(None) };
    text.parse().map(Some).map_err(|error: toml::de::Error| {
        let place = place(path, &text, error.span().unwrap_or_default().start);
        wrong(path, "TOML", place, error.message().to_owned())
    })
}

/// A JSON object; none when it is not there.
pub(super) fn json(path: &Path) -> Result<Option<Map<String, Json>>> {
    let Some(text) = text(path)? else { return Ok(None) };
    serde_json::from_str(&text).map(Some).map_err(|error| {
        let place = Place { file: path.to_owned(), line: error.line(), column: error.column() };
        wrong(path, "a JSON object", place, error.to_string())
    })
}

fn wrong(path: &Path, expected: &str, place: Place, message: String) -> Error {
    Error::config(format!("{} is not {expected}", path.display()))
        .issues(vec![Issue { place: Some(place), message }])
}

/// The value at these keys, one inside the other.
pub(super) fn at<'a>(table: &'a toml::Table, keys: &[&str]) -> Option<&'a toml::Value> {
    let (first, rest) = keys.split_first()?;
    rest.iter().try_fold(table.get(*first)?, |value, key| value.get(*key))
}
