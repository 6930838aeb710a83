//! A session: what checks need of a target, found, configured, planned, each run made once, its code read.

use super::contracts::LoadedContracts;
use super::judging::{wanted, worth_making};
use super::locate::{Located, help_of, needs_program};
use super::place::{self, Searched};
use super::progress::{Observer, Progress};
use super::runs::{Runs, redact_secrets};
use super::surroundings::{Services, keep_workspaces};
use super::{asking, code, commands, completions, confinement, examples};
use crate::catalogue::{Check, Derived};
use crate::config::{Config, Isolation, ProbeConfig, TargetConfig, rfc3339};
use crate::judge::Scans;
use crate::model::{CheckId, Edition, Layer, Variant};
use crate::probe::{self, Probe, Promises, Recording};
use crate::report::{Report, TargetInfo};
use crate::run::{Confinement, End, Observation, RunKey, Runner, RunnerOptions};
use crate::source::Document;
use crate::target::{self, CodeBase, Target, TargetSelector};
use agentnative_contract::Contract;
use agentnative_contract::error::{Error, Result};
use agentnative_contract::lock::{Lock, lock_path};
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
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
        let has = |layer| checks.iter().any(|check| check.layer == layer);
        let (behavioral, source) = (has(Layer::Behavioral), has(Layer::Source));
        // Whether there is something to install is seen in the files.
        let installs = checks.iter().any(|check| check.id == CheckId::P8BundleInstall);
        let project = has(Layer::Project) || installs;
        let started = Instant::now();
        let mut runner = Runner::new(self.options.runner.clone());
        let runs = !self.options.no_runs;
        let builder = Some(&mut runner).filter(|_| self.builds(checks));
        let located = self.locate(builder, needs_program(checks), source || project);
        if let Some((signal, error)) = located.as_ref().err().and_then(|error| Some((error.signal?, error))) {
            let mut recording = self.without_target(error, observer)?;
            recording.ended = Some(rfc3339(SystemTime::now()));
            let elapsed = started.elapsed();
            let scans = Scans::default();
            return Ok(SessionOutput { recording, scans, signal: Some(signal), root: None, elapsed });
        }
        let Located { config, target, code } = located?;
        let root = config.as_ref().map(|config| config.root.clone());
        let target = target.transpose().and_then(|target| {
            if target.is_some() && project && runs {
                runner.start()?;
            }
            Ok(target)
        });
        let documents = checks.iter().any(|check| check.id == CheckId::P2ExitDocumented);
        let known = target.as_ref().ok().and_then(Option::as_ref);
        let manual = if documents { manual_of(known, code.as_ref()) } else { None };
        let scans = Scans::default();
        let (mut recording, signal) = match (target, &code) {
            (Ok(Some(target)), _) if runs => {
                self.record(checks, target, config, &scans, &mut runner, observer)?
            }
            // What is not built, or cannot be run here, can be read all the same.
            (without, Some(code)) if !behavioral || !runs => {
                let info = code.info(&std::env::current_dir().unwrap_or_default());
                let mut recording = self.without_runs(info, &code.config, config, observer)?;
                recording.notes = without.err().filter(|_| runs).iter().map(not_run).collect();
                recording.set_toolkit(code.toolkit());
                (recording, None)
            }
            (Ok(Some(target)), _) => {
                let info = target.info(&std::env::current_dir().unwrap_or_default());
                (self.without_runs(info, &target.config, config, observer)?, None)
            }
            (Err(error), _) => return Err(error),
            (Ok(None), _) => {
                return Err(Error::nothing_run("the target has neither a program nor code to check"));
            }
        };
        recording.manual = manual;
        // From here on a signal ends this process at once.
        if let Some(left) = runner.finish() {
            let left = format!("{} could not be removed: a run has left something there", left.display());
            recording.notes.push(left);
        }
        if let Some(code) = &code {
            code::read(code, root.as_deref(), source, project, &mut recording)?;
        }
        recording.ended = Some(rfc3339(SystemTime::now()));
        Ok(SessionOutput { recording, scans, signal, root, elapsed: started.elapsed() })
    }

    /// A recording of no runs so far, with the time and the configuration as it is used.
    fn begun(&self, target: TargetInfo, promises: Promises, config: Option<&Config>) -> Recording {
        let mut recording = Recording::new(target, promises);
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
        let promises = Promises::of(&TargetConfig::default());
        let mut recording = self.begun(self.target.info(), promises, None);
        recording.interrupted = true;
        recording.notes = vec![not_run(why)];
        observer(Progress::Started { recording: &recording, runs: 0 })?;
        Ok(recording)
    }

    /// Makes the runs of a target: what was seen, and the signal that told us to stop.
    fn record(
        &self,
        checks: &[&Check],
        target: Target,
        config: Option<Config>,
        scans: &Scans,
        runner: &mut Runner,
        observer: &mut Observer<'_>,
    ) -> Result<(Recording, Option<i32>)> {
        let mut target = self.with_options(target);
        redact_secrets(&target.config, runner)?;
        let mut contracts = LoadedContracts::default();
        let mut declared = self.declared(&target, config.as_ref(), &mut contracts)?;
        let chosen = self.chosen_contract(&mut target, config.as_ref(), runner)?;
        let contract = match &chosen {
            Some(chosen) => {
                let (name, contract) = contracts.hold_all(&chosen.name, &chosen.root, &mut declared)?;
                if chosen.is_new {
                    target.config.take(contract);
                }
                Some(name)
            }
            None => None,
        };
        let services = Services::of(&target, config.as_ref())?;
        let acts_elsewhere = services.are_any() || self.options.allow_unconfined;
        let promises = Promises { contract, acts_elsewhere, ..Promises::of(&target.config) };

        let mut around = services.surroundings(&target, runner)?;
        around.allow_unconfined = self.options.allow_unconfined;
        around.project = Some(target.folder().into());
        if let Some(config) = &config {
            // The folder of all locks: what is in it could be moved with it.
            let locks = lock_path(&config.root, &target.name).parent().map(Path::to_owned);
            around.protected = locks.into_iter().chain([config.path.clone()]).map(Into::into).collect();
        }
        keep_workspaces(&mut around, &declared, runner)?;
        let mut runs = Runs::new(runner, &target, around);

        let needed = checks.iter().any(|check| check.layer == Layer::Behavioral);
        // What the help says decides which further probes are harmless.
        let plan = |declared: &[Probe], promises: &Promises| {
            let (probes, mut keys) = probe::plan(checks, declared.to_vec(), promises, target.config.timeout);
            keys.retain(|key| !self.options.fast || key.variant == Variant::Plain);
            (probes, keys)
        };
        let (probes, keys) = plan(&declared, &promises);
        let help: Vec<_> = keys.into_iter().filter(|key| *key == probe::help_run()).collect();
        let mut observations = runs.make(&help, &probes, &promises, &mut |_| {})?;
        let help = observations.first().map(|seen| help_of(seen, &[])).unwrap_or_default();
        let mut promises = promises.with_help(&help, &declared);
        let mut questions = Vec::new();
        if checks.iter().any(|check| check.derived.contains(&Derived::CommandHelp))
            && runs.interrupted.is_none()
        {
            let mut make =
                |keys: &[RunKey], probes: &[Probe]| runs.make(keys, probes, &promises, &mut |_| {});
            (promises.called_commands, questions) = commands::find(&declared, &help, &mut make)?;
        }
        let tries_examples = checks.iter().any(|check| check.derived.contains(&Derived::Example));
        if let Some(root) = observations.first().filter(|_| tries_examples) {
            promises.examples = examples::of_pages(root, &questions);
        }
        if needed && runs.interrupted.is_none() {
            let mut make =
                |keys: &[RunKey], probes: &[Probe]| runs.make(keys, probes, &promises, &mut |_| {});
            questions.extend(asking::settle(&mut declared, &promises, &mut make)?);
        }
        let (probes, keys) = plan(&declared, &promises);
        observations.extend(questions.into_iter().filter(|seen| keys.contains(&seen.key)));

        let info = target.info(&std::env::current_dir().unwrap_or_default());
        // The help alone decides only the checks that ask for it.
        let of_help = checks.iter().any(|check| check.derived.contains(&Derived::Help));
        if needed
            && !of_help
            && declared.is_empty()
            && keys.iter().all(|key| key.probe == probe::help_run().probe)
        {
            something_ran(&info, &[])?;
        } else if needed && !observations.is_empty() {
            something_ran(&info, &observations)?;
        }
        let planned = Cell::new(keys.len());
        let mut recording = self.begun(info, promises, config.as_ref());
        observer(Progress::Started { recording: &recording, runs: planned.get() })?;
        let mut count = 0;
        let mut ended = |probes: &[Probe], observation: &Observation| {
            count += 1;
            let named = probes.iter().find(|probe| probe.id == observation.key.probe);
            let probe = named.map_or("", |probe| &probe.name);
            observer(Progress::Ended { probe, observation, nth: count, runs: planned.get().max(count) })
        };
        observations.iter().try_for_each(|seen| ended(&probes, seen))?;
        recording.fast = self.options.fast;
        recording.set_toolkit(target.toolkit());
        recording.probes = probes;
        recording.observations = observations;
        let calls = |probe: &Probe| keys.iter().any(|key| key.probe == probe.id);
        let needs = |probe: &Probe| (probe.is_declared() || probe.of().is_some()) && calls(probe);
        let with_services = runs.interrupted.is_none() && recording.probes.iter().any(needs);
        if with_services {
            runs.interrupted = services.start(&target, runs.runner)?;
        }
        let mut searched = Searched::default();
        if runs.interrupted.is_none() && recording.promises.contract.is_none() {
            let promises = &recording.promises;
            let mut make = |keys: &[RunKey], probes: &[Probe]| runs.make(keys, probes, promises, &mut |_| {});
            searched = place::find(&mut declared, &recording.probes, promises, &mut make)?;
            let planned = searched.observations.iter().filter(|seen| keys.contains(&seen.key));
            planned.into_iter().try_for_each(|seen| ended(&recording.probes, seen))?;
            if !searched.refused.is_empty() {
                (recording.probes, _) = plan(&declared, promises);
            }
            // What was asked at the place that was found takes the place of what was asked before.
            let again = |seen: &Observation| searched.observations.iter().any(|other| other.key == seen.key);
            recording.observations.retain(|seen| !again(seen));
            recording.observations.append(&mut searched.observations);
        }
        recording.probes.append(&mut searched.refused);
        recording.contracts = contracts.files(&recording.probes);
        if runs.interrupted.is_none() {
            let is_example = |key: &RunKey| key.probe.kind() == Some(Derived::Example);
            let (mut last, rest): (Vec<RunKey>, _) = keys.into_iter().partition(is_example);
            // What these show decides which of the others are worth making.
            let is_first = |key: &RunKey| key.variant == Variant::Plain && key.probe.from().is_none();
            let (first, others): (Vec<RunKey>, _) = rest.into_iter().partition(is_first);
            let mut made = BTreeSet::new();
            // Gives whether there was anything to make, beside what is made later.
            let mut make =
                |runs: &mut Runs<'_>, keys: Vec<RunKey>, later: usize, recording: &mut Recording| {
                    let mut keys = worth_making(recording, keys);
                    keys.retain(|key| made.insert(key.clone()));
                    if runs.interrupted.is_some() || keys.is_empty() {
                        return Ok(false);
                    }
                    planned.set(recording.observations.len() + keys.len() + later);
                    let mut failed = None;
                    let probes = &recording.probes;
                    let mut on_done =
                        |seen: &Observation| failed = failed.take().or(ended(probes, seen).err());
                    let seen = runs.make(&keys, probes, &recording.promises, &mut on_done)?;
                    recording.observations.extend(seen);
                    failed.map_or(Ok(true), Err)
                };
            make(&mut runs, first, others.len() + last.len(), &mut recording)?;
            make(&mut runs, others, last.len(), &mut recording)?;
            examples::withhold(&mut last, &recording);
            make(&mut runs, last, 0, &mut recording)?;
            // Where something differs, what was seen asks for more.
            while runs.interrupted.is_none() && !recording.fast && !scans.has_given_up() {
                let more = runs.runner.unheard(|| wanted(&recording, checks, scans))??;
                if !make(&mut runs, more, 0, &mut recording)? {
                    break;
                }
            }
        }
        let Runs { runner, interrupted, confinement, no_namespaces, .. } = runs;
        if with_services && interrupted.is_none() {
            services.end(runner)?;
        }
        recording.planned = Some(planned.get());
        recording.interrupted = interrupted.is_some();
        recording.notes = chosen.and_then(|chosen| chosen.note).into_iter().collect();
        recording.confinement =
            confinement.or(Some(Confinement::None).filter(|_| !recording.observations.is_empty()));
        let note = confinement::note(&recording, target.config.isolation, no_namespaces.as_deref());
        recording.notes.extend(note);
        recording.notes.append(&mut searched.notes);
        if checks.iter().any(|check| check.id == CheckId::P6Completions) && interrupted.is_none() {
            recording.completion_error = completions::rejected(&recording, &target, runner)?;
        }
        if let Some(config) = config {
            recording.lock = read_lock(&config.root, &recording.target.name)?;
            recording.waivers = config.waivers_of(&target.config);
        }
        if needed && interrupted.is_none() {
            something_ran(&recording.target, &recording.observations)?;
        }
        Ok((recording, interrupted))
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
        let mut recording = self.begun(target, Promises::of(&settings), config.as_ref());
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
            target.config.exit_codes.clone_from(codes);
            target.config.exit_codes_declared = true;
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
    fn declared(
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
            contracts.bind(&mut probe.contract, root)?;
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

/// The lock of a target beside its configuration, if there is one.
fn read_lock(root: &Path, target: &str) -> Result<Option<Lock>> {
    let folder = lock_path(root, target);
    if Lock::is_at(&folder) { Lock::read(&folder).map(Some) } else { Ok(None) }
}

/// Never a silent green: a target of which nothing could be run has no report.
fn something_ran(target: &TargetInfo, observations: &[Observation]) -> Result<()> {
    let mut first = None;
    for seen in observations {
        let End::NotStarted(_, why) = &seen.end else { return Ok(()) };
        first = first.or(Some((why, &seen.end)));
    }
    let command = target.command.join(" ");
    Err(match first {
        Some((words, end)) => {
            let message = format!("nothing could be run: {command}: {words}");
            match end {
                end if end.is_denied() => Error::auth(message),
                end if end.is_no_program() => Error::nothing_run(message).hint(
                    "a script needs a first line such as `#!/bin/sh`, a binary must be for this machine",
                ),
                _ => Error::nothing_run(message),
            }
        }
        None => Error::nothing_run(format!("nothing was run: the selected checks need no run of {command}"))
            .hint("declare probes with --probe \"ARGS\", or as [[probe]] in agentnative.toml"),
    })
}
