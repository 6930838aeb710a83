//! Everything that a verdict rests on, in one file: `check --record` writes it, `--replay` judges it
//! again.
//!
//! JSON lines: a head with the target, its profile, the probes and their contracts; then one observation a line.
//! Nothing in it names a file that is read.

use super::{Probe, TargetProfile};
use crate::config::{CheckConfig, Waiver};
use crate::facts::{Built, Document, Facts, Project};
use crate::model::{ArgumentParser, ConfigInfo, HelpLanguage, TargetInfo, Toolkit};
use crate::run::{Confinement, Observation, RunKey};
use agentnative_contract::ContractFiles;
use agentnative_diff::lock::Lock;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The version of the format that is written. Since version 3, a recording contains its contracts, and a large stream
/// once; since version 4, the identities of its probes.
pub(super) const VERSION: u32 = 4;
/// The oldest that is read: what it does not tell is judged unverified.
pub(super) const OLDEST: u32 = 1;

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
}

fn is_default(check: &CheckConfig) -> bool {
    *check == CheckConfig::default()
}
