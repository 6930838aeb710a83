//! Everything that a verdict rests on, in one file: `check --record` writes it, `--replay` judges it
//! again.
//!
//! JSON lines: a head with the target, what it promises and the probes; then one observation a line.

use super::{Probe, Promises};
use crate::config::{CheckConfig, Waiver};
use crate::model::HelpLanguage;
use crate::report::{ConfigInfo, TargetInfo};
use crate::run::Observation;
use crate::source::{Built, Document, Facts, Project};
use agentnative_contract::error::{Error, ErrorKind, Issue, Place, Result};
use agentnative_contract::lock::Lock;
use serde::{Deserialize, Serialize};
use serde_json::error::Category;
use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::Path;

/// The version of the format that is written.
const VERSION: u32 = 2;
/// The oldest that is read: what it does not tell is judged unverified.
const OLDEST: u32 = 1;

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
    /// What it promises.
    pub promises: Promises,
    /// The probes.
    pub probes: Vec<Probe>,
    /// A signal interrupted the runs.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub interrupted: bool,
    /// How many runs were planned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub planned: Option<usize>,
    /// The language that the target is written in, where that can be told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub language: Option<HelpLanguage>,
    /// Only plain runs were made.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub fast: bool,
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
    /// A recording of no runs.
    pub const fn new(target: TargetInfo, promises: Promises) -> Self {
        Self {
            recording: VERSION,
            time: None,
            ended: None,
            target,
            promises,
            probes: Vec::new(),
            interrupted: false,
            planned: None,
            language: None,
            fast: false,
            config: None,
            digest: None,
            overrides: Vec::new(),
            check: CheckConfig { skip: Vec::new(), deny: Vec::new() },
            waivers: Vec::new(),
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
        let mut out = BufWriter::new(file);
        let mut write = || -> std::io::Result<()> {
            serde_json::to_writer(&mut out, self)?;
            for observation in &self.observations {
                out.write_all(b"\n")?;
                serde_json::to_writer(&mut out, observation)?;
            }
            out.write_all(b"\n")?;
            out.flush()
        };
        write().map_err(|error| Error::io(ErrorKind::Write, "write", path, &error))
    }

    /// Reads a recording.
    ///
    /// # Errors
    /// Those of [`Error::data`]; configuration, with the line, when it is not a recording.
    pub fn read(path: &Path) -> Result<Self> {
        let unreadable = |error| Error::data(path, &error);
        let unreadable_line = |error: std::io::Error| match error.kind() {
            std::io::ErrorKind::InvalidData => {
                Error::config(format!("{} is not a recording: it is not text", path.display())).hint(HINT)
            }
            _ => unreadable(error),
        };
        let mut lines = BufReader::new(File::open(path).map_err(unreadable)?).lines();
        let first = lines.next().transpose().map_err(unreadable_line)?.unwrap_or_default();
        let mut recording: Self =
            serde_json::from_str(&first).map_err(|error| not_a_recording(path, &error))?;
        if !(OLDEST..=VERSION).contains(&recording.recording) {
            let version = recording.recording;
            return Err(Error::config(format!(
                "{} is a recording of version {version}; expected version {OLDEST} or {VERSION}",
                path.display()
            )));
        }
        for (line, number) in lines.zip(2..) {
            let line = line.map_err(unreadable_line)?;
            let observation = serde_json::from_str(&line).map_err(|error| damaged(path, number, &error))?;
            recording.observations.push(observation);
        }
        Ok(recording)
    }
}

fn is_default(check: &CheckConfig) -> bool {
    *check == CheckConfig::default()
}

/// What makes a recording.
const HINT: &str = "`agentnative check --record FILE` writes a recording";

fn not_a_recording(path: &Path, error: &serde_json::Error) -> Error {
    let message = match error.classify() {
        Category::Data => "expected a target with its settings and probes in the format of this version",
        Category::Syntax | Category::Eof | Category::Io => {
            "expected one JSON object, the header of a recording"
        }
    };
    Error::config(format!("{} is not a recording", path.display()))
        .issues(vec![at(path, 1, error, message)])
        .hint(HINT)
}

fn damaged(path: &Path, line: usize, error: &serde_json::Error) -> Error {
    let message = match error.classify() {
        Category::Data => "expected a run in the format of this version",
        Category::Syntax | Category::Eof | Category::Io => {
            "expected one JSON object; the recording is damaged"
        }
    };
    Error::config(format!("{} cannot be read as a recording", path.display()))
        .issues(vec![at(path, line, error, message)])
        .hint(HINT)
}

fn at(path: &Path, line: usize, error: &serde_json::Error, message: &str) -> Issue {
    let place = Place { file: path.to_owned(), line, column: error.column() };
    Issue { place: Some(place), message: message.to_owned() }
}
