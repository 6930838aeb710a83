//! Locks. A lock is a folder of text files that describe the accepted outputs of a target, for review in version
//! control.
//!
//! `agentnative.lock/TARGET/` contains `lock.json` (the target and its version), `interface.json` (its commands and
//! options) and one file per probe and format. The
//! contents are sorted and do not vary from run to run: they contain no times, identifiers or paths.

mod carry_over;
mod event_order;
mod infer_output;

pub(crate) use event_order::{EventOrder, EventOrders};
pub use infer_output::OutputInference;

use crate::interface::model::ProgramInterface;
use agentnative_contract::error::{Error, ErrorKind, Issue, Place, Result};
use agentnative_contract::{OutputSpec, read_limited};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Name of the folder that contains the locks of all targets. It is in the folder of the configuration.
pub const LOCK_FOLDER: &str = "agentnative.lock";
/// Name of the file in a lock that contains the target and its version.
const HEADER_FILE: &str = "lock.json";
/// Name of the file in a lock that contains the interface of the target.
const INTERFACE_FILE: &str = "interface.json";
/// Version of the format of the lock files.
const VERSION: u32 = 1;

/// A lock: the accepted interface and outputs of a target.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lock {
    /// Name of the target.
    pub target: String,
    /// Version of the target, as it prints it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// One output specification per probe and format, sorted by both.
    pub promises: Vec<OutputSpec>,
    /// The interface of the target; `None` if it has no help pages or they were not read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interface: Option<ProgramInterface>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct LockHeader {
    lock: u32,
    target: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    version: Option<String>,
}

/// Returns the folder of the lock of a target, `agentnative.lock/TARGET` in `root`, the folder of the configuration.
pub fn lock_path(root: &Path, target: &str) -> PathBuf {
    root.join(LOCK_FOLDER).join(file_name(target))
}

/// Encodes a name as a file name: characters other than letters, digits, `_`, `-` and inner dots become `%XX`.
fn file_name(name: &str) -> String {
    let is_unescaped = |index: usize, byte: u8| {
        byte.is_ascii_alphanumeric() || b"_-".contains(&byte) || byte == b'.' && index > 0
    };
    name.bytes()
        .enumerate()
        .map(
            |(index, byte)| {
                if is_unescaped(index, byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }
            },
        )
        .collect()
}

impl Lock {
    /// Creates a lock and sorts its output specifications.
    pub fn new(target: &str, version: Option<String>, mut specs: Vec<OutputSpec>) -> Self {
        specs.sort_by(|a, b| (&a.probe, a.format).cmp(&(&b.probe, b.format)));
        Self { target: target.to_owned(), version, promises: specs, interface: None }
    }

    /// Returns the output specifications in the form that [`compare`](crate::compare) requires: the order of event
    /// types is its transitive closure.
    pub fn comparable(&self) -> Vec<OutputSpec> {
        let mut specs = self.promises.clone();
        for events in specs.iter_mut().filter_map(|spec| spec.events.as_mut()) {
            events.order = event_order::transitive_closure(&events.order);
        }
        specs
    }

    /// Returns the output specifications as [`Lock::comparable`] does, for a comparison with an older lock. Guarantees
    /// of the older lock are kept where the new runs have no data, such as an empty array.
    pub fn comparable_with(&self, old: &Self) -> Vec<OutputSpec> {
        let find_old = |new: &OutputSpec| {
            old.promises.iter().find(|old| old.probe == new.probe && old.format == new.format)
        };
        let specs = self.comparable().into_iter();
        specs
            .map(|new| match find_old(&new) {
                Some(old) => carry_over::carry_over(new, old),
                None => new,
            })
            .collect()
    }

    /// Returns the contents of the files of the lock, by file name. `json` formats a value as text.
    ///
    /// # Errors
    /// Fails if `json` fails.
    pub fn files(
        &self,
        json: impl Fn(&serde_json::Value) -> Result<String>,
    ) -> Result<BTreeMap<String, String>> {
        let value = |value: serde_json::Result<serde_json::Value>| {
            let value = value.map_err(|error| Error::general(format!("cannot write a lock: {error}")))?;
            json(&value)
        };
        let header = LockHeader { lock: VERSION, target: self.target.clone(), version: self.version.clone() };
        let mut files = BTreeMap::from([(HEADER_FILE.to_owned(), value(serde_json::to_value(header))?)]);
        if let Some(interface) = &self.interface {
            files.insert(INTERFACE_FILE.to_owned(), value(serde_json::to_value(interface))?);
        }
        for spec in &self.promises {
            let probe = file_name(spec.probe.as_deref().unwrap_or_default());
            let format = spec.format.map_or("any", |format| format.name());
            files.insert(format!("{probe}.{format}.json"), value(serde_json::to_value(spec))?);
        }
        Ok(files)
    }

    /// Returns the sorted paths of all `.json` files in a folder that contains a lock.
    ///
    /// # Errors
    /// A configuration or permission error if the folder cannot be read.
    pub fn files_in(folder: &Path) -> Result<Vec<PathBuf>> {
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

    /// Returns whether a folder is a lock, that is, contains `lock.json`.
    pub fn exists_in(folder: &Path) -> bool {
        folder.join(HEADER_FILE).is_file()
    }

    /// Reads the lock in a folder. If the folder is no lock, reads the only lock in its subfolders.
    ///
    /// # Errors
    /// A configuration error if there is no lock, several locks, or an invalid file. For an invalid file, it has the
    /// position.
    pub fn read(folder: &Path) -> Result<Self> {
        if !Self::exists_in(folder) {
            return Self::read(&find_single_lock(folder)?);
        }
        let header: LockHeader = parse_file(&folder.join(HEADER_FILE))?;
        if header.lock != VERSION {
            let message =
                format!("{} is a lock of version {}; expected {VERSION}", folder.display(), header.lock);
            return Err(Error::config(message));
        }
        let (mut specs, mut interface) = (Vec::new(), None);
        for path in Self::files_in(folder)?.iter().filter(|path| !path.ends_with(HEADER_FILE)) {
            if path.ends_with(INTERFACE_FILE) {
                interface = Some(parse_file(path)?);
            } else {
                specs.push(parse_file(path)?);
            }
        }
        Ok(Self { interface, ..Self::new(&header.target, header.version, specs) })
    }
}

fn unreadable(path: &Path) -> impl Fn(std::io::Error) -> Error {
    move |error| Error::io(ErrorKind::Config, "read", path, &error)
}

/// Returns the path of the only lock in the subfolders of a folder. Fails if there is none or more than one.
fn find_single_lock(folder: &Path) -> Result<PathBuf> {
    let entries = fs::read_dir(folder).map_err(unreadable(folder))?;
    let mut locks: Vec<PathBuf> =
        entries.filter_map(|entry| Some(entry.ok()?.path())).filter(|path| Lock::exists_in(path)).collect();
    locks.sort();
    match locks.as_slice() {
        [only] => Ok(only.clone()),
        [] => Err(Error::config(format!("{} contains no lock (no {HEADER_FILE})", folder.display()))),
        several => {
            let names: Vec<String> = several.iter().map(|path| path.display().to_string()).collect();
            Err(Error::config(format!("{} contains the locks of several targets", folder.display()))
                .hint(format!("choose one: {}", names.join(", "))))
        }
    }
}

pub(crate) fn parse_file<T: serde::de::DeserializeOwned>(path: &Path) -> Result<T> {
    serde_json::from_slice(&read_limited(path)?).map_err(|error| {
        let place = Place { file: path.to_owned(), line: error.line(), column: error.column() };
        let message = error.to_string();
        let message = message.split(" at line ").next().unwrap_or_default().to_owned();
        let issue = Issue { place: Some(place), message };
        Error::config("a file of the lock is invalid").issues(vec![issue])
    })
}
