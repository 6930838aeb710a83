//! A session: what checks need of a target, found, configured, planned, each run made once, its code read.

use super::code;
use super::contracts::LoadedContracts;
use super::locate::{Located, needs_program};
use super::progress::{Observer, Progress};
use crate::catalogue::Check;
use crate::config::{Config, Isolation, ProbeConfig, TargetConfig, rfc3339};
use crate::judge::Scans;
use crate::model::{CheckId, Edition, Layer};
use crate::probe::{Probe, Recording, TargetProfile};
use crate::report::{Report, TargetInfo};
use crate::run::{Runner, RunnerOptions};
use crate::source::Document;
use crate::target::{self, CodeBase, Target, TargetSelector};
use agentnative_contract::Contract;
use agentnative_contract::error::{Error, Result};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

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

/// What checks look at.
#[derive(Debug, Clone, Copy)]
struct Needs {
    /// Runs of the target.
    runs: bool,
    /// Its code.
    source: bool,
    /// The files of its project.
    project: bool,
    /// The page of its manual.
    manual: bool,
}

impl Needs {
    fn of(checks: &[&Check]) -> Self {
        let on = |layer| checks.iter().any(|check| check.layer == layer);
        let has = |id| checks.iter().any(|check| check.id == id);
        Self {
            runs: on(Layer::Behavioral),
            source: on(Layer::Source),
            // Whether there is something to install is seen in the files.
            project: on(Layer::Project) || has(CheckId::P8BundleInstall),
            manual: has(CheckId::P2ExitDocumented),
        }
    }
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

    /// Makes the runs that these checks need, and judges them.
    pub fn check(&self, checks: &[&Check]) -> Result<Report> {
        Ok(self.run(checks, &mut |_| Ok(()))?.judged(checks, &[], &[])?.report)
    }

    /// Makes the runs that these checks need, and reads the code that they look at. The observer gets
    /// each run as it ends.
    ///
    /// # Errors
    /// When there is no such target, its configuration is wrong, or nothing could be run or read; and the
    /// first of the observer.
    pub fn run(&self, checks: &[&Check], observer: &mut Observer<'_>) -> Result<SessionOutput> {
        let started = Instant::now();
        let mut runner = Runner::new(self.options.runner.clone());
        let needs = Needs::of(checks);
        let builder = Some(&mut runner).filter(|_| self.builds(checks));
        let located = self.locate(builder, needs_program(checks), needs.source || needs.project);
        let (scans, mut root) = (Scans::default(), None);
        let (mut recording, signal) = match located {
            Err(error) => {
                let Some(signal) = error.signal else { return Err(error) };
                (self.without_target(&error, observer)?, Some(signal))
            }
            Ok(located) => {
                root = located.config.as_ref().map(|config| config.root.clone());
                let code = located.code.clone();
                let (mut recording, signal) =
                    self.record_located(checks, located, &scans, &mut runner, observer)?;
                // From here on a signal ends this process at once.
                if let Some(left) = runner.finish() {
                    let left = left.display();
                    let note = format!("{left} could not be removed: a run has left something there");
                    recording.notes.push(note);
                }
                if let Some(code) = &code {
                    code::read(code, root.as_deref(), needs.source, needs.project, &mut recording)?;
                }
                (recording, signal)
            }
        };
        recording.ended = Some(rfc3339(SystemTime::now()));
        Ok(SessionOutput { recording, scans, signal, root, elapsed: started.elapsed() })
    }

    /// Makes the runs of what was found. Returns the recording, and the signal that stopped it.
    fn record_located(
        &self,
        checks: &[&Check],
        Located { config, target, code }: Located,
        scans: &Scans,
        runner: &mut Runner,
        observer: &mut Observer<'_>,
    ) -> Result<(Recording, Option<i32>)> {
        let (needs, runs) = (Needs::of(checks), !self.options.no_runs);
        let here = std::env::current_dir().unwrap_or_default();
        let target = target.transpose().and_then(|target| {
            if target.is_some() && needs.project && runs {
                runner.start()?;
            }
            Ok(target)
        });
        let known = target.as_ref().ok().and_then(Option::as_ref);
        let manual = if needs.manual { manual_of(known, code.as_ref()) } else { None };
        let (mut recording, signal) = match (target, &code) {
            (Ok(Some(target)), _) if runs => self.record(checks, target, config, scans, runner, observer)?,
            // What is not built, or cannot be run here, can be read all the same.
            (without, Some(code)) if !needs.runs || !runs => {
                let mut recording = self.without_runs(code.info(&here), &code.config, config, observer)?;
                recording.notes = without.err().filter(|_| runs).iter().map(not_run).collect();
                recording.set_toolkit(code.toolkit());
                (recording, None)
            }
            (Ok(Some(target)), _) => {
                (self.without_runs(target.info(&here), &target.config, config, observer)?, None)
            }
            (Err(error), _) => return Err(error),
            (Ok(None), _) => {
                return Err(Error::nothing_run("the target has neither a program nor code to check"));
            }
        };
        recording.manual = manual;
        Ok((recording, signal))
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

    /// No runs: a signal came before the target was found, or built.
    fn without_target(&self, why: &Error, observer: &mut Observer<'_>) -> Result<Recording> {
        let profile = TargetProfile::of(&TargetConfig::default());
        let mut recording = self.begun(self.target.info(), profile, None);
        recording.interrupted = true;
        recording.notes = vec![not_run(why)];
        observer(Progress::Started { recording: &recording, runs: 0 })?;
        Ok(recording)
    }

    /// A recording of no runs: the files alone are read.
    fn without_runs(
        &self,
        target: TargetInfo,
        settings: &TargetConfig,
        config: Option<Config>,
        observer: &mut Observer<'_>,
    ) -> Result<Recording> {
        let mut settings = settings.clone();
        if let Some(name) = self.options.contract.as_deref().filter(|name| !["auto", "none"].contains(name)) {
            settings.take(&Contract::named(Path::new("."), name)?);
        }
        let mut recording = self.begun(target, TargetProfile::of(&settings), config.as_ref());
        recording.no_runs = self.options.no_runs;
        let configs = self.probe_configs(config.as_ref(), &settings);
        recording.probes = configs.map(|probe| Probe::declared(probe, &settings)).collect();
        if let Some(config) = config {
            recording.waivers = config.waivers_of(&settings);
        }
        observer(Progress::Started { recording: &recording, runs: 0 })?;
        Ok(recording)
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
    fn probe_configs<'a>(
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

/// The page of the target's own manual, beside its program or in its project.
fn manual_of(target: Option<&Target>, code: Option<&CodeBase>) -> Option<Document> {
    // The manual of an interpreter says nothing of the script that it runs.
    let is_script = |target: &&Target| target.prefix_args.iter().any(|word| target.cwd.join(word).is_file());
    let program = target.filter(|target| !is_script(target)).map(|target| target.program.as_path());
    let name = program.and_then(Path::file_name);
    let name = name
        .or_else(|| Some(OsStr::new(target.map(|target| &target.name).or(code.map(|code| &code.name))?)))?;
    let package = code.map(|code| code.package.as_path());
    let project = target.and_then(|target| target.project.as_ref()).or(code.map(|code| &code.project));
    let project = project.map(|project| project.folder.as_path());
    let folders: Vec<&Path> = package.into_iter().chain(project).collect();
    let (file, text) = target::manual::page(name, program, &folders)?;
    let file = project.and_then(|project| file.strip_prefix(project).ok()).unwrap_or(&file);
    Some(Document { file: file.display().to_string(), text })
}

fn not_run(why: &Error) -> String {
    let hint = why.hint.as_ref().map(|hint| format!(" ({hint})")).unwrap_or_default();
    format!("nothing was run: {}{hint}", why.message)
}

/// The name of the file that holds a configuration.
fn file_name(config: &Config) -> Option<String> {
    config.path.file_name().map(|name| name.to_string_lossy().into_owned())
}
