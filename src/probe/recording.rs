//! Everything that a verdict rests on, in one file: `check --record` writes it, `--replay` judges it
//! again.
//!
//! JSON lines: a head with the target, its profile, the probes and their contracts; then one observation a line.
//! Nothing in it names a file that is read.

use super::{Probe, TargetProfile, old_recording};
use crate::config::{CheckConfig, Waiver};
use crate::model::{ArgumentParser, HelpLanguage, ProbeId, Toolkit};
use crate::report::{ConfigInfo, TargetInfo};
use crate::run::{Confinement, Observation, RecordFault, RecordReader, RecordWriter, RunKey};
use crate::source::{Built, Document, Facts, Project};
use agentnative_contract::error::{Error, ErrorKind, Issue, Place, Result};
use agentnative_contract::lock::Lock;
use agentnative_contract::{ContractFiles, contract_path};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::BufWriter;
use std::path::Path;

/// The version of the format that is written. Since version 3, a recording contains its contracts, and a large stream
/// once; since version 4, the identities of its probes.
const VERSION: u32 = 4;
/// The oldest that is read: what it does not tell is judged unverified.
const OLDEST: u32 = 1;

/// The part of a recording's head that every version has.
#[derive(Deserialize)]
struct Version {
    recording: u32,
}

/// What a recording holds.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Recording {
    /// Version of the format.
    recording: u32,
    /// When the runs were made: the start, RFC 3339, UTC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<String>,
    /// The end of the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<String>,
    /// What was run.
    pub target: TargetInfo,
    /// What is known of its command line.
    #[serde(rename = "promises")]
    pub profile: TargetProfile,
    /// The probes.
    pub probes: Vec<Probe>,
    /// The contracts that the probes name, but for bundled ones.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub contracts: BTreeMap<String, ContractFiles>,
    /// A signal interrupted the runs.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub interrupted: bool,
    /// How many runs were planned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub planned: Option<usize>,
    /// The language that the target is written in, where that can be told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub language: Option<HelpLanguage>,
    /// The parser of its arguments, where a manifest names it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parser: Option<ArgumentParser>,
    /// Only plain runs were made.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub fast: bool,
    /// No run was to be made: the selected layers run nothing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub no_runs: bool,
    /// The name of the file that holds the configuration; none without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config: Option<String>,
    /// The digest of that file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// Options of the command line that add to the configuration or override it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub overrides: Vec<String>,
    /// What the configuration says of the checks.
    #[serde(default, skip_serializing_if = "is_default")]
    pub check: CheckConfig,
    /// The faults that were known and accepted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waivers: Vec<Waiver>,
    /// How the runs were confined that were to be, in the weakest way of all; none without runs, or in a recording that
    /// is older than this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confinement: Option<Confinement>,
    /// What else the reader must know of the runs, such as limits that were not enforced.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// What was found in the code; none when it was not looked at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub facts: Option<Facts>,
    /// When the program was built and its code changed; none where that is not known, and where the
    /// configuration has it built first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub built: Option<Built>,
    /// Where the configuration says that the code prints, relative to the package of the code.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub output_modules: Vec<String>,
    /// The files around the code; none when they were not looked at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub around: Option<Project>,
    /// The page of its manual as plain text; none when it has none of its own, or it was not looked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub manual: Option<Document>,
    /// What bash says of the completion script for it; none when it accepts that, or was not asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completion_error: Option<String>,
    /// What the target's probes promised when that was last accepted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lock: Option<Lock>,
    /// What the runs gave: a line each, after that of all else.
    #[serde(skip)]
    pub observations: Vec<Observation>,
}

impl Recording {
    /// What the target is written with.
    pub const fn toolkit(&self) -> Toolkit {
        Toolkit { language: self.language, parser: self.parser }
    }

    /// Sets what the target is written with.
    pub const fn set_toolkit(&mut self, toolkit: Toolkit) {
        (self.language, self.parser) = (toolkit.language, toolkit.parser);
    }

    /// Whether a run may have changed files outside its own folders.
    pub fn could_write(&self) -> bool {
        let is_confined = matches!(self.confinement, Some(Confinement::Namespaces | Confinement::Landlock));
        !self.observations.is_empty() && (!is_confined || self.probes.iter().any(|probe| probe.writes))
    }

    /// A recording of no runs.
    pub fn new(target: TargetInfo, profile: TargetProfile) -> Self {
        Self {
            recording: VERSION,
            time: None,
            ended: None,
            target,
            profile,
            probes: Vec::new(),
            contracts: BTreeMap::new(),
            interrupted: false,
            planned: None,
            language: None,
            parser: None,
            fast: false,
            no_runs: false,
            config: None,
            digest: None,
            overrides: Vec::new(),
            check: CheckConfig::default(),
            waivers: Vec::new(),
            confinement: None,
            notes: Vec::new(),
            facts: None,
            built: None,
            output_modules: Vec::new(),
            around: None,
            manual: None,
            completion_error: None,
            lock: None,
            observations: Vec::new(),
        }
    }

    /// The name of the probe of a run; empty if there is no such probe.
    pub fn name_of(&self, run: &RunKey) -> &str {
        self.probe(run).map_or("", |probe| &probe.name)
    }

    /// The observations, each with the name of its probe.
    pub fn named_observations(&self) -> impl Iterator<Item = (&str, &Observation)> {
        self.observations.iter().map(|seen| (self.name_of(&seen.key), seen))
    }

    /// The probe of a run.
    pub fn probe(&self, run: &RunKey) -> Option<&Probe> {
        self.probes.iter().find(|probe| probe.id == run.probe)
    }

    /// The configuration as it was used; none if there was none.
    pub fn config_info(&self) -> Option<ConfigInfo> {
        let Self { config, digest, overrides, .. } = self;
        let info = ConfigInfo { file: config.clone(), digest: digest.clone(), overrides: overrides.clone() };
        (info != ConfigInfo::default()).then_some(info)
    }

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

fn is_default(check: &CheckConfig) -> bool {
    *check == CheckConfig::default()
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
