//! The recording of a check: all evidence for its verdicts in one file. `check --record` writes it, `--replay` judges
//! it again.
//!
//! The file is JSON Lines: a head with the target, its profile, the probes and their contracts, then one observation
//! per line. Reading a recording never reads another file.

use super::{Probe, TargetProfile};
use crate::config::{CheckConfig, Waiver};
use crate::facts::{BuildTimes, CodeFacts, ProjectDocument, ProjectDocuments};
use crate::model::{
    ArgumentParser, ConfigInfo, DerivedKind, Exploration, HelpLanguage, TargetInfo, Toolkit, Variant,
};
use crate::run::{Confinement, Observation, RunKey};
use agentnative_contract::ContractFiles;
use agentnative_diff::lock::Lock;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The version of recordings that this program writes. Since version 3, a recording contains its contracts, and each
/// large stream once. Since version 4, it contains the identities of the probes.
pub(super) const VERSION: u32 = 4;
/// The oldest version of recordings that can be read. If a recording does not contain the evidence for a check, the
/// check is unverified.
pub(super) const OLDEST_VERSION: u32 = 1;

/// Maximum number of bytes of `--version` that are searched for the version.
const MAX_VERSION_LINE: usize = 1024;

/// The recording of a check: all evidence for its verdicts.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Recording {
    /// Version of the recording format.
    recording: u32,
    /// Start of the runs (RFC 3339, UTC).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<String>,
    /// End of the runs (RFC 3339, UTC).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<String>,
    /// The target that was checked.
    pub target: TargetInfo,
    /// The conventions of the target, and what its help shows.
    #[serde(rename = "promises")]
    pub profile: TargetProfile,
    /// The declared probes and the derived calls.
    pub probes: Vec<Probe>,
    /// The contracts of the probes by their names, except bundled ones.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub contracts: BTreeMap<String, ContractFiles>,
    /// Whether a signal interrupted the runs.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub interrupted: bool,
    /// Number of planned runs; the recording can contain fewer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub planned: Option<usize>,
    /// The programming language of the target, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub language: Option<HelpLanguage>,
    /// The argument parser of the target, if a manifest names it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parser: Option<ArgumentParser>,
    /// Whether only plain runs were made, without special conditions.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub fast: bool,
    /// Whether the selected layers require no runs.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub no_runs: bool,
    /// Name of the configuration file; `None` without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config: Option<String>,
    /// Digest of the configuration file, in the form of `ConfigInfo::digest`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// Options of the command line that add to the configuration or override it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub overrides: Vec<String>,
    /// The settings in `[check]` of the configuration.
    #[serde(default, skip_serializing_if = "is_default")]
    pub check: CheckConfig,
    /// The accepted problems that the configuration declares.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waivers: Vec<Waiver>,
    /// What exploration found and tried; `None` if the target was not explored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exploration: Option<Exploration>,
    /// The weakest confinement of all runs for which confinement was requested. `None` without such runs, and in
    /// recordings older than this field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confinement: Option<Confinement>,
    /// Notes on the runs for users, such as limits that were not enforced.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Facts about the source code; `None` if the code was not read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub facts: Option<CodeFacts>,
    /// When the program was built and its code last changed. `None` if the times are unknown, or if the configuration
    /// declares a build command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub built: Option<BuildTimes>,
    /// Declared source files and folders with the code that prints, relative to the folder of the package.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub output_modules: Vec<String>,
    /// Documents of the project, such as its README; `None` if they were not read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub around: Option<ProjectDocuments>,
    /// The manual page of the target as plain text; `None` if there is none or it was not searched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub manual: Option<ProjectDocument>,
    /// The error message of bash about the target's completion script. `None` if bash accepts the script or did not
    /// check it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completion_error: Option<String>,
    /// The lock: the last accepted interface of the target and shapes of its outputs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lock: Option<Lock>,
    /// The runs with their outcomes; in the file, each is a line after the head.
    #[serde(skip)]
    pub observations: Vec<Observation>,
}

impl Recording {
    /// Returns the language and the argument parser of the target.
    pub const fn toolkit(&self) -> Toolkit {
        Toolkit { language: self.language, parser: self.parser }
    }

    /// Sets the language and the argument parser of the target.
    pub const fn set_toolkit(&mut self, toolkit: Toolkit) {
        (self.language, self.parser) = (toolkit.language, toolkit.parser);
    }

    /// Returns whether a run may have changed files outside its workspace and home.
    pub fn could_write(&self) -> bool {
        let is_confined = matches!(self.confinement, Some(Confinement::Namespaces | Confinement::Landlock));
        !self.observations.is_empty() && (!is_confined || self.probes.iter().any(|probe| probe.writes))
    }

    /// Creates a recording of a target without runs.
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
            exploration: None,
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

    /// Returns the name of the probe that a run belongs to; empty if the recording does not contain the probe.
    pub fn probe_name(&self, run: &RunKey) -> &str {
        self.probe(run).map_or("", |probe| &probe.name)
    }

    /// Returns the observations, each with the name of its probe.
    pub fn named_observations(&self) -> impl Iterator<Item = (&str, &Observation)> {
        self.observations.iter().map(|observation| (self.probe_name(&observation.key), observation))
    }

    /// Returns the probe of a run; `None` if the recording does not contain it.
    pub fn probe(&self, run: &RunKey) -> Option<&Probe> {
        self.probes.iter().find(|probe| probe.id == run.probe)
    }

    /// Returns the version of the target: the first word with a dot between digits on the first line that `--version`
    /// prints. `None` if it was not called, or prints no such word.
    pub fn target_version(&self) -> Option<String> {
        let is_call = |seen: &&Observation| {
            seen.key.probe.kind() == Some(DerivedKind::Version) && seen.key.variant == Variant::Plain
        };
        let seen = self.observations.iter().find(is_call)?;
        let mut head = [0; MAX_VERSION_LINE];
        let read = seen.stdout.bytes.read_at(0, &mut head).ok()?;
        let text = String::from_utf8_lossy(&head[..read]);
        let words = text.lines().find(|line| !line.trim().is_empty())?.split_whitespace();
        words.filter_map(version_in).next()
    }

    /// Returns a note if the target has another version than its configuration describes.
    pub fn version_note(&self) -> Option<String> {
        let described = self.profile.conventions.version.as_deref()?;
        let version = self.target_version()?;
        let rest = version.strip_prefix(described);
        let is_described = rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_alphanumeric()));
        let name = &self.target.name;
        (!is_described).then(|| format!("the configuration describes {name} {described}; this is {version}"))
    }

    /// Returns the configuration that the check used; `None` if there was none.
    pub fn config_info(&self) -> Option<ConfigInfo> {
        let Self { config, digest, overrides, .. } = self;
        let info = ConfigInfo { file: config.clone(), digest: digest.clone(), overrides: overrides.clone() };
        (info != ConfigInfo::default()).then_some(info)
    }
}

/// Returns the version number in a word such as `jq-1.7.1` or `(v2.0-rc1)`; `None` without digits on both sides of a
/// dot.
fn version_in(word: &str) -> Option<String> {
    let from = &word[word.find(|c: char| c.is_ascii_digit())?..];
    let part = |c: char| c.is_ascii_alphanumeric() || ".-+_".contains(c);
    let version = &from[..from.find(|c| !part(c)).unwrap_or(from.len())];
    let version = version.trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
    let (_, minor) =
        version.split_once('.').filter(|(major, _)| major.bytes().all(|byte| byte.is_ascii_digit()))?;
    minor.starts_with(|c: char| c.is_ascii_digit()).then(|| version.to_owned())
}

fn is_default(check: &CheckConfig) -> bool {
    *check == CheckConfig::default()
}
