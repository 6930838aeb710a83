//! Making runs of a target's probes, step by step, and what came of all of them together.

use crate::config::TargetConfig;
use crate::probe::{self, Probe, Promises, Surroundings, UNKNOWN_COMMAND, UNKNOWN_FLAG};
use crate::run::{
    Area, Confinement, End, Isolation, Job, Observation, RunKey, RunSpec, Runner, Template, Workspace,
};
use crate::target::Target;
use agentnative_contract::error::Result;
use std::collections::BTreeMap;
use std::ffi::OsString;

/// Makes runs of these probes.
pub(super) type Make<'m> = dyn FnMut(&[RunKey], &[Probe]) -> Result<Vec<Observation>> + 'm;

/// Keeps the secrets of a target out of all that is told of its runs: what the configuration passes on from our
/// environment, and the value of the variable that it names as that of a secret.
pub(super) fn redact_secrets(config: &TargetConfig, runner: &mut Runner) -> Result<()> {
    let set = config.secret.as_ref().and_then(|secret| config.env.get(&secret.env)).map(OsString::from);
    let values: Vec<_> = config.pass_env.iter().filter_map(std::env::var_os).chain(set).collect();
    if values.is_empty() { Ok(()) } else { runner.redact(values) }
}

/// Whether a probe has a word that no program knows: one that ignores it may do anything.
fn has_unknown_word(probe: &Probe) -> bool {
    probe.args.iter().any(|arg| arg == UNKNOWN_FLAG || arg == UNKNOWN_COMMAND)
}

/// The runs of a target.
pub(super) struct Runs<'r> {
    pub runner: &'r mut Runner,
    pub target: &'r Target,
    /// What they find around them.
    pub around: Surroundings,
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
            interrupted: None,
            confinement: None,
            no_namespaces: None,
            copies: BTreeMap::new(),
        }
    }

    /// Makes these runs, and tells of each as it ends.
    pub fn make(
        &mut self,
        keys: &[RunKey],
        probes: &[Probe],
        promises: &Promises,
        on_done: &mut dyn FnMut(&Observation),
    ) -> Result<Vec<Observation>> {
        let mut specs = probe::specs(keys, probes, promises, self.target, &self.around);
        let probe_of = |key: &RunKey| probes.iter().find(|probe| probe.id == key.probe);
        for spec in &mut specs {
            if self.is_unconfined(&spec.job) && probe_of(&spec.key).is_some_and(has_unknown_word) {
                self.copy_start(&mut spec.job);
            }
        }
        let mut observations = self.run(specs, on_done)?;
        // The target may have failed since it could not write.
        let declared = |seen: &Observation| {
            let exit = probe_of(&seen.key).and_then(|probe| probe.exit);
            matches!(seen.end, End::Exited(code) if exit.is_none_or(|exit| exit == code))
        };
        let failed: Vec<RunKey> = observations
            .iter()
            .filter(|seen| seen.read_only_start && !declared(seen))
            .map(|seen| seen.key.clone())
            .collect();
        let mut again = probe::specs(&failed, probes, promises, self.target, &self.around);
        again.retain_mut(|spec| {
            self.copy_start(&mut spec.job);
            if spec.job.obstacle.is_some()
                && let Some(first) = observations.iter_mut().find(|first| first.key == spec.key)
            {
                first.uncopied = true;
            }
            spec.job.obstacle.is_none()
        });
        for seen in self.run(again, &mut |_| {})? {
            let has_written = |seen: &Observation| {
                let changes = seen.changes.as_ref();
                changes
                    .is_some_and(|changes| changes.list.iter().any(|change| change.area == Area::Workspace))
            };
            let counts = declared(&seen) && has_written(&seen);
            if let Some(first) = observations.iter_mut().find(|first| counts && first.key == seen.key) {
                *first = seen;
            }
        }
        Ok(observations)
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
