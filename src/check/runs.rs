//! Makes the runs of a target and collects the facts that concern all of them: signals, confinement, copies.

use super::run_environment::Services;
use agentnative_contract::error::Result;
use agentnative_core::config::TargetConfig;
use agentnative_core::model::ProbeId;
use agentnative_core::probe::{self, Probe, RunEnvironment, TargetProfile, UNKNOWN_COMMAND, UNKNOWN_FLAG};
use agentnative_core::run::{
    Confinement, Job, Observation, RequestedConfinement, RunEnd, RunKey, RunSpec, Runner, Template, Workspace,
};
use agentnative_core::targets::Target;
use std::collections::BTreeMap;
use std::ffi::OsString;

/// Redacts secrets in all output of the runs of a target: the values of the variables in `pass_env`, and the value of
/// the variable that the configuration declares as a secret.
pub(super) fn redact_secrets(config: &TargetConfig, runner: &mut Runner) -> Result<()> {
    let set =
        config.conventions.secret.as_ref().and_then(|secret| config.env.get(&secret.env)).map(OsString::from);
    let secrets: Vec<_> = config.pass_env.iter().filter_map(std::env::var_os).chain(set).collect();
    if secrets.is_empty() { Ok(()) } else { runner.redact(secrets) }
}

/// Returns whether an argument of a probe is an unknown flag or command. A program that ignores such an argument may do
/// anything.
fn has_unknown_word(probe: &Probe) -> bool {
    probe.call.args.iter().any(|arg| arg == UNKNOWN_FLAG || arg == UNKNOWN_COMMAND)
}

/// Makes the runs of a target.
pub(super) struct Runs<'r> {
    pub runner: &'r mut Runner,
    pub target: &'r Target,
    /// The run environment.
    pub environment: RunEnvironment,
    /// The services of the target.
    services: Option<&'r Services<'r>>,
    has_services_started: bool,
    /// The signal that stopped the runs.
    pub interrupted: Option<i32>,
    /// The weakest confinement of the runs that had to be confined.
    pub confinement: Option<Confinement>,
    /// Why the system has no namespaces, if they were requested.
    pub no_namespaces: Option<String>,
    /// Copies of start folders, by original folder. A run that could otherwise write to its start folder starts in the
    /// copy. `None` for a folder that cannot be copied.
    copies: BTreeMap<OsString, Option<OsString>>,
}

/// Skip reason of a run whose start folder cannot be copied.
const CANNOT_COPY_START: &str = "it could write to its start folder, which cannot be copied (at most 20,000 files and \
                                 256 MiB, without mounts): declare `writes = true` or a `workspace`";

impl<'r> Runs<'r> {
    /// Prepares runs of a target without services.
    pub const fn new(runner: &'r mut Runner, target: &'r Target, environment: RunEnvironment) -> Self {
        Self {
            runner,
            target,
            environment,
            services: None,
            has_services_started: false,
            interrupted: None,
            confinement: None,
            no_namespaces: None,
            copies: BTreeMap::new(),
        }
    }

    /// Adds services, which run while declared probes and calls derived from them are made.
    pub const fn with_services(mut self, services: &'r Services<'r>) -> Self {
        self.services = Some(services);
        self
    }

    /// Starts the services if one of these runs needs them, unless they were started before.
    fn start_services(&mut self, keys: &[RunKey]) -> Result<()> {
        let needs_services = |key: &RunKey| match &key.probe {
            ProbeId::Declared(_) => true,
            id => id.from().is_some(),
        };
        if let Some(services) =
            self.services.filter(|_| !self.has_services_started && keys.iter().any(needs_services))
        {
            self.interrupted = services.start(self.target, self.runner)?;
            self.has_services_started = true;
        }
        Ok(())
    }

    /// Ends the services, if they were started and no signal has ended them.
    ///
    /// # Errors
    /// The errors of [`Services::end`].
    pub fn end_services(&mut self) -> Result<()> {
        let services = self.services.filter(|_| self.has_services_started && self.interrupted.is_none());
        services.map_or(Ok(()), |services| services.end(self.runner))
    }

    /// Makes these runs, and calls `on_done` with each observation as its run ends. Makes none after a signal.
    pub fn make_runs(
        &mut self,
        keys: &[RunKey],
        probes: &[Probe],
        profile: &TargetProfile,
        on_done: &mut dyn FnMut(&Observation),
    ) -> Result<Vec<Observation>> {
        self.start_services(keys)?;
        if self.interrupted.is_some() {
            return Ok(Vec::new());
        }
        let mut specs = probe::run_specs(keys, probes, profile, self.target, &self.environment);
        for spec in &mut specs {
            let probe = probes.iter().find(|probe| probe.id == spec.key.probe);
            if self.is_unconfined(&spec.job) && probe.is_some_and(has_unknown_word) {
                self.copy_start(&mut spec.job);
            }
        }
        let mut observations = self.run(specs, on_done)?;
        self.repeat_in_copies(&mut observations, probes, profile)?;
        Ok(observations)
    }

    /// Repeats runs that did not end as declared in a copy of their start folder: they may have failed because they
    /// could not write to that folder. A repeated run replaces the first one if it ends as declared and has written
    /// files.
    fn repeat_in_copies(
        &mut self,
        observations: &mut [Observation],
        probes: &[Probe],
        profile: &TargetProfile,
    ) -> Result<()> {
        let ends_as_declared = |seen: &Observation| {
            let probe = probes.iter().find(|probe| probe.id == seen.key.probe);
            let exit = probe.and_then(|probe| probe.exit);
            matches!(seen.end, RunEnd::Exited(code) if exit.is_none_or(|exit| exit == code))
        };
        let unexpected: Vec<RunKey> = observations
            .iter()
            .filter(|seen| seen.read_only_start && !ends_as_declared(seen))
            .map(|seen| seen.key.clone())
            .collect();
        let mut repeats = probe::run_specs(&unexpected, probes, profile, self.target, &self.environment);
        repeats.retain_mut(|spec| {
            self.copy_start(&mut spec.job);
            if spec.job.skip_reason.is_some()
                && let Some(first) = observations.iter_mut().find(|first| first.key == spec.key)
            {
                first.uncopied = true;
            }
            spec.job.skip_reason.is_none()
        });
        for seen in self.run(repeats, &mut |_| {})? {
            let replaces = ends_as_declared(&seen) && seen.changed_workspace();
            if let Some(first) = observations.iter_mut().find(|first| replaces && first.key == seen.key) {
                *first = seen;
            }
        }
        Ok(())
    }

    fn run(
        &mut self,
        specs: Vec<RunSpec>,
        on_done: &mut dyn FnMut(&Observation),
    ) -> Result<Vec<Observation>> {
        let finished = self.runner.run_all(specs, on_done)?;
        self.interrupted = self.interrupted.or(finished.interrupted);
        self.confinement = self.confinement.max(finished.confinement);
        self.no_namespaces = finished.no_namespaces.or(self.no_namespaces.take());
        Ok(finished.observations)
    }

    /// Returns whether a run is unconfined, so that it can write to the folder that it starts in.
    fn is_unconfined(&self, job: &Job) -> bool {
        job.isolation == RequestedConfinement::None || self.confinement == Some(Confinement::None)
    }

    /// Makes a run start in a copy of its start folder. If the folder cannot be copied, sets a skip reason.
    fn copy_start(&mut self, job: &mut Job) {
        if job.workspace.is_some() {
            return;
        }
        let copy = self.copies.entry(job.cwd.clone()).or_insert_with(|| {
            let template = Template::Folder { from: job.cwd.clone(), is_bounded: true };
            self.runner.store_template(template).ok()
        });
        match copy {
            Some(template) => {
                job.workspace = Some(Workspace::Copy(template.clone()));
                job.snapshots = true;
            }
            None => job.skip_reason = Some(CANNOT_COPY_START.to_owned()),
        }
    }
}
