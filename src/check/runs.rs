//! Making runs of a target's probes, step by step, and what came of all of them together.

use crate::probe::{self, Probe, Promises, Surroundings};
use crate::run::{Enforced, Observation, RunKey, Runner};
use crate::target::Target;
use agentnative_contract::error::Result;

/// Makes runs of these probes.
pub(super) type Make<'m> = dyn FnMut(&[RunKey], &[Probe]) -> Result<Vec<Observation>> + 'm;

/// The runs of a target.
pub(super) struct Runs<'r> {
    pub runner: &'r mut Runner,
    pub target: &'r Target,
    /// What they find around them.
    pub around: Surroundings,
    /// The signal that told us to stop.
    pub interrupted: Option<i32>,
    /// How far sandboxes were enforced, when there were any: the weakest of all runs.
    pub sandbox: Option<Enforced>,
}

impl Runs<'_> {
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
        self.sandbox = self.sandbox.max(finished.sandbox);
        Ok(finished.observations)
    }
}
