//! The runs that discovery has made so far, and the result of a phase: a value, or the runs that the phase needs.

use agentnative_core::catalogue::DerivedKind;
use agentnative_core::model::{Case, OutputFormat, ProbeId};
use agentnative_core::probe::Probe;
use agentnative_core::run::{Observation, RunEnd, RunKey};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

pub(in crate::check) use agentnative_core::explore::Calls;

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
    /// The index of each run in `runs`.
    indices: BTreeMap<RunKey, usize>,
    /// Keys of all requested runs; a run that could not be made has no observation.
    requested: BTreeSet<RunKey>,
    /// True after a signal: no more runs are made.
    is_closed: bool,
    /// True after the time limit of exploration.
    has_explored: bool,
}

/// Returns whether a run exited with the code that its probe declares.
pub(super) fn ended_as_declared(probe: &Probe, seen: &Observation) -> bool {
    matches!(seen.end, RunEnd::Exited(code) if probe.exit == Some(code))
}

impl RunsSoFar {
    /// Adds the observations of the runs in `requested`. `is_closed` is true after a signal.
    pub fn add(&mut self, requested: Vec<RunKey>, observations: Vec<Observation>, is_closed: bool) {
        self.requested.extend(requested);
        for seen in observations {
            self.indices.insert(seen.key.clone(), self.runs.len());
            self.runs.push(seen);
        }
        self.is_closed |= is_closed;
    }

    /// Ends exploration: it gets no further runs.
    pub fn end_exploration(&mut self) {
        self.has_explored = true;
    }

    /// Returns the run of an explored call with this key. `None` if it was not requested yet, `Some(None)` if it is not
    /// made.
    pub(super) fn find_explored(&self, key: &RunKey) -> Option<Option<&Observation>> {
        self.find(key).or(self.has_explored.then_some(None))
    }

    /// Returns the run with this key. `None` if it was not requested yet, `Some(None)` if it cannot be made.
    pub(super) fn find(&self, key: &RunKey) -> Option<Option<&Observation>> {
        let is_answered = self.is_closed || self.requested.contains(key);
        is_answered.then(|| self.indices.get(key).map(|at| &self.runs[*at]))
    }

    /// Returns the observations of all runs.
    pub fn all(&self) -> &[Observation] {
        &self.runs
    }

    pub(super) fn of_kind(&self, kind: DerivedKind) -> impl Iterator<Item = &Observation> {
        self.runs.iter().filter(move |seen| seen.key.probe.kind() == Some(kind))
    }

    /// Returns the arguments of the calls that read the interface of the target.
    pub(super) fn interface_calls(&self) -> impl Iterator<Item = &Vec<String>> {
        let kinds = [DerivedKind::Interface, DerivedKind::VanishedOption];
        kinds.into_iter().flat_map(|kind| self.of_kind(kind)).filter_map(|seen| match &seen.key.probe {
            ProbeId::Derived { case: Case::Words(args), .. } => Some(args),
            _ => None,
        })
    }

    /// Returns the plain run of a probe in this format, or requests that run with `Break`; `None` if the run cannot be
    /// made.
    pub(super) fn plain_run(&self, probe: &Probe, format: OutputFormat) -> PhaseResult<Option<&Observation>> {
        match self.find(&probe.plain_run(format)) {
            Some(seen) => ControlFlow::Continue(seen),
            None => ControlFlow::Break(vec![(probe.clone(), format)]),
        }
    }
}
