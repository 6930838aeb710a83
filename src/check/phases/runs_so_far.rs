//! The runs of a discovery so far, and what a phase gives: a result, or the runs that it lacks.

use agentnative_core::catalogue::Derived;
use agentnative_core::model::OutputFormat;
use agentnative_core::probe::Probe;
use agentnative_core::run::{End, Observation, RunKey};
use std::collections::BTreeSet;
use std::ops::ControlFlow;

/// Plain runs to make: probes, each with a format.
pub(in crate::check) type Calls = Vec<(Probe, OutputFormat)>;

/// The result of a phase, or the runs that have to be made before it has one.
pub(super) type Step<T> = ControlFlow<Calls, T>;

/// The results of all steps, or the runs that any of them lacks.
pub(super) fn join<T>(steps: impl Iterator<Item = Step<T>>) -> Step<Vec<T>> {
    let (mut results, mut lacking) = (Vec::new(), Calls::new());
    for step in steps {
        match step {
            ControlFlow::Continue(result) => results.push(result),
            ControlFlow::Break(calls) => lacking.extend(calls),
        }
    }
    if lacking.is_empty() { ControlFlow::Continue(results) } else { ControlFlow::Break(lacking) }
}

/// The runs of a discovery so far.
#[derive(Default)]
pub(in crate::check) struct RunsSoFar {
    runs: Vec<Observation>,
    /// All that were asked for: of one that could not be made there is no observation.
    asked: BTreeSet<RunKey>,
    /// No more are made, since a signal came.
    is_closed: bool,
}

/// Whether a run ended with the exit code that its probe declares.
pub(super) fn ended_as_declared(probe: &Probe, seen: &Observation) -> bool {
    matches!(seen.end, End::Exited(code) if probe.exit == Some(code))
}

impl RunsSoFar {
    /// Adds the observations of the runs that were asked for.
    pub fn add(&mut self, asked: Vec<RunKey>, observations: Vec<Observation>, is_closed: bool) {
        self.asked.extend(asked);
        self.runs.extend(observations);
        self.is_closed = is_closed;
    }

    /// All of them.
    pub fn all(&self) -> &[Observation] {
        &self.runs
    }

    pub(super) fn of_kind(&self, kind: Derived) -> impl Iterator<Item = &Observation> {
        self.runs.iter().filter(move |seen| seen.key.probe.kind() == Some(kind))
    }

    /// The plain run of a probe; none if it cannot be made.
    pub(super) fn plain(&self, probe: &Probe, format: OutputFormat) -> Step<Option<&Observation>> {
        let key = probe.plain(format);
        if !self.is_closed && !self.asked.contains(&key) {
            return ControlFlow::Break(vec![(probe.clone(), format)]);
        }
        ControlFlow::Continue(self.runs.iter().find(|seen| seen.key == key))
    }
}
