//! Making the runs that checks need of a target: round by round, each for what the runs so far show to be lacking.

use super::contracts::LoadedContracts;
use super::phases::{Discovered, Discovery, Lacking, RunsSoFar, lacking};
use super::program_contract::ChosenContract;
use super::progress::{Observer, Progress};
use super::runs::{Runs, redact_secrets};
use super::session::Session;
use super::surroundings::{Services, keep_workspaces};
use super::{completions, confinement};
use agentnative_contract::error::{Error, Result};
use agentnative_core::catalogue::Check;
use agentnative_core::config::Config;
use agentnative_core::model::{CheckId, TargetInfo};
use agentnative_core::probe::{Probe, Recording, Surroundings, TargetProfile};
use agentnative_core::run::{Confinement, End, Observation, RunKey, Runner};
use agentnative_core::targets::Target;
use agentnative_diff::lock::{Lock, lock_path};
use agentnative_judge::Scans;
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// A target with all that is declared of it, ready to be run.
struct Prepared {
    target: Target,
    config: Option<Config>,
    contracts: LoadedContracts,
    chosen: Option<ChosenContract>,
    declared: Vec<Probe>,
    profile: TargetProfile,
}

/// Tells the observer of a session what happens.
struct Events<'o, 'f> {
    observer: &'o mut Observer<'f>,
    is_started: bool,
    /// The runs whose end was reported.
    ended: BTreeSet<RunKey>,
    /// How many runs there will be, as far as is known.
    total: usize,
    /// The first error of the observer.
    failed: Option<Error>,
}

impl Session {
    /// Makes the runs that these checks need of a target. Returns the recording, and the signal that stopped it.
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
        let services = Services::of(&prepared.target, prepared.config.as_ref())?;
        prepared.profile.acts_elsewhere = services.are_any() || self.options.allow_unconfined;
        let around = self.surroundings(&prepared, &services, runner)?;
        let mut runs = Runs::new(runner, &prepared.target, around).with_services(&services);
        let discovery = Discovery {
            checks,
            declared: prepared.declared.clone(),
            profile: prepared.profile.clone(),
            timeout: prepared.target.config.timeout,
        };
        let info = prepared.target.info(&std::env::current_dir().unwrap_or_default());
        let mut recording = self.begun(info, prepared.profile.clone(), prepared.config.as_ref());
        let mut events = Events::new(observer);
        let discovered = discover(&discovery, &recording, &mut runs, &mut events)?;
        recording.profile = discovered.profile;
        recording.fast = self.options.fast;
        recording.set_toolkit(prepared.target.toolkit());
        recording.contracts = prepared.contracts.files(&discovered.probes);
        recording.probes = discovered.probes;
        recording.observations = discovered.runs;
        complete(&mut recording, checks, scans, &mut runs, &mut events)?;
        recording.notes = prepared.chosen.iter().filter_map(|chosen| chosen.note.clone()).collect();
        finish(&mut recording, checks, &prepared, &mut runs)?;
        recording.notes.extend(discovered.notes);
        if discovery.is_behavioral() && runs.interrupted.is_none() {
            something_ran(&recording.target, &recording.observations)?;
        }
        Ok((recording, runs.interrupted))
    }

    /// The target with what is declared of it, and the contracts of its probes.
    fn prepare(&self, target: Target, config: Option<Config>, runner: &mut Runner) -> Result<Prepared> {
        let mut target = self.with_options(target);
        redact_secrets(&target.config, runner)?;
        let mut contracts = LoadedContracts::default();
        let mut declared = self.declared(&target, config.as_ref(), &mut contracts)?;
        let chosen = self.chosen_contract(&mut target, config.as_ref(), runner)?;
        let mut contract = None;
        if let Some(chosen) = &chosen {
            let (name, loaded) = contracts.hold_all(&chosen.name, &chosen.root, &mut declared)?;
            if chosen.is_new {
                target.config.take(loaded);
            }
            contract = Some(name);
        }
        let profile = TargetProfile { contract, ..TargetProfile::of(&target.config) };
        Ok(Prepared { target, config, contracts, chosen, declared, profile })
    }

    /// What the runs find around them.
    fn surroundings(
        &self,
        prepared: &Prepared,
        services: &Services<'_>,
        runner: &mut Runner,
    ) -> Result<Surroundings> {
        let Prepared { target, config, declared, .. } = prepared;
        let mut around = services.surroundings(target, runner)?;
        around.allow_unconfined = self.options.allow_unconfined;
        around.project = Some(target.folder().into());
        if let Some(config) = config {
            // The folder of all locks: what is in it could be moved with it.
            let locks = lock_path(&config.root, &target.name).parent().map(Path::to_owned);
            around.protected = locks.into_iter().chain([config.path.clone()]).map(PathBuf::into).collect();
        }
        keep_workspaces(&mut around, declared, runner)?;
        Ok(around)
    }
}

impl<'o, 'f> Events<'o, 'f> {
    const fn new(observer: &'o mut Observer<'f>) -> Self {
        Self { observer, is_started: false, ended: BTreeSet::new(), total: 0, failed: None }
    }

    /// Reports the start, unless that was done.
    fn start(&mut self, recording: &Recording, total: usize) -> Result<()> {
        self.total = total;
        if std::mem::replace(&mut self.is_started, true) {
            return Ok(());
        }
        (self.observer)(Progress::Started { recording, runs: total })
    }

    /// Reports the end of a run, unless that was done.
    fn end(&mut self, probes: &[Probe], observation: &Observation) {
        if !self.ended.insert(observation.key.clone()) {
            return;
        }
        let nth = self.ended.len();
        let named = probes.iter().find(|probe| probe.id == observation.key.probe);
        let probe = named.map_or("", |probe| &probe.name);
        let runs = self.total.max(nth);
        let reported = (self.observer)(Progress::Ended { probe, observation, nth, runs });
        self.failed = self.failed.take().or(reported.err());
    }

    /// The first error of the observer.
    fn check(&mut self) -> Result<()> {
        self.failed.take().map_or(Ok(()), Err)
    }
}

/// Makes the runs that show how the target is called. The end of the first, the call for help, is reported before the
/// others are made.
fn discover(
    discovery: &Discovery<'_>,
    recording: &Recording,
    runs: &mut Runs<'_>,
    events: &mut Events<'_, '_>,
) -> Result<Discovered> {
    let (mut so_far, mut probes) = (RunsSoFar::default(), Vec::new());
    loop {
        let page = discovery.root_page(&so_far);
        let profile = discovery.profile.clone().with_help(&page, &discovery.declared);
        if let ([help], false) = (so_far.all(), discovery.declared.is_empty()) {
            events.start(recording, discovery.planned(&profile))?;
            events.end(&probes, help);
            events.check()?;
        }
        let calls = match discovery.resolve(&page, &profile, &so_far) {
            ControlFlow::Continue(discovered) if discovered.decides_nothing => {
                return Err(nothing_to_run(&recording.target));
            }
            ControlFlow::Continue(discovered) => return Ok(discovered),
            ControlFlow::Break(calls) => calls,
        };
        let keys: Vec<RunKey> = calls.iter().map(|(probe, format)| probe.plain(*format)).collect();
        // A derived call is set up as the probe is that it is derived from.
        let called = calls.iter().map(|(probe, _)| probe);
        probes = called.chain(&discovery.declared).cloned().collect();
        let seen = runs.make(&keys, &probes, &profile, &mut |_| {})?;
        so_far.add(keys, seen, runs.interrupted.is_some());
        if discovery.is_behavioral() && !so_far.all().is_empty() {
            something_ran(&recording.target, so_far.all())?;
        }
    }
}

/// Makes the runs that the recording lacks of those that these checks need.
fn complete(
    recording: &mut Recording,
    checks: &[&Check],
    scans: &Scans,
    runs: &mut Runs<'_>,
    events: &mut Events<'_, '_>,
) -> Result<()> {
    let mut asked = BTreeSet::new();
    loop {
        let next = match runs.interrupted {
            Some(_) => Lacking { keys: Vec::new(), total: events.total.max(recording.observations.len()) },
            None => runs.runner.unheard(|| lacking(recording, checks, scans, &asked))??,
        };
        events.start(recording, next.total)?;
        if asked.is_empty() {
            recording.observations.iter().for_each(|seen| events.end(&recording.probes, seen));
        }
        events.check()?;
        if next.keys.is_empty() {
            break;
        }
        let Recording { probes, profile, .. } = &*recording;
        let seen = runs.make(&next.keys, probes, profile, &mut |seen| events.end(probes, seen))?;
        recording.observations.extend(seen);
        asked.extend(next.keys);
    }
    recording.planned = Some(events.total);
    Ok(())
}

/// Ends the services, and adds what concerns all runs together.
fn finish(
    recording: &mut Recording,
    checks: &[&Check],
    prepared: &Prepared,
    runs: &mut Runs<'_>,
) -> Result<()> {
    let Prepared { target, config, .. } = prepared;
    runs.end_services()?;
    recording.interrupted = runs.interrupted.is_some();
    recording.confinement =
        runs.confinement.or(Some(Confinement::None).filter(|_| !recording.observations.is_empty()));
    let note = confinement::note(recording, target.config.isolation, runs.no_namespaces.as_deref());
    recording.notes.extend(note);
    if checks.iter().any(|check| check.id == CheckId::P6Completions) && !recording.interrupted {
        recording.completion_error = completions::rejected(recording, target, runs.runner)?;
    }
    if let Some(config) = config {
        recording.lock = read_lock(&config.root, &recording.target.name)?;
        recording.waivers = config.waivers_of(&target.config);
    }
    Ok(())
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
    Err(match first {
        Some((words, end)) => {
            let command = target.command.join(" ");
            let message = format!("nothing could be run: {command}: {words}");
            match end {
                end if end.is_denied() => Error::auth(message),
                end if end.is_no_program() => Error::nothing_run(message).hint(
                    "a script needs a first line such as `#!/bin/sh`, a binary must be for this machine",
                ),
                _ => Error::nothing_run(message),
            }
        }
        None => nothing_to_run(target),
    })
}

fn nothing_to_run(target: &TargetInfo) -> Error {
    let command = target.command.join(" ");
    Error::nothing_run(format!("nothing was run: the selected checks need no run of {command}"))
        .hint("declare probes with --probe \"ARGS\", or as [[probe]] in agentnative.toml")
}
