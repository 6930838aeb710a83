//! Making runs of a target's probes, step by step, and what came of all of them together.

use super::surroundings::Services;
use agentnative_contract::error::Result;
use agentnative_core::config::TargetConfig;
use agentnative_core::model::ProbeId;
use agentnative_core::probe::{self, Probe, Surroundings, TargetProfile, UNKNOWN_COMMAND, UNKNOWN_FLAG};
use agentnative_core::run::{
    Area, Confinement, End, Isolation, Job, Observation, RunKey, RunSpec, Runner, Template, Workspace,
};
use agentnative_core::targets::Target;
use std::collections::BTreeMap;
use std::ffi::OsString;

/// Keeps the secrets of a target out of all that is told of its runs: what the configuration passes on from our
/// environment, and the value of the variable that it names as that of a secret.
pub(super) fn redact_secrets(config: &TargetConfig, runner: &mut Runner) -> Result<()> {
    let set =
        config.conventions.secret.as_ref().and_then(|secret| config.env.get(&secret.env)).map(OsString::from);
    let values: Vec<_> = config.pass_env.iter().filter_map(std::env::var_os).chain(set).collect();
    if values.is_empty() { Ok(()) } else { runner.redact(values) }
}

/// Whether a probe has a word that no program knows: one that ignores it may do anything.
fn has_unknown_word(probe: &Probe) -> bool {
    probe.call.args.iter().any(|arg| arg == UNKNOWN_FLAG || arg == UNKNOWN_COMMAND)
}

/// The runs of a target.
pub(super) struct Runs<'r> {
    pub runner: &'r mut Runner,
    pub target: &'r Target,
    /// What they find around them.
    pub around: Surroundings,
    /// What runs beside them, and whether it was started.
    services: Option<&'r Services<'r>>,
    is_served: bool,
    /// The signal that told us to stop.
    pub interrupted: Option<i32>,
    /// How the runs were confined that were to be, in the weakest way of all.
    pub confinement: Option<Confinement>,
    /// Why the system has no namespaces to confine runs with, where they were asked for.
    pub no_namespaces: Option<String>,
    /// The copies of start folders, for runs that cannot see these copy on write; `None` for one that is too large.
    copies: BTreeMap<OsString, Option<OsString>>,
}

/// Why a run is not made.
const NEEDS_COPY: &str = "nothing keeps it from writing to the folder that it starts in, and that cannot be copied (at most \
                          20,000 files and 256 MiB, without mounts): declare `writes = true` or a `workspace`";

impl<'r> Runs<'r> {
    /// No runs yet.
    pub const fn new(runner: &'r mut Runner, target: &'r Target, around: Surroundings) -> Self {
        Self {
            runner,
            target,
            around,
            services: None,
            is_served: false,
            interrupted: None,
            confinement: None,
            no_namespaces: None,
            copies: BTreeMap::new(),
        }
    }

    /// The same with services beside the runs of declared probes and of those that are derived from them.
    pub const fn with_services(mut self, services: &'r Services<'r>) -> Self {
        self.services = Some(services);
        self
    }

    /// Starts the services, if one of these runs is made beside them.
    fn serve(&mut self, keys: &[RunKey]) -> Result<()> {
        let is_beside = |key: &RunKey| match &key.probe {
            ProbeId::Declared(_) => true,
            id => id.from().is_some(),
        };
        if let Some(services) = self.services.filter(|_| !self.is_served && keys.iter().any(is_beside)) {
            self.interrupted = services.start(self.target, self.runner)?;
            self.is_served = true;
        }
        Ok(())
    }

    /// Ends the services, if they were started and no signal ended them.
    ///
    /// # Errors
    /// Those of [`Services::end`].
    pub fn end_services(&mut self) -> Result<()> {
        let services = self.services.filter(|_| self.is_served && self.interrupted.is_none());
        services.map_or(Ok(()), |services| services.end(self.runner))
    }

    /// Makes these runs, and tells of each as it ends; none after a signal.
    pub fn make(
        &mut self,
        keys: &[RunKey],
        probes: &[Probe],
        profile: &TargetProfile,
        on_done: &mut dyn FnMut(&Observation),
    ) -> Result<Vec<Observation>> {
        self.serve(keys)?;
        if self.interrupted.is_some() {
            return Ok(Vec::new());
        }
        let mut specs = probe::specs(keys, probes, profile, self.target, &self.around);
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

    /// Makes runs again in a copy of their folder that ended otherwise than declared, perhaps since they could not write
    /// there; they replace those runs if they then end as declared and did write.
    fn repeat_in_copies(
        &mut self,
        observations: &mut [Observation],
        probes: &[Probe],
        profile: &TargetProfile,
    ) -> Result<()> {
        let declared = |seen: &Observation| {
            let probe = probes.iter().find(|probe| probe.id == seen.key.probe);
            let exit = probe.and_then(|probe| probe.exit);
            matches!(seen.end, End::Exited(code) if exit.is_none_or(|exit| exit == code))
        };
        let failed: Vec<RunKey> = observations
            .iter()
            .filter(|seen| seen.read_only_start && !declared(seen))
            .map(|seen| seen.key.clone())
            .collect();
        let mut again = probe::specs(&failed, probes, profile, self.target, &self.around);
        again.retain_mut(|spec| {
            self.copy_start(&mut spec.job);
            if spec.job.obstacle.is_some()
                && let Some(first) = observations.iter_mut().find(|first| first.key == spec.key)
            {
                first.uncopied = true;
            }
            spec.job.obstacle.is_none()
        });
        let has_written = |seen: &Observation| {
            let mut changes = seen.changes.iter().flat_map(|changes| &changes.list);
            changes.any(|change| change.area == Area::Workspace)
        };
        for seen in self.run(again, &mut |_| {})? {
            let counts = declared(&seen) && has_written(&seen);
            if let Some(first) = observations.iter_mut().find(|first| counts && first.key == seen.key) {
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
        let finished = self.runner.run_all_blocking(specs, on_done)?;
        self.interrupted = self.interrupted.or(finished.interrupted);
        self.confinement = self.confinement.max(finished.confinement);
        self.no_namespaces = finished.no_namespaces.or(self.no_namespaces.take());
        Ok(finished.observations)
    }

    /// Whether nothing keeps a run from writing to the folder that it starts in.
    fn is_unconfined(&self, job: &Job) -> bool {
        job.isolation == Isolation::None || self.confinement == Some(Confinement::None)
    }

    /// Has a run start in a copy of its folder.
    fn copy_start(&mut self, job: &mut Job) {
        if job.workspace.is_some() {
            return;
        }
        let copy = self.copies.entry(job.cwd.clone()).or_insert_with(|| {
            let template = Template::Folder { from: job.cwd.clone(), is_bounded: true };
            self.runner.keep(template).ok()
        });
        match copy {
            Some(template) => {
                job.workspace = Some(Workspace::Copy(template.clone()));
                job.snapshots = true;
            }
            None => job.obstacle = Some(NEEDS_COPY.to_owned()),
        }
    }
}
