//! Snapshots of the files in the workspace and the home of a run, and their differences.

use super::dir::{Dir, permissions};
use super::folder::RunFolder;
use crate::sys::none_if_missing;
use crate::{Area, Changes, FileChange, FileEntry, FileKind};
use rustix::fs::{FileType, Stat};
use serde_json::Value;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io::{self, Read as _};
use std::path::PathBuf;
use xxhash_rust::xxh3::Xxh3;

/// Maximum number of files, folders and links in a snapshot.
const MAX_ENTRIES: usize = 20_000;
/// Maximum size of all files in a snapshot together, in bytes.
const MAX_BYTES: u64 = 1 << 30;
/// Maximum size of the files that are parsed as JSON, in bytes. Files are parsed in the order of their paths.
const MAX_JSON_BYTES: u64 = 4 << 20;

/// The state of each file, folder and link in the workspace and the home of a run, by area and path.
#[derive(Debug)]
pub(super) struct FileSnapshot(BTreeMap<(Area, PathBuf), FileEntry>);

/// How much a snapshot may still contain: number of entries, bytes of files, and bytes that are parsed as JSON.
struct Remaining {
    entries: usize,
    bytes: u64,
    json: u64,
}

impl FileSnapshot {
    /// Takes a snapshot of the workspace and the home of a run.
    ///
    /// # Errors
    /// If a limit is exceeded or an entry cannot be read.
    pub fn take(folder: &RunFolder) -> io::Result<Self> {
        let mut entries = BTreeMap::new();
        let mut remaining = Remaining { entries: MAX_ENTRIES, bytes: MAX_BYTES, json: MAX_JSON_BYTES };
        for area in [Area::Workspace, Area::Home, Area::Xdg] {
            // The target may have removed or replaced the folder itself.
            let (parent, name) = (folder.dir(), OsStr::new(RunFolder::area_name(area)));
            let Some(found) = none_if_missing(parent.stat(name))? else { continue };
            entries.insert((area, ".".into()), entry(parent, name, &found, &mut remaining)?);
            let Some(root) = folder.area(area).ok().flatten() else { continue };
            root.walk(&mut |folder, name, path, found| {
                remaining.entries = remaining.entries.checked_sub(1).ok_or_else(too_much)?;
                entries.insert((area, path.into()), entry(folder, name, found, &mut remaining)?);
                Ok(())
            })?;
        }
        Ok(Self(entries))
    }

    /// Returns the changes from this snapshot to a later one.
    pub fn changes(&self, later: &Self) -> Changes {
        let removed = self.0.keys().filter(|key| !later.0.contains_key(key));
        let mut differing: Vec<_> = later
            .0
            .iter()
            .filter(|(key, entry)| self.0.get(key) != Some(entry))
            .map(|(key, _)| key)
            .collect();
        differing.extend(removed);
        differing.sort_unstable();
        let change = |key: &&(Area, PathBuf)| FileChange {
            area: key.0,
            path: key.1.to_string_lossy().into_owned(),
            before: self.0.get(key).cloned(),
            after: later.0.get(key).cloned(),
        };
        Changes {
            count: differing.len(),
            list: differing.iter().take(Changes::MAX_LISTED).map(change).collect(),
        }
    }
}

fn too_much() -> io::Error {
    io::Error::other("the folder exceeds the limits of a snapshot")
}

fn entry_without_contents(kind: FileKind, found: &Stat) -> FileEntry {
    let mode = permissions(found).bits();
    FileEntry { kind, mode, size: 0, digest: String::new(), shape: None }
}

fn entry(folder: &Dir, name: &OsStr, found: &Stat, remaining: &mut Remaining) -> io::Result<FileEntry> {
    match FileType::from_raw_mode(found.st_mode) {
        FileType::Symlink => {
            let digest = digest_of(folder.link_target(name)?.as_bytes());
            return Ok(FileEntry { mode: 0, digest, ..entry_without_contents(FileKind::Link, found) });
        }
        FileType::Directory => return Ok(entry_without_contents(FileKind::Folder, found)),
        FileType::RegularFile => {}
        _ => return Ok(entry_without_contents(FileKind::Other, found)),
    }
    let length = u64::try_from(found.st_size).unwrap_or(0);
    remaining.bytes = remaining.bytes.checked_sub(length).ok_or_else(too_much)?;
    let mut file = folder.open_file(name)?.take(length);
    let (mut hash, mut buffer, mut size) = (Xxh3::new(), vec![0; 1 << 16], 0);
    let is_text = remaining.json.checked_sub(length);
    remaining.json = is_text.unwrap_or(remaining.json);
    let mut text = Vec::new();
    loop {
        let read = file.read(&mut buffer)?;
        if read == 0 {
            break;
        }
        hash.update(&buffer[..read]);
        size += read as u64;
        if is_text.is_some() {
            text.extend_from_slice(&buffer[..read]);
        }
    }
    // A single number is text that happens to be JSON.
    let document = serde_json::from_slice(&text).ok();
    let document = document.filter(|document: &Value| document.is_object() || document.is_array());
    let shape = document.map(|document| {
        let mut text = String::new();
        write_shape(&document, &mut text);
        digest_of(text.as_bytes())
    });
    Ok(FileEntry {
        size,
        digest: format!("{:032x}", hash.digest128()),
        shape,
        ..entry_without_contents(FileKind::File, found)
    })
}

fn digest_of(bytes: &[u8]) -> String {
    let mut hash = Xxh3::new();
    hash.update(bytes);
    format!("{:032x}", hash.digest128())
}

/// Writes the structure of a JSON value: sorted keys, and a letter for each other value, such as `{"id"n"name"s}`.
fn write_shape(value: &Value, text: &mut String) {
    match value {
        Value::Null => text.push('0'),
        Value::Bool(_) => text.push('b'),
        Value::Number(_) => text.push('n'),
        Value::String(_) => text.push('s'),
        Value::Array(items) => {
            text.push('[');
            items.iter().for_each(|item| write_shape(item, text));
            text.push(']');
        }
        Value::Object(members) => {
            let members: BTreeMap<&String, &Value> = members.iter().collect();
            text.push('{');
            for (key, member) in members {
                text.push_str(&format!("{key:?}"));
                write_shape(member, text);
            }
            text.push('}');
        }
    }
}
