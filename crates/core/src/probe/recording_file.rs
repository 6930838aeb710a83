//! Writes and reads the files of recordings.

use super::old_recording;
use super::recording::{OLDEST_VERSION, Recording, VERSION};
use crate::model::ProbeId;
use crate::run::{Observation, RecordingError, RecordingWriter, read_head, read_runs};
use agentnative_contract::contract_path;
use agentnative_contract::error::{Error, ErrorKind, Issue, Place, Result};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufReader, BufWriter};
use std::path::Path;

/// The part of a recording's head that all versions of the format contain: the version number.
#[derive(Deserialize)]
struct Version {
    recording: u32,
}

impl Recording {
    /// Writes the recording to `file`, which callers open before the runs. `path` is the path of the file, for
    /// messages.
    ///
    /// # Errors
    /// Of kind `Write` if writing fails.
    pub fn write(&self, file: File, path: &Path) -> Result<()> {
        let write = || -> std::io::Result<()> {
            let mut out = RecordingWriter::new(BufWriter::new(file), self)?;
            self.named_observations().try_for_each(|(name, observation)| {
                let mut observation = observation.clone();
                observation.key.probe = ProbeId::declared(name);
                out.push(observation)
            })?;
            out.finish()
        };
        write().map_err(|error| Error::io(ErrorKind::Write, "write", path, &error))
    }

    /// Reads the recording at `path`. It may come from an untrusted source, so no other file is opened. Large streams
    /// are stored in a temporary file.
    ///
    /// # Errors
    /// The errors of [`Error::data_file`]; of kind `Config`, with the line, if the file is not a recording or does not
    /// contain a contract.
    pub fn read(path: &Path) -> Result<Self> {
        let file = File::open(path).map_err(|error| Error::data_file(path, &error))?;
        let mut reader = BufReader::new(file);
        let head = read_head(&mut reader).map_err(|error| read_error(path, error))?;
        let malformed = |error| not_a_recording(path, &error);
        let Version { recording: version } = serde_json::from_slice(&head).map_err(malformed)?;
        if !(OLDEST_VERSION..=VERSION).contains(&version) {
            return Err(Error::config(format!(
                "{} is a recording of version {version}; expected version {OLDEST_VERSION} to {VERSION}",
                path.display()
            )));
        }
        let is_old = version < old_recording::FIRST_WITH_IDS;
        let mut recording: Self = match is_old {
            true => old_recording::parse_head(&head).map_err(malformed)?,
            false => serde_json::from_slice(&head).map_err(malformed)?,
        };
        let head_length = head.len();
        drop(head);
        if let Some((probe, name)) = recording.missing_contract() {
            let message = format!(
                "{} does not contain the contract {name} of the probe {probe}; a file outside the recording is not read",
                path.display()
            );
            return Err(Error::config(message).hint(
                "record again with this version: a recording of version 3 or later contains the contracts of its probes",
            ));
        }
        recording.observations = read_runs(reader, head_length).map_err(|error| read_error(path, error))?;
        if is_old {
            old_recording::complete_ids(&mut recording);
        }
        recording.resolve_probe_names();
        Ok(recording)
    }

    /// Replaces probe names in the observations by identities: in a file, an observation refers to its probe by name.
    /// Before version 4, two probes could share a name; an observation then counts for both.
    fn resolve_probe_names(&mut self) {
        let mut ids: BTreeMap<&str, Vec<&ProbeId>> = BTreeMap::new();
        for probe in &self.probes {
            ids.entry(&probe.name).or_default().push(&probe.id);
        }
        let resolve = |observation: Observation| {
            let ids = match &observation.key.probe {
                ProbeId::Declared(name) => ids.get(name.as_str()),
                _ => None,
            };
            ids.into_iter().flatten().map(move |id| {
                let mut observation = observation.clone();
                observation.key.probe = (*id).clone();
                observation
            })
        };
        let observations = std::mem::take(&mut self.observations);
        self.observations = observations.into_iter().flat_map(resolve).collect();
    }

    /// Returns the name of the first probe whose contract is neither bundled nor in the recording, and the name of this
    /// contract.
    fn missing_contract(&self) -> Option<(&str, &str)> {
        let named = self.probes.iter().flat_map(|probe| {
            probe.call.contract.names().map(|contract| (probe.name.as_str(), contract.as_str()))
        });
        let is_file = |name: &str| contract_path(Path::new(""), name).is_some();
        named.into_iter().find(|(_, name)| is_file(name) && !self.contracts.contains_key(*name))
    }
}

const HINT: &str = "record one with `agentnative check --record FILE`";

fn not_a_recording(path: &Path, error: &serde_json::Error) -> Error {
    let message = match error.is_data() {
        true => "expected a target with its settings and probes in the format of this version",
        false => "expected one JSON object, the header of a recording",
    };
    let issue = issue_at(path, 1, error.column(), message.to_owned());
    Error::config(format!("{} is not a recording", path.display())).issues(vec![issue]).hint(HINT)
}

fn read_error(path: &Path, error: RecordingError) -> Error {
    match error {
        RecordingError::Read(error) => Error::data_file(path, &error),
        RecordingError::Store(error) => {
            let folder = std::env::temp_dir();
            Error::io(ErrorKind::Write, "store the output of the runs in", &folder, &error)
        }
        RecordingError::Invalid { line, column, message } => {
            Error::config(format!("{} cannot be read as a recording", path.display()))
                .issues(vec![issue_at(path, line, column, message)])
                .hint(HINT)
        }
    }
}

fn issue_at(path: &Path, line: usize, column: usize, message: String) -> Issue {
    Issue { place: Some(Place { file: path.to_owned(), line, column }), message }
}
