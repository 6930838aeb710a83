//! A session: the target to check, its options, and the recording that results.

use super::contracts::LoadedContracts;
use super::explore::ExploreOptions;
use super::interface::InterfaceReading;
use agentnative_contract::error::{Error, Result};
use agentnative_core::config::{Config, Isolation, ProbeConfig, TargetConfig, rfc3339};
use agentnative_core::model::{Edition, TargetInfo};
use agentnative_core::probe::{Probe, Recording, TargetProfile};
use agentnative_core::run::RunnerOptions;
use agentnative_core::targets::{Target, TargetSelector};
use agentnative_judge::Scans;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// How a session finds and runs its target; the default uses the nearest configuration and overrides nothing.
#[derive(Debug, Clone, Default)]
pub struct SessionOptions {
    /// Selects one target by name: a program of the project, or a target in the configuration.
    pub bin: Option<String>,
    /// Source of the configuration.
    pub config: ConfigSource,
    /// Probes in addition to those of the configuration.
    pub probes: Vec<ProbeConfig>,
    /// Contract for all output of the target: the name of a bundled contract, a folder or a schema file. `auto` selects
    /// the contract of a known program, which is the default for a command on `PATH` without a configuration. `none`
    /// selects the default rules.
    pub contract: Option<String>,
    /// Edition of the standard; `None` for the edition in the configuration.
    pub edition: Option<Edition>,
    /// Exit codes of the target; `None` for the codes in the configuration.
    pub exit_codes: Option<Vec<i32>>,
    /// Time limit of a run; `None` for the limit in the configuration.
    pub timeout: Option<Duration>,
    /// Confinement of the runs; `None` for the setting in the configuration.
    pub isolation: Option<Isolation>,
    /// Make calls that change something even if the system cannot confine them.
    pub allow_unconfined: bool,
    /// Environment variables of all runs, in addition to those of the configuration.
    pub env: BTreeMap<String, String>,
    /// Working directory of the runs, relative to the working directory of the target.
    pub current_dir: Option<PathBuf>,
    /// Make only plain runs, without special conditions such as a terminal or a closed pipe. A check that needs other
    /// runs is unverified.
    pub fast: bool,
    /// Execute nothing, neither `build` nor runs; a check that needs runs is unverified.
    pub no_runs: bool,
    /// The target is built already; do not execute its `build`.
    pub built: bool,
    /// Explore the target: find calls in its help pages, and judge them as well. `None` judges the declared probes only.
    pub explore: Option<ExploreOptions>,
    /// When to read the interface of the target, for `p2-interface-locked` and locks.
    pub interface: InterfaceReading,
    /// Options of the runner.
    pub runner: RunnerOptions,
}

/// The source of the configuration of a session.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum ConfigSource {
    /// The nearest `agentnative.toml` in the folder of the target or above, if there is one.
    #[default]
    Nearest,
    /// A configuration file.
    File(PathBuf),
    /// A configuration that was read before.
    Read(Arc<Config>),
    /// No configuration.
    Without,
}

/// A target and the options of its check.
#[derive(Debug, Clone)]
pub struct Session {
    pub(super) target: TargetSelector,
    pub(super) options: SessionOptions,
}

/// The result of a session.
#[derive(Debug, Clone)]
pub struct SessionOutput {
    /// The recording of the runs.
    pub recording: Recording,
    /// Cached results of scanning the streams of the recording.
    pub scans: Scans,
    /// The signal that stopped the session, if any.
    pub signal: Option<i32>,
    /// The folder of the configuration, if there is one.
    pub root: Option<PathBuf>,
    /// Duration of the session.
    pub elapsed: Duration,
}

impl SessionOptions {
    /// Returns the options that add to or override a configuration, as command-line arguments: `--timeout 5`.
    pub(super) fn overrides(&self) -> Vec<String> {
        let probe = |probe: &ProbeConfig| match probe.exit {
            0 => format!("--probe {}", probe.name),
            exit => format!("--probe {exit}:{}", probe.name),
        };
        let contract = self.contract.iter().map(|name| format!("--contract {name}"));
        let timeout = self.timeout.iter().map(|limit| format!("--timeout {}", limit.as_secs_f64()));
        let kind = |isolation: &Isolation| Isolation::NAMED.iter().find(|(_, kind)| kind == isolation);
        let isolation = self.isolation.as_ref().and_then(kind).map(|(name, _)| format!("--isolation {name}"));
        let edition = self.edition.iter().map(|edition| format!("--edition {}", edition.name()));
        let explore = self.explore.as_ref().map(ExploreOptions::argument);
        let unconfined = self.allow_unconfined.then(|| "--allow-unconfined".to_owned());
        let all = self.probes.iter().map(probe).chain(contract).chain(timeout);
        all.chain(isolation).chain(unconfined).chain(edition).chain(explore).collect()
    }
}

impl Session {
    /// Creates a session for this target.
    pub const fn new(target: TargetSelector, options: SessionOptions) -> Self {
        Self { target, options }
    }

    /// Creates a recording that has no runs yet, with the current time and with the configuration as the options
    /// override it.
    pub(super) fn new_recording(
        &self,
        target: TargetInfo,
        profile: TargetProfile,
        config: Option<&Config>,
    ) -> Recording {
        let mut recording = Recording::new(target, profile);
        recording.time = Some(rfc3339(SystemTime::now()));
        recording.config = config.and_then(file_name);
        recording.digest = config.map(|config| config.digest.clone());
        recording.overrides = self.options.overrides();
        recording.check = config.map(|config| config.check.clone()).unwrap_or_default();
        recording.check.edition = self.options.edition.unwrap_or(recording.check.edition);
        recording
    }

    /// Applies the options of this session to a target: time limit, exit codes, confinement, variables, working
    /// directory.
    pub(super) fn apply_options(&self, mut target: Target) -> Target {
        if let Some(timeout) = self.options.timeout {
            target.config.timeout = timeout;
        }
        if let Some(codes) = &self.options.exit_codes {
            target.config.conventions.exit_codes.clone_from(codes);
            target.config.conventions.exit_codes_declared = true;
        }
        target.config.isolation = self.options.isolation.unwrap_or(target.config.isolation);
        target.config.env.extend(self.options.env.clone());
        if let Some(folder) = &self.options.current_dir {
            target.cwd.push(folder);
        }
        target
    }

    /// Returns the probes of the configuration, then those of the options.
    pub(super) fn probe_configs<'a>(
        &'a self,
        config: Option<&'a Config>,
        target: &'a TargetConfig,
    ) -> impl Iterator<Item = &'a ProbeConfig> {
        let of_config = config.into_iter().flat_map(move |config| config.probes_of(target));
        of_config.chain(&self.options.probes)
    }

    /// Returns the declared probes, and loads the contracts that they name into `contracts`.
    pub(super) fn declared_probes(
        &self,
        target: &Target,
        config: Option<&Config>,
        contracts: &mut LoadedContracts,
    ) -> Result<Vec<Probe>> {
        let root = root_of(config);
        let mut probes: Vec<Probe> = Vec::new();
        for config in self.probe_configs(config, &target.config) {
            if probes.iter().any(|probe| probe.name == config.name) {
                return Err(Error::usage(format!("duplicate probe `{}`", config.name)));
            }
            let mut probe = Probe::declared(config, &target.config);
            contracts.load_absolute(&mut probe.call.contract, root)?;
            probes.push(probe);
        }
        Ok(probes)
    }
}

/// Returns the folder that paths in the configuration are relative to; without a configuration, the current folder.
pub(super) fn root_of(config: Option<&Config>) -> &Path {
    config.map_or(Path::new("."), |config| &config.root)
}

/// Returns the name of the configuration file.
fn file_name(config: &Config) -> Option<String> {
    config.path.file_name().map(|name| name.to_string_lossy().into_owned())
}
