//! The runs that discovery has made so far, and the result of a phase: a value, or the runs that the phase needs.

use agentnative_core::catalogue::DerivedKind;
use agentnative_core::model::OutputFormat;
use agentnative_core::probe::Probe;
use agentnative_core::run::{Observation, RunEnd, RunKey};
use std::collections::BTreeSet;
use std::ops::ControlFlow;

/// Plain runs to make, each as a probe and the format to request.
pub(in crate::check) type Calls = Vec<(Probe, OutputFormat)>;

/// `Continue` with the result of a phase, or `Break` with the calls that the phase still needs.
pub(super) type PhaseResult<T> = ControlFlow<Calls, T>;

/// Returns `Continue` with the results of all phases, or `Break` with all calls that any phase still needs.
pub(super) fn join_all<T>(phases: impl Iterator<Item = PhaseResult<T>>) -> PhaseResult<Vec<T>> {
    let (mut results, mut needed) = (Vec::new(), Calls::new());
    for phase in phases {
        match phase {
            ControlFlow::Continue(result) => results.push(result),
            ControlFlow::Break(calls) => needed.extend(calls),
        }
    }
    if needed.is_empty() { ControlFlow::Continue(results) } else { ControlFlow::Break(needed) }
}

/// The runs that discovery has made so far.
#[derive(Default)]
pub(in crate::check) struct RunsSoFar {
    runs: Vec<Observation>,
    /// Keys of all requested runs; a run that could not be made has no observation.
    requested: BTreeSet<RunKey>,
    /// True after a signal: no more runs are made.
    is_closed: bool,
}

/// Returns whether a run exited with the code that its probe declares.
pub(super) fn ended_as_declared(probe: &Probe, seen: &Observation) -> bool {
    matches!(seen.end, RunEnd::Exited(code) if probe.exit == Some(code))
}

impl RunsSoFar {
    /// Adds the observations of the runs in `requested`. `is_closed` is true after a signal.
    pub fn add(&mut self, requested: Vec<RunKey>, observations: Vec<Observation>, is_closed: bool) {
        self.requested.extend(requested);
        self.runs.extend(observations);
        self.is_closed = is_closed;
    }

    /// Returns the observations of all runs.
    pub fn all(&self) -> &[Observation] {
        &self.runs
    }

    pub(super) fn of_kind(&self, kind: DerivedKind) -> impl Iterator<Item = &Observation> {
        self.runs.iter().filter(move |seen| seen.key.probe.kind() == Some(kind))
    }

    /// Returns the plain run of a probe in this format, or requests that run with `Break`; `None` if the run cannot be
    /// made.
    pub(super) fn plain_run(&self, probe: &Probe, format: OutputFormat) -> PhaseResult<Option<&Observation>> {
        let key = probe.plain_run(format);
        if !self.is_closed && !self.requested.contains(&key) {
            return ControlFlow::Break(vec![(probe.clone(), format)]);
        }
        ControlFlow::Continue(self.runs.iter().find(|seen| seen.key == key))
    }
}
