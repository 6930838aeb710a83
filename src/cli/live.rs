//! What checks need of a target: found, configured, planned, each run made once, its code read.

use super::bound::{self, Bound};
use super::code;
use super::subject::{self, SubjectArgs};
use crate::config::{Config, ProbeConfig};
use crate::probe::{self, Probe, Promises, Recording};
use crate::report::catalogue::Check;
use crate::report::{Layer, TargetInfo};
use crate::run::{End, Enforced, Observation, Runner, RunnerOptions};
use crate::target::{CodeBase, Target};
use agentnative_contract::error::{Error, Result};
use agentnative_contract::lock::{Lock, lock_path};
use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Which target, and how it is run.
pub(super) struct Call<'a> {
    /// The target and its configuration.
    pub subject: &'a SubjectArgs,
    /// Further probes, as `--probe` has them.
    pub probes: &'a [String],
    /// A contract for the whole target.
    pub contract: Option<&'a str>,
    /// When a run is ended by force, unless the configuration says otherwise.
    pub timeout: Option<Duration>,
    /// How many runs go side by side.
    pub jobs: Option<NonZeroUsize>,
}

/// What the runs came to.
pub(super) struct Live {
    /// What was seen.
    pub recording: Recording,
    /// The signal that told us to stop.
    pub signal: Option<i32>,
    /// The folder of the configuration, if there is one.
    pub root: Option<PathBuf>,
}

/// What is told while runs are made.
pub(super) enum Told<'a> {
    /// The target, and how many runs there will be.
    Start(&'a TargetInfo, usize),
    /// A run is over; it is the nth of so many.
    Ended(&'a Observation, usize, usize),
}

impl Call<'_> {
    /// Makes the runs that these checks need, and reads the code that they look at.
    ///
    /// # Errors
    /// When there is no such target, its configuration is wrong, or nothing could be run or read.
    pub fn make(
        &self,
        checks: &[&Check],
        tell: &mut dyn FnMut(Told<'_>) -> Result<()>,
    ) -> Result<Live> {
        let has = |layer| checks.iter().any(|check| check.layer == layer);
        let (behavioral, source, project) = (has(Layer::Behavioral), has(Layer::Source), has(Layer::Project));
        let mut options = RunnerOptions { stop_on_signals: true, ..RunnerOptions::default() };
        options.jobs = self.jobs.map_or(options.jobs, NonZeroUsize::get);
        let mut runner = Runner::new(options)?;
        let subject::Found { config, target, code } =
            subject::find(self.subject, &mut runner, behavioral || project, source || project)?;
        let root = config.as_ref().map(|config| config.root.clone());
        let (mut recording, signal) = match (target.transpose(), &code) {
            (Ok(Some(target)), _) => self.run(checks, target, config, &mut runner, tell)?,
            // What is not built can be read all the same.
            (without, Some(code)) if !behavioral => (none(code, without.err().as_ref(), config, tell)?, None),
            (Err(error), _) => return Err(error),
            (Ok(None), _) => return Err(Error::general("there is neither a program nor code to look at")),
        };
        if let Some(code) = &code {
            code::read(code, root.as_deref(), source, project, &mut recording)?;
        }
        Ok(Live { recording, signal, root })
    }

    /// Makes the runs of a target: what was seen, and the signal that told us to stop.
    fn run(
        &self,
        checks: &[&Check],
        mut target: Target,
        config: Option<Config>,
        runner: &mut Runner,
        tell: &mut dyn FnMut(Told<'_>) -> Result<()>,
    ) -> Result<(Recording, Option<i32>)> {
        if let Some(timeout) = self.timeout {
            target.config.timeout = timeout;
        }
        let mut contracts = Bound::new();
        let mut declared = declared(&target, config.as_ref(), self.probes, &mut contracts)?;
        let mut promises = Promises::of(&target.config);
        if let Some(name) = self.contract {
            let name = bound::replace(name, &mut target.config, &mut declared, &mut contracts)?;
            promises = Promises { contract: Some(name), ..Promises::of(&target.config) };
        }

        // What the help says decides which further probes are harmless.
        let (probes, keys) = probe::plan(checks, declared.clone(), &promises, target.config.timeout);
        let help: Vec<_> = keys.iter().filter(|key| **key == probe::help_run()).cloned().collect();
        let first = runner.run_all_blocking(probe::specs(&help, &probes, &promises, &target), &mut |_| {})?;
        let help = first.observations.first().map(subject::help_of).unwrap_or_default();
        let promises =
            promises.with_help(!help.commands.is_empty(), help.json.as_deref(), help.jsonl.as_deref());
        let (probes, keys) = probe::plan(checks, declared, &promises, target.config.timeout);
        let info = target.info(&std::env::current_dir().unwrap_or_default());
        let needed = checks.iter().any(|check| check.layer == Layer::Behavioral);
        if needed && (keys.is_empty() || !first.observations.is_empty()) {
            something_ran(&info, &first.observations)?;
        }
        tell(Told::Start(&info, keys.len()))?;
        let mut observations = first.observations;
        let mut count = 0;
        for observation in &observations {
            count += 1;
            tell(Told::Ended(observation, count, keys.len()))?;
        }
        let done: BTreeSet<_> = observations.iter().map(|observation| observation.key.clone()).collect();
        let rest: Vec<_> = keys.iter().filter(|key| !done.contains(key)).cloned().collect();
        let mut failed = None;
        let (mut interrupted, mut sandbox) = (first.interrupted, first.sandbox);
        if interrupted.is_none() {
            let finished = runner.run_all_blocking(
                probe::specs(&rest, &probes, &promises, &target),
                &mut |observation| {
                    count += 1;
                    failed = failed.take().or(tell(Told::Ended(observation, count, keys.len())).err());
                },
            )?;
            observations.extend(finished.observations);
            interrupted = finished.interrupted;
            sandbox = sandbox.max(finished.sandbox);
        }
        if let Some(error) = failed {
            return Err(error);
        }
        let lock = match config.as_ref().map(|config| &config.root) {
            Some(root) => read_lock(root, &info.name)?,
            None => None,
        };
        let recording = Recording {
            target: info,
            promises,
            probes,
            observations,
            interrupted: interrupted.is_some(),
            waivers: config.map(|config| config.waivers).unwrap_or_default(),
            notes: sandbox.and_then(confined).into_iter().map(str::to_owned).collect(),
            facts: None,
            output_modules: Vec::new(),
            around: None,
            lock,
        };
        if needed && interrupted.is_none() {
            something_ran(&recording.target, &recording.observations)?;
        }
        Ok((recording, interrupted))
    }
}

/// No runs: the code alone is looked at. `why` is what kept us from running the program, if it was to be run.
fn none(
    code: &CodeBase,
    why: Option<&Error>,
    config: Option<Config>,
    tell: &mut dyn FnMut(Told<'_>) -> Result<()>,
) -> Result<Recording> {
    let recording = Recording {
        target: code.info(&std::env::current_dir().unwrap_or_default()),
        promises: Promises::of(&code.config),
        probes: Vec::new(),
        observations: Vec::new(),
        interrupted: false,
        waivers: config.map(|config| config.waivers).unwrap_or_default(),
        notes: why.map(not_run).into_iter().collect(),
        facts: None,
        output_modules: Vec::new(),
        around: None,
        lock: None,
    };
    tell(Told::Start(&recording.target, 0))?;
    Ok(recording)
}

fn not_run(why: &Error) -> String {
    let hint = why.hint.as_ref().map(|hint| format!(" ({hint})")).unwrap_or_default();
    format!("nothing was run: {}{hint}", why.message)
}

/// The lock of a target beside its configuration, if there is one.
fn read_lock(root: &Path, target: &str) -> Result<Option<Lock>> {
    let folder = lock_path(root, target);
    if Lock::is_at(&folder) { Lock::read(&folder).map(Some) } else { Ok(None) }
}

/// What the reader has to know of a sandbox that was asked for.
fn confined(enforced: Enforced) -> Option<&'static str> {
    match enforced {
        Enforced::Fully => None,
        Enforced::Partly => Some(
            "the sandbox was enforced in part: this kernel cannot confine all of writes, connections and signals",
        ),
        Enforced::Not => Some("the sandbox was not enforced: this kernel has no Landlock"),
    }
}

/// Never a silent green: a target of which nothing could be run has no report.
fn something_ran(target: &TargetInfo, observations: &[Observation]) -> Result<()> {
    let mut words = None;
    for seen in observations {
        let End::NotStarted(_, why) = &seen.end else { return Ok(()) };
        words = words.or(Some(why));
    }
    let command = target.command.join(" ");
    Err(match words {
        Some(words) => Error::general(format!("nothing could be run: {command}: {words}")),
        None => Error::general(format!("nothing was run: no run of {command} would decide these checks"))
            .hint("declare probes: --probe \"ARGS\", or [[probe]] in agentnative.toml"),
    })
}

/// The probes of the configuration and those of the command line.
fn declared(
    target: &Target,
    config: Option<&Config>,
    flags: &[String],
    contracts: &mut Bound,
) -> Result<Vec<Probe>> {
    let root = config.map_or(Path::new("."), |config| &config.root);
    let of_flags = ProbeConfig::from_flags(flags)?;
    let of_config = config.into_iter().flat_map(|config| config.probes_of(&target.config));
    let mut probes: Vec<Probe> = Vec::new();
    for config in of_config.chain(&of_flags) {
        if probes.iter().any(|probe| probe.name == config.name) {
            return Err(Error::usage(format!("there are two probes `{}`", config.name)));
        }
        let mut probe = Probe::declared(config, target.config.timeout);
        bound::bind(&mut probe.contract, root, contracts)?;
        probes.push(probe);
    }
    Ok(probes)
}
