//! A session: what checks need of a target, found, configured, planned, each run made once, its code read.

use super::contracts::LoadedContracts;
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

/// How a session finds and runs its target; the default is the nearest configuration and nothing else.
#[derive(Debug, Clone, Default)]
pub struct SessionOptions {
    /// Which of a project's programs, or of the configuration's targets.
    pub bin: Option<String>,
    /// Where the configuration is.
    pub config: ConfigSource,
    /// Probes beside those of the configuration.
    pub probes: Vec<ProbeConfig>,
    /// A contract for the whole target, in the place of the default rules: a bundled contract's name, a
    /// folder or a schema file; `auto` for that of a known program, which is the default for a command on PATH
    /// without a configuration, and `none` for the default rules.
    pub contract: Option<String>,
    /// The edition of the standard; none for what the configuration says.
    pub edition: Option<Edition>,
    /// The exit codes of the target; none for what the configuration says.
    pub exit_codes: Option<Vec<i32>>,
    /// When a run is ended by force; none for what the configuration says.
    pub timeout: Option<Duration>,
    /// Whether the runs are confined; none for what the configuration says.
    pub isolation: Option<Isolation>,
    /// Calls that change something are made even if the system cannot confine them.
    pub allow_unconfined: bool,
    /// Variables that all runs get, beside those of the configuration.
    pub env: BTreeMap<String, String>,
    /// The working directory of the runs, in the place of the target's.
    pub current_dir: Option<PathBuf>,
    /// Only plain runs are made: what they cannot decide is unverified.
    pub fast: bool,
    /// Nothing is executed, no `build` and no run: what needs a run is unverified.
    pub no_runs: bool,
    /// The target is built already: its `build` is not executed.
    pub built: bool,
    /// How runs are made.
    pub runner: RunnerOptions,
}

/// Where the configuration of a session is.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum ConfigSource {
    /// The nearest `agentnative.toml` of the target's folder or above, if there is one.
    #[default]
    Nearest,
    /// This file.
    File(PathBuf),
    /// This one, which was read before.
    Read(Arc<Config>),
    /// There is none.
    Without,
}

/// Which target, and how it is run.
#[derive(Debug, Clone)]
pub struct Session {
    pub(super) target: TargetSelector,
    pub(super) options: SessionOptions,
}

/// What a session came to.
#[derive(Debug, Clone)]
pub struct SessionOutput {
    /// What was seen.
    pub recording: Recording,
    /// What was read of it already.
    pub scans: Scans,
    /// The signal that told us to stop.
    pub signal: Option<i32>,
    /// The folder of the configuration, if there is one.
    pub root: Option<PathBuf>,
    /// How long it took.
    pub elapsed: Duration,
}

impl SessionOptions {
    /// The options that add to a configuration or override it, as they are given on the command line.
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
        let unconfined = self.allow_unconfined.then(|| "--allow-unconfined".to_owned());
        let all = self.probes.iter().map(probe).chain(contract).chain(timeout);
        all.chain(isolation).chain(unconfined).chain(edition).collect()
    }
}

impl Session {
    /// A session of this target.
    pub const fn new(target: TargetSelector, options: SessionOptions) -> Self {
        Self { target, options }
    }

    /// A recording of no runs so far, with the time and the configuration as it is used.
    pub(super) fn begun(
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

    /// The target with what the options set or override.
    pub(super) fn with_options(&self, mut target: Target) -> Target {
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

    /// The probes of the configuration and those of the options, as they are written.
    pub(super) fn probe_configs<'a>(
        &'a self,
        config: Option<&'a Config>,
        target: &'a TargetConfig,
    ) -> impl Iterator<Item = &'a ProbeConfig> {
        let of_config = config.into_iter().flat_map(move |config| config.probes_of(target));
        of_config.chain(&self.options.probes)
    }

    /// The same as probes, with their contracts.
    pub(super) fn declared(
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
            contracts.bind(&mut probe.call.contract, root)?;
            probes.push(probe);
        }
        Ok(probes)
    }
}

/// What names in the configuration are relative to.
pub(super) fn root_of(config: Option<&Config>) -> &Path {
    config.map_or(Path::new("."), |config| &config.root)
}

/// The name of the file that holds a configuration.
fn file_name(config: &Config) -> Option<String> {
    config.path.file_name().map(|name| name.to_string_lossy().into_owned())
}
