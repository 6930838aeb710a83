//! Making runs of a target's probes, step by step, and what came of all of them together.

use crate::config::TargetConfig;
use crate::probe::{self, Probe, Promises, Surroundings};
use crate::run::{Confinement, Observation, RunKey, Runner};
use crate::target::Target;
use agentnative_contract::error::Result;
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
}

impl<'r> Runs<'r> {
    /// No runs yet.
    pub const fn new(runner: &'r mut Runner, target: &'r Target, around: Surroundings) -> Self {
        Self { runner, target, around, interrupted: None, confinement: None, no_namespaces: None }
    }

    /// Makes these runs, and tells of each as it ends.
    pub fn make(
        &mut self,
        keys: &[RunKey],
        probes: &[Probe],
        promises: &Promises,
        on_done: &mut dyn FnMut(&Observation),
    ) -> Result<Vec<Observation>> {
        let specs = probe::specs(keys, probes, promises, self.target, &self.around);
        let finished = self.runner.run_all_blocking(specs, on_done)?;
        self.interrupted = self.interrupted.or(finished.interrupted);
        self.confinement = self.confinement.max(finished.confinement);
        self.no_namespaces = finished.no_namespaces.or(self.no_namespaces.take());
        Ok(finished.observations)
    }
}
