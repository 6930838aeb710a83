//! Makes the runs that the checks need, in rounds: each round depends on the results of the rounds before it.

use super::contracts::LoadedContracts;
use super::explore::ExploreClock;
use super::interface::ReadsInterface;
use super::phases::{Discovered, Discovery, MissingRuns, RunsSoFar, missing_runs};
use super::program_contract::Selection;
use super::progress::{Observer, Progress};
use super::run_environment::{Services, store_workspaces};
use super::runs::{Runs, redact_secrets};
use super::session::Session;
use super::{completions, confinement};
use agentnative_contract::error::{Error, ErrorKind, Result};
use agentnative_core::catalogue::{Check, DerivedKind};
use agentnative_core::config::Config;
use agentnative_core::model::{CheckId, TargetInfo};
use agentnative_core::probe::{Probe, Recording, RunEnvironment, TargetProfile};
use agentnative_core::run::{Confinement, Observation, RunEnd, RunKey, Runner};
use agentnative_core::targets::Target;
use agentnative_diff::lock::{Lock, lock_path};
use agentnative_judge::Scans;
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// A target with its declared probes, contracts and profile, ready to be run.
struct Prepared {
    target: Target,
    config: Option<Config>,
    contracts: LoadedContracts,
    /// Notes of the report on the contract of the target.
    notes: Vec<String>,
    declared: Vec<Probe>,
    profile: TargetProfile,
    /// The stored lock of the target.
    lock: Option<Lock>,
}

/// Reports the events of a session to its observer, each event once.
struct EventReporter<'o, 'f> {
    observer: &'o mut Observer<'f>,
    is_started: bool,
    /// Keys of the runs that were reported.
    reported: BTreeSet<RunKey>,
    /// Number of runs that are planned so far.
    total: usize,
    /// The first error that the observer returned.
    error: Option<Error>,
}

impl Session {
    /// Makes the runs that these checks need. Returns the recording, and the signal that stopped the runs, if any.
    pub(super) fn record(
        &self,
        checks: &[&Check],
        target: Target,
        config: Option<Config>,
        scans: &Scans,
        runner: &mut Runner,
        observer: &mut Observer<'_>,
    ) -> Result<(Recording, Option<i32>)> {
        let mut prepared = self.prepare(target, config, runner)?;
        let services = Services::with_chosen_ports(&prepared.target, prepared.config.as_ref())?;
        prepared.profile.acts_elsewhere = services.any_declared() || self.options.allow_unconfined;
        let mut environment = self.surroundings(&prepared, &services, runner)?;
        let explorer = match &self.options.explore {
            Some(options) => {
                Some(options.explorer(&prepared.target, &prepared.declared, &mut environment, runner)?)
            }
            None => None,
        };
        let mut runs = Runs::new(runner, &prepared.target, environment).with_services(&services);
        let discovery = Discovery {
            checks,
            declared: prepared.declared.clone(),
            profile: prepared.profile.clone(),
            timeout: prepared.target.config.timeout,
            explorer,
            interface: self.interface_reading(checks, prepared.lock.as_ref()),
        };
        let info = prepared.target.info(&std::env::current_dir().unwrap_or_default());
        let mut recording = self.new_recording(info, prepared.profile.clone(), prepared.config.as_ref());
        let mut events = EventReporter::new(observer);
        let mut clock = ExploreClock::start(self.options.explore.as_ref());
        let discovered = discover(&discovery, &recording, &mut clock, &mut runs, &mut events)?;
        recording.exploration = discovered.exploration;
        recording.profile = discovered.profile;
        recording.fast = self.options.fast;
        recording.set_toolkit(prepared.target.toolkit());
        recording.contracts = prepared.contracts.files(&discovered.probes);
        recording.probes = discovered.probes;
        recording.observations = discovered.runs;
        make_missing_runs(&mut recording, checks, scans, &mut clock, &mut runs, &mut events)?;
        if let Some(exploration) = &mut recording.exploration {
            exploration.incomplete = clock.incomplete(runs.interrupted.is_some());
        }
        recording.notes.clone_from(&prepared.notes);
        finish_recording(&mut recording, checks, &prepared, &mut runs)?;
        recording.notes.extend(discovered.notes);
        if discovery.is_behavioral() && runs.interrupted.is_none() {
            ensure_something_ran(&recording.target, &recording.observations)?;
        }
        Ok((recording, runs.interrupted))
    }

    /// Returns how to read the interface of the target; `None` if no check needs it.
    fn interface_reading<'a>(
        &'a self,
        checks: &[&Check],
        lock: Option<&'a Lock>,
    ) -> Option<ReadsInterface<'a>> {
        let is_needed = checks.iter().any(|check| check.derived.contains(&DerivedKind::Interface));
        self.options.interface.of_target(lock).filter(|_| is_needed)
    }

    /// Loads the declared probes and the contracts of a target, and builds its profile.
    fn prepare(&self, target: Target, config: Option<Config>, runner: &mut Runner) -> Result<Prepared> {
        let mut target = self.apply_options(target);
        redact_secrets(&target.config, runner)?;
        let mut contracts = LoadedContracts::default();
        let mut declared = self.declared_probes(&target, config.as_ref(), &mut contracts)?;
        let Selection { contract: chosen, notes } =
            self.chosen_contract(&mut target, config.as_ref(), runner)?;
        let mut contract = None;
        if let Some(chosen) = &chosen {
            let (name, loaded) = contracts.use_single_contract(&chosen.name, &chosen.root, &mut declared)?;
            if chosen.is_new {
                target.config.apply_contract(loaded);
            }
            contract = Some(name);
        }
        let contract_caution = chosen.and_then(|chosen| chosen.caution);
        let profile =
            TargetProfile { contract, contract_caution, ..TargetProfile::from_config(&target.config) };
        let lock = config.as_ref().map_or(Ok(None), |config| read_lock(&config.root, &target.name))?;
        Ok(Prepared { target, config, contracts, notes, declared, profile, lock })
    }

    /// Prepares the run environment: home, workspaces, service ports and protected folders.
    fn surroundings(
        &self,
        prepared: &Prepared,
        services: &Services<'_>,
        runner: &mut Runner,
    ) -> Result<RunEnvironment> {
        let Prepared { target, config, declared, .. } = prepared;
        let mut environment = services.surroundings(target, runner)?;
        environment.allow_unconfined = self.options.allow_unconfined;
        environment.project = Some(target.config_folder().into());
        if let Some(config) = config {
            // Protects the folder of all locks: a run could otherwise move a single lock by renaming its parent
            // folder.
            let locks = lock_path(&config.root, &target.name).parent().map(Path::to_owned);
            environment.protected =
                locks.into_iter().chain([config.path.clone()]).map(PathBuf::into).collect();
        }
        store_workspaces(&mut environment, declared, runner)?;
        Ok(environment)
    }
}

impl<'o, 'f> EventReporter<'o, 'f> {
    const fn new(observer: &'o mut Observer<'f>) -> Self {
        Self { observer, is_started: false, reported: BTreeSet::new(), total: 0, error: None }
    }

    /// Reports the start of the session to the observer, unless it was reported before. `total` is the number of
    /// planned runs.
    fn start(&mut self, recording: &Recording, total: usize) -> Result<()> {
        self.total = total;
        if std::mem::replace(&mut self.is_started, true) {
            return Ok(());
        }
        (self.observer)(Progress::Started { recording, runs: total })
    }

    /// Reports the end of a run to the observer, unless it was reported before. Stores an error of the observer.
    fn report_run_end(&mut self, probes: &[Probe], observation: &Observation) {
        if !self.reported.insert(observation.key.clone()) {
            return;
        }
        let nth = self.reported.len();
        let named = probes.iter().find(|probe| probe.id == observation.key.probe);
        let probe = named.map_or("", |probe| &probe.name);
        let runs = self.total.max(nth);
        let result = (self.observer)(Progress::Ended { probe, observation, nth, runs });
        self.error = self.error.take().or(result.err());
    }

    /// Fails with the first error that the observer returned, if any.
    fn take_error(&mut self) -> Result<()> {
        self.error.take().map_or(Ok(()), Err)
    }
}

/// Makes the runs from which [`Discovery`] finds out how to call the target. The first run, the help call, is reported
/// before the others are made.
fn discover(
    discovery: &Discovery<'_>,
    recording: &Recording,
    clock: &mut ExploreClock,
    runs: &mut Runs<'_>,
    events: &mut EventReporter<'_, '_>,
) -> Result<Discovered> {
    let (mut so_far, mut probes) = (RunsSoFar::default(), Vec::new());
    loop {
        let page = discovery.root_page(&so_far);
        let profile = discovery.profile.clone().with_help(&page, &discovery.declared);
        if let ([help], false) = (so_far.all(), discovery.declared.is_empty()) {
            events.start(recording, discovery.planned(&profile))?;
            events.report_run_end(&probes, help);
            events.take_error()?;
        }
        let calls = match discovery.resolve(&page, &profile, &so_far) {
            ControlFlow::Continue(discovered) if discovered.decides_nothing => {
                return Err(nothing_to_run(&recording.target));
            }
            ControlFlow::Continue(discovered) => return Ok(discovered),
            ControlFlow::Break(mut calls) => {
                calls.truncate(clock.batch());
                calls
            }
        };
        if clock.end_at_limit(calls.iter().any(|(probe, _)| probe.explored.is_some())) {
            so_far.end_exploration();
            continue;
        }
        let keys: Vec<RunKey> = calls.iter().map(|(probe, format)| probe.plain_run(*format)).collect();
        // A derived call is configured like the probe that it is derived from.
        let called = calls.iter().map(|(probe, _)| probe);
        probes = called.chain(&discovery.declared).cloned().collect();
        let seen = runs.make_runs(&keys, &probes, &profile, &mut |_| {})?;
        so_far.add(keys, seen, runs.interrupted.is_some());
        if let (Some(reason), true) = (&runs.no_namespaces, discovery.explorer.is_some()) {
            return Err(no_namespaces(reason));
        }
        if discovery.is_behavioral() && !so_far.all().is_empty() {
            ensure_something_ran(&recording.target, so_far.all())?;
        }
    }
}

/// Makes the runs that these checks need and that the recording does not have yet.
fn make_missing_runs(
    recording: &mut Recording,
    checks: &[&Check],
    scans: &Scans,
    clock: &mut ExploreClock,
    runs: &mut Runs<'_>,
    events: &mut EventReporter<'_, '_>,
) -> Result<()> {
    let mut requested = BTreeSet::new();
    loop {
        let mut next = match runs.interrupted {
            Some(_) => {
                MissingRuns { keys: Vec::new(), total: events.total.max(recording.observations.len()) }
            }
            None => {
                runs.runner.with_default_signals(|| missing_runs(recording, checks, scans, &requested))??
            }
        };
        events.start(recording, next.total)?;
        if requested.is_empty() {
            recording.observations.iter().for_each(|seen| events.report_run_end(&recording.probes, seen));
        }
        events.take_error()?;
        if next.keys.is_empty() {
            break;
        }
        next.keys.truncate(clock.batch());
        let is_explored = |key: &RunKey| recording.probe(key).is_some_and(|probe| probe.explored.is_some());
        if clock.end_at_limit(next.keys.iter().any(is_explored)) {
            let (explored, others): (Vec<RunKey>, Vec<RunKey>) = next.keys.into_iter().partition(is_explored);
            requested.extend(explored);
            next.keys = others;
        }
        let Recording { probes, profile, .. } = &*recording;
        let seen =
            runs.make_runs(&next.keys, probes, profile, &mut |seen| events.report_run_end(probes, seen))?;
        recording.observations.extend(seen);
        requested.extend(next.keys);
    }
    recording.planned = Some(events.total);
    Ok(())
}

/// Ends the services, and adds to the recording what concerns all runs: interruption, confinement, lock and waivers.
fn finish_recording(
    recording: &mut Recording,
    checks: &[&Check],
    prepared: &Prepared,
    runs: &mut Runs<'_>,
) -> Result<()> {
    let Prepared { target, config, lock, .. } = prepared;
    runs.end_services()?;
    recording.interrupted = runs.interrupted.is_some();
    recording.confinement =
        runs.confinement.or(Some(Confinement::None).filter(|_| !recording.observations.is_empty()));
    let note = confinement::weaker_confinement_note(
        recording,
        target.config.isolation,
        runs.no_namespaces.as_deref(),
    );
    recording.notes.extend(note);
    if checks.iter().any(|check| check.id == CheckId::P6Completions) && !recording.interrupted {
        recording.completion_error = completions::syntax_error(recording, target, runs.runner)?;
    }
    if let Some(config) = config {
        recording.lock.clone_from(lock);
        recording.waivers = config.waivers_of(&target.config);
    }
    Ok(())
}

/// Reads the stored lock of the target `target`, in the folder `root` of its configuration; `None` if there is none.
fn read_lock(root: &Path, target: &str) -> Result<Option<Lock>> {
    let folder = lock_path(root, target);
    if Lock::exists_in(&folder) { Lock::read(&folder).map(Some) } else { Ok(None) }
}

/// Returns an error if no run could be started: a check without runs must never look successful.
fn ensure_something_ran(target: &TargetInfo, observations: &[Observation]) -> Result<()> {
    let mut first = None;
    for seen in observations {
        let RunEnd::NotStarted(_, why) = &seen.end else { return Ok(()) };
        first = first.or(Some((why, &seen.end)));
    }
    Err(match first {
        Some((words, end)) => {
            let command = target.command.join(" ");
            let message = format!("nothing could be run: {command}: {words}");
            match end {
                end if end.is_denied() => Error::auth(message),
                end if end.is_not_executable() => Error::nothing_run(message).hint(
                    "a script needs a first line such as `#!/bin/sh`, a binary must be for this machine",
                ),
                _ => Error::nothing_run(message),
            }
        }
        None => nothing_to_run(target),
    })
}

/// Creates the error for a system on which explored calls cannot be confined. `reason` is why it has no namespaces.
fn no_namespaces(reason: &str) -> Error {
    let message = format!("exploration needs namespaces, which this system does not allow: {reason}");
    Error::new(ErrorKind::Isolation, message).hint(
        "explored calls are made in full confinement only: allow unprivileged user namespaces, or declare probes",
    )
}

fn nothing_to_run(target: &TargetInfo) -> Error {
    let command = target.command.join(" ");
    Error::nothing_run(format!("nothing was run: the selected checks need no run of {command}"))
        .hint("declare probes with --probe \"ARGS\", or as [[probe]] in agentnative.toml")
}
