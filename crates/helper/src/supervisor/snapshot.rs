//! Snapshots of the workspace and the home of a run, and what changed between two.

use super::dir::{Dir, permissions};
use super::folder::Folder;
use crate::sys::present;
use crate::{Area, Change, Changes, Entry, EntryKind};
use rustix::fs::{FileType, Stat};
use serde_json::Value;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io::{self, Read as _};
use std::path::PathBuf;
use xxhash_rust::xxh3::Xxh3;

/// A snapshot of more files, folders and links is not made.
const MOST_ENTRIES: usize = 20_000;
/// Nor one of more bytes.
const MOST_BYTES: u64 = 1 << 30;
/// So many of them are read as JSON, in the order of the paths.
const MOST_JSON: u64 = 4 << 20;

/// What is at each path of the workspace and of the home.
#[derive(Debug)]
pub(super) struct Snapshot(BTreeMap<(Area, PathBuf), Entry>);

/// What is left of the limits.
struct Left {
    entries: usize,
    bytes: u64,
    json: u64,
}

impl Snapshot {
    /// Looks at both folders as they are now.
    ///
    /// # Errors
    /// When there is too much to look at, or something cannot be read.
    pub fn of(folder: &Folder) -> io::Result<Self> {
        let mut entries = BTreeMap::new();
        let mut left = Left { entries: MOST_ENTRIES, bytes: MOST_BYTES, json: MOST_JSON };
        for area in [Area::Workspace, Area::Home, Area::Xdg] {
            // The target may have removed the folder itself, or put something in its place.
            let (parent, name) = (folder.dir(), OsStr::new(Folder::name_of(area)));
            let Some(found) = present(parent.stat(name))? else { continue };
            entries.insert((area, ".".into()), entry(parent, name, &found, &mut left)?);
            let Some(root) = folder.area(area).ok().flatten() else { continue };
            root.walk(&mut |folder, name, path, found| {
                left.entries = left.entries.checked_sub(1).ok_or_else(too_much)?;
                entries.insert((area, path.into()), entry(folder, name, found, &mut left)?);
                Ok(())
            })?;
        }
        Ok(Self(entries))
    }

    /// What became of it until `later`.
    pub fn changes(&self, later: &Self) -> Changes {
        let gone = self.0.keys().filter(|key| !later.0.contains_key(key));
        let mut differing: Vec<_> = later
            .0
            .iter()
            .filter(|(key, entry)| self.0.get(key) != Some(entry))
            .map(|(key, _)| key)
            .collect();
        differing.extend(gone);
        differing.sort_unstable();
        let change = |key: &&(Area, PathBuf)| Change {
            area: key.0,
            path: key.1.to_string_lossy().into_owned(),
            before: self.0.get(key).cloned(),
            after: later.0.get(key).cloned(),
        };
        Changes { count: differing.len(), list: differing.iter().take(Changes::MOST).map(change).collect() }
    }
}

fn too_much() -> io::Error {
    io::Error::other("there is too much to look at")
}

fn bare(kind: EntryKind, found: &Stat) -> Entry {
    let mode = permissions(found).bits();
    Entry { kind, mode, size: 0, digest: String::new(), shape: None }
}

fn entry(folder: &Dir, name: &OsStr, found: &Stat, left: &mut Left) -> io::Result<Entry> {
    match FileType::from_raw_mode(found.st_mode) {
        FileType::Symlink => {
            let digest = digest_of(folder.link_target(name)?.as_bytes());
            return Ok(Entry { mode: 0, digest, ..bare(EntryKind::Link, found) });
        }
        FileType::Directory => return Ok(bare(EntryKind::Folder, found)),
        FileType::RegularFile => {}
        _ => return Ok(bare(EntryKind::Other, found)),
    }
    let length = u64::try_from(found.st_size).unwrap_or(0);
    left.bytes = left.bytes.checked_sub(length).ok_or_else(too_much)?;
    let mut file = folder.read(name)?.take(length);
    let (mut hash, mut buffer, mut size) = (Xxh3::new(), vec![0; 1 << 16], 0);
    let is_text = left.json.checked_sub(length);
    left.json = is_text.unwrap_or(left.json);
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
    // A number alone is text that happens to be JSON.
    let document = serde_json::from_slice(&text).ok();
    let document = document.filter(|document: &Value| document.is_object() || document.is_array());
    let shape = document.map(|document| {
        let mut words = String::new();
        write_shape(&document, &mut words);
        digest_of(words.as_bytes())
    });
    Ok(Entry { size, digest: format!("{:032x}", hash.digest128()), shape, ..bare(EntryKind::File, found) })
}

fn digest_of(bytes: &[u8]) -> String {
    let mut hash = Xxh3::new();
    hash.update(bytes);
    format!("{:032x}", hash.digest128())
}

/// The document with a letter for each value, and its keys in order.
fn write_shape(value: &Value, words: &mut String) {
    match value {
        Value::Null => words.push('0'),
        Value::Bool(_) => words.push('b'),
        Value::Number(_) => words.push('n'),
        Value::String(_) => words.push('s'),
        Value::Array(items) => {
            words.push('[');
            items.iter().for_each(|item| write_shape(item, words));
            words.push(']');
        }
        Value::Object(members) => {
            let members: BTreeMap<&String, &Value> = members.iter().collect();
            words.push('{');
            for (key, member) in members {
                words.push_str(&format!("{key:?}"));
                write_shape(member, words);
            }
            words.push('}');
        }
    }
}
