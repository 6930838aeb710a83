//! Locks: what a target's probes promised when it was last accepted, in a folder to be reviewed.
//!
//! `agentnative.lock/TARGET/` holds `lock.json` (the target and its version) and a file for each probe and
//! format. All is sorted, and nothing in it changes from run to run: no times, identifiers or paths.

mod carry_over;
mod event_order;
mod infer_output;

pub(crate) use event_order::{EventOrder, EventOrders};
pub use infer_output::Learner;

use agentnative_contract::error::{Error, ErrorKind, Issue, Place, Result};
use agentnative_contract::{OutputSpec, read_limited};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The folder of locks, beside a configuration.
pub const LOCK_FOLDER: &str = "agentnative.lock";
/// The file that names the target.
const HEAD: &str = "lock.json";
/// The only version of the format so far.
const VERSION: u32 = 1;

/// What the probes of a target promise.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lock {
    /// Name of the target.
    pub target: String,
    /// The version that the target prints.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// A promise for each probe and format, sorted.
    pub promises: Vec<OutputSpec>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Head {
    lock: u32,
    target: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    version: Option<String>,
}

/// Where the lock of a target is, beside a configuration in `root`.
pub fn lock_path(root: &Path, target: &str) -> PathBuf {
    root.join(LOCK_FOLDER).join(file_name(target))
}

/// A name as a file has it: other characters than letters, digits, `_`, `-` and inner dots are spelt `%XX`.
fn file_name(name: &str) -> String {
    let plain =
        |at: usize, byte: u8| byte.is_ascii_alphanumeric() || b"_-".contains(&byte) || byte == b'.' && at > 0;
    name.bytes()
        .enumerate()
        .map(|(at, byte)| if plain(at, byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}

impl Lock {
    /// A lock of these promises.
    pub fn new(target: &str, version: Option<String>, mut promises: Vec<OutputSpec>) -> Self {
        promises.sort_by(|a, b| (&a.probe, a.format).cmp(&(&b.probe, b.format)));
        Self { target: target.to_owned(), version, promises }
    }

    /// The promises as `contract::diff` compares them: what follows from the order of events is spelt out.
    pub fn compared(&self) -> Vec<OutputSpec> {
        let mut promises = self.promises.clone();
        for events in promises.iter_mut().filter_map(|promise| promise.events.as_mut()) {
            events.order = event_order::closed(&events.order);
        }
        promises
    }

    /// The promises as [`Lock::compared`] has them, to be compared with those of an older lock: where
    /// nothing was seen that could tell, the older promise stands.
    pub fn compared_with(&self, old: &Self) -> Vec<OutputSpec> {
        let same = |new: &OutputSpec| {
            old.promises.iter().find(|old| old.probe == new.probe && old.format == new.format)
        };
        let promises = self.compared().into_iter();
        promises
            .map(|new| match same(&new) {
                Some(old) => carry_over::carry_over(new, old),
                None => new,
            })
            .collect()
    }

    /// The files of the lock: name and text, sorted. `json` writes a value for people to read.
    ///
    /// # Errors
    /// Those of `json`.
    pub fn files(
        &self,
        json: impl Fn(&serde_json::Value) -> Result<String>,
    ) -> Result<BTreeMap<String, String>> {
        let value = |value: serde_json::Result<serde_json::Value>| {
            let value = value.map_err(|error| Error::general(format!("cannot write a lock: {error}")))?;
            json(&value)
        };
        let head = Head { lock: VERSION, target: self.target.clone(), version: self.version.clone() };
        let mut files = BTreeMap::from([(HEAD.to_owned(), value(serde_json::to_value(head))?)]);
        for promise in &self.promises {
            let probe = file_name(promise.probe.as_deref().unwrap_or_default());
            let format = promise.format.map_or("any", |format| format.name());
            files.insert(format!("{probe}.{format}.json"), value(serde_json::to_value(promise))?);
        }
        Ok(files)
    }

    /// The files of the lock in a folder, sorted.
    ///
    /// # Errors
    /// Configuration or permission, when the folder cannot be read.
    pub fn listed(folder: &Path) -> Result<Vec<PathBuf>> {
        let mut paths = Vec::new();
        for entry in fs::read_dir(folder).map_err(unreadable(folder))? {
            let path = entry.map_err(unreadable(folder))?.path();
            if path.extension().is_some_and(|extension| extension == "json") {
                paths.push(path);
            }
        }
        paths.sort();
        Ok(paths)
    }

    /// Whether a folder holds the lock of a target.
    pub fn is_at(folder: &Path) -> bool {
        folder.join(HEAD).is_file()
    }

    /// Reads the lock in a folder, or the only one in the folders of a folder of locks.
    ///
    /// # Errors
    /// Configuration, with the place, when there is none or it is wrong.
    pub fn read(folder: &Path) -> Result<Self> {
        if !Self::is_at(folder) {
            return Self::read(&only(folder)?);
        }
        let head: Head = parsed(&folder.join(HEAD))?;
        if head.lock != VERSION {
            let message =
                format!("{} is a lock of version {}; expected {VERSION}", folder.display(), head.lock);
            return Err(Error::config(message));
        }
        let mut promises = Vec::new();
        for path in Self::listed(folder)?.iter().filter(|path| !path.ends_with(HEAD)) {
            promises.push(parsed(path)?);
        }
        Ok(Self::new(&head.target, head.version, promises))
    }
}

fn unreadable(path: &Path) -> impl Fn(std::io::Error) -> Error {
    move |error| Error::io(ErrorKind::Config, "read", path, &error)
}

/// The only lock in a folder of locks.
fn only(folder: &Path) -> Result<PathBuf> {
    let entries = fs::read_dir(folder).map_err(unreadable(folder))?;
    let mut locks: Vec<PathBuf> =
        entries.filter_map(|entry| Some(entry.ok()?.path())).filter(|path| Lock::is_at(path)).collect();
    locks.sort();
    match locks.as_slice() {
        [only] => Ok(only.clone()),
        [] => Err(Error::config(format!("{} contains no lock (no {HEAD})", folder.display()))),
        several => {
            let names: Vec<String> = several.iter().map(|path| path.display().to_string()).collect();
            Err(Error::config(format!("{} contains the locks of several targets", folder.display()))
                .hint(format!("choose one: {}", names.join(", "))))
        }
    }
}

fn parsed<T: serde::de::DeserializeOwned>(path: &Path) -> Result<T> {
    serde_json::from_slice(&read_limited(path)?).map_err(|error| {
        let place = Place { file: path.to_owned(), line: error.line(), column: error.column() };
        let message = error.to_string();
        let message = message.split(" at line ").next().unwrap_or_default().to_owned();
        let issue = Issue { place: Some(place), message };
        Error::config("a file of the lock is invalid").issues(vec![issue])
    })
}
