//! Everything that a verdict rests on, in one file: `check --record` writes it, `--replay` judges it
//! again.
//!
//! JSON lines: a head with the target, what it promises and the probes; then one observation a line.

use super::{Probe, Promises};
use crate::config::Waiver;
use crate::report::TargetInfo;
use crate::run::{Observation, Recorded};
use crate::source::{Facts, Project};
use agentnative_contract::error::{Error, Issue, Place, Result};
use agentnative_contract::lock::Lock;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::Path;

/// The only version of the format so far.
const VERSION: u32 = 1;

/// What a recording holds.
#[derive(Debug, Clone)]
pub struct Recording {
    /// What was run.
    pub target: TargetInfo,
    /// What it promises.
    pub promises: Promises,
    /// The probes.
    pub probes: Vec<Probe>,
    /// What the runs gave.
    pub observations: Vec<Observation>,
    /// The runs were cut short by a signal.
    pub interrupted: bool,
    /// The faults that were known and accepted.
    pub waivers: Vec<Waiver>,
    /// What else the reader must know of the runs, such as limits that were not enforced.
    pub notes: Vec<String>,
    /// What was found in the code; none when it was not looked at.
    pub facts: Option<Facts>,
    /// Where the configuration says that the code prints, relative to the package of the code.
    pub output_modules: Vec<String>,
    /// The files around the code; none when they were not looked at.
    pub around: Option<Project>,
    /// What the target's probes promised when that was last accepted.
    pub lock: Option<Lock>,
}

#[derive(Serialize, Deserialize)]
struct Head {
    recording: u32,
    target: TargetInfo,
    promises: Promises,
    probes: Vec<Probe>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    interrupted: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    waivers: Vec<Waiver>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    facts: Option<Facts>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    output_modules: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    around: Option<Project>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    lock: Option<Lock>,
}

impl Recording {
    /// Writes the recording to a file that was opened before the runs.
    ///
    /// # Errors
    /// General, when the file cannot be written.
    pub fn write(&self, file: File, path: &Path) -> Result<()> {
        let mut out = BufWriter::new(file);
        let head = Head {
            recording: VERSION,
            target: self.target.clone(),
            promises: self.promises.clone(),
            probes: self.probes.clone(),
            interrupted: self.interrupted,
            waivers: self.waivers.clone(),
            notes: self.notes.clone(),
            facts: self.facts.clone(),
            output_modules: self.output_modules.clone(),
            around: self.around.clone(),
            lock: self.lock.clone(),
        };
        let mut write = || -> std::io::Result<()> {
            serde_json::to_writer(&mut out, &head)?;
            for observation in &self.observations {
                out.write_all(b"\n")?;
                serde_json::to_writer(&mut out, &Recorded::of(observation)?)?;
            }
            out.write_all(b"\n")?;
            out.flush()
        };
        write().map_err(|error| Error::general(format!("cannot write {}: {error}", path.display())))
    }

    /// Reads a recording.
    ///
    /// # Errors
    /// Configuration, with the line, when it cannot be read or is none.
    pub fn read(path: &Path) -> Result<Self> {
        let unreadable = |error| Error::config(format!("cannot read {}: {error}", path.display()));
        let mut lines = BufReader::new(File::open(path).map_err(unreadable)?).lines();
        let first = lines.next().transpose().map_err(unreadable)?.unwrap_or_default();
        let head: Head =
            serde_json::from_str(&first).map_err(|error| wrong(path, 1, error.column(), &error))?;
        if head.recording != VERSION {
            let message = format!(
                "{} is a recording of version {}, expected {VERSION}",
                path.display(),
                head.recording
            );
            return Err(Error::config(message));
        }
        let mut observations = Vec::new();
        for (at, line) in lines.enumerate() {
            let line = line.map_err(unreadable)?;
            let recorded: Recorded =
                serde_json::from_str(&line).map_err(|error| wrong(path, at + 2, error.column(), &error))?;
            let observation = recorded.into_observation().map_err(|error| wrong(path, at + 2, 1, &error))?;
            observations.push(observation);
        }
        Ok(Self {
            target: head.target,
            promises: head.promises,
            probes: head.probes,
            observations,
            interrupted: head.interrupted,
            waivers: head.waivers,
            notes: head.notes,
            facts: head.facts,
            output_modules: head.output_modules,
            around: head.around,
            lock: head.lock,
        })
    }
}

fn wrong(path: &Path, line: usize, column: usize, error: &dyn std::error::Error) -> Error {
    let place = Place { file: path.to_owned(), line, column };
    let issue = Issue { place: Some(place), message: error.to_string() };
    Error::config(format!("{} is not a recording", path.display())).issues(vec![issue])
}
