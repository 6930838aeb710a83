//! Writing and reading recordings.

use super::old_recording;
use super::recording::{OLDEST, Recording, VERSION};
use crate::model::ProbeId;
use crate::run::{Observation, RecordFault, RecordReader, RecordWriter};
use agentnative_contract::contract_path;
use agentnative_contract::error::{Error, ErrorKind, Issue, Place, Result};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::BufWriter;
use std::path::Path;

/// The part of a recording's head that every version has.
#[derive(Deserialize)]
struct Version {
    recording: u32,
}

impl Recording {
    /// Writes the recording to a file that was opened before the runs.
    ///
    /// # Errors
    /// Write, when the file cannot be written.
    pub fn write(&self, file: File, path: &Path) -> Result<()> {
        let write = || -> std::io::Result<()> {
            let mut out = RecordWriter::new(BufWriter::new(file), self)?;
            self.named_observations().try_for_each(|(name, seen)| {
                let mut seen = seen.clone();
                seen.key.probe = ProbeId::declared(name);
                out.push(seen)
            })?;
            out.finish()
        };
        write().map_err(|error| Error::io(ErrorKind::Write, "write", path, &error))
    }

    /// Reads a recording. It may come from anybody: no file is opened but this one, and large streams are kept in a
    /// temporary file.
    ///
    /// # Errors
    /// Those of [`Error::data`]; configuration, with the line, when it is not a recording, or lacks a contract.
    pub fn read(path: &Path) -> Result<Self> {
        let file = File::open(path).map_err(|error| Error::data(path, &error))?;
        let mut reader = RecordReader::new(file);
        let head = reader.head().map_err(|fault| unreadable(path, fault))?;
        let malformed = |error| not_a_recording(path, &error);
        let Version { recording: version } = serde_json::from_slice(&head).map_err(malformed)?;
        if !(OLDEST..=VERSION).contains(&version) {
            return Err(Error::config(format!(
                "{} is a recording of version {version}; expected version {OLDEST} to {VERSION}",
                path.display()
            )));
        }
        let old = version < old_recording::FIRST_WITH_IDS;
        let mut recording: Self = match old {
            true => old_recording::head(&head).map_err(malformed)?,
            false => serde_json::from_slice(&head).map_err(malformed)?,
        };
        drop(head);
        if let Some((probe, name)) = recording.lacking_contract() {
            let message = format!(
                "{} does not contain the contract {name} of the probe {probe}; a file outside the recording is not read",
                path.display()
            );
            return Err(Error::config(message).hint(
                "record again with this version: a recording of version 3 or later contains the contracts of its probes",
            ));
        }
        while let Some(seen) = reader.run().map_err(|fault| unreadable(path, fault))? {
            recording.observations.push(seen);
        }
        if old {
            old_recording::identify(&mut recording);
        }
        recording.identify_runs();
        Ok(recording)
    }

    /// Replaces the names of probes, by which a file refers to them from its runs, by their identities. Before version 4,
    /// two probes could share a name; a run then counts for both.
    fn identify_runs(&mut self) {
        let mut ids: BTreeMap<&str, Vec<&ProbeId>> = BTreeMap::new();
        for probe in &self.probes {
            ids.entry(&probe.name).or_default().push(&probe.id);
        }
        let identified = |seen: Observation| {
            let named = match &seen.key.probe {
                ProbeId::Declared(name) => ids.get(name.as_str()),
                _ => None,
            };
            named.into_iter().flatten().map(move |id| {
                let mut seen = seen.clone();
                seen.key.probe = (*id).clone();
                seen
            })
        };
        let read = std::mem::take(&mut self.observations);
        self.observations = read.into_iter().flat_map(identified).collect();
    }

    /// The first contract that is neither bundled nor in the recording, and the probe that names it.
    fn lacking_contract(&self) -> Option<(&str, &str)> {
        let named = self.probes.iter().flat_map(|probe| {
            probe.call.contract.names().map(|contract| (probe.name.as_str(), contract.as_str()))
        });
        let is_file = |name: &str| contract_path(Path::new(""), name).is_some();
        named.into_iter().find(|(_, name)| is_file(name) && !self.contracts.contains_key(*name))
    }
}

/// What makes a recording.
const HINT: &str = "`agentnative check --record FILE` writes a recording";

fn not_a_recording(path: &Path, error: &serde_json::Error) -> Error {
    let message = match error.is_data() {
        true => "expected a target with its settings and probes in the format of this version",
        false => "expected one JSON object, the header of a recording",
    };
    let issue = at(path, 1, error.column(), message.to_owned());
    Error::config(format!("{} is not a recording", path.display())).issues(vec![issue]).hint(HINT)
}

fn unreadable(path: &Path, fault: RecordFault) -> Error {
    match fault {
        RecordFault::Read(error) => Error::data(path, &error),
        RecordFault::Store(error) => {
            let folder = std::env::temp_dir();
            Error::io(ErrorKind::Write, "store the output of the runs in", &folder, &error)
        }
        RecordFault::Wrong { line, column, message } => {
            Error::config(format!("{} cannot be read as a recording", path.display()))
                .issues(vec![at(path, line, column, message)])
                .hint(HINT)
        }
    }
}

fn at(path: &Path, line: usize, column: usize, message: String) -> Issue {
    Issue { place: Some(Place { file: path.to_owned(), line, column }), message }
}
