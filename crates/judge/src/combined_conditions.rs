//! Runs under several conditions combined: what they show about each condition, and when runs under each condition
//! alone are needed.

use super::context::{CheckContext, RunView};
use super::verdict::{Reason, SKIPPED_BY_FAST};
use crate::kit::difference;
use agentnative_core::model::{CheckId, OutputFormat, Variant};
use agentnative_core::probe::{Probe, repetitions};
use agentnative_core::run::{Observation, RunKey, TripwirePurpose};
use std::collections::BTreeSet;

/// The checks that request repetitions if their verdict depends on what changes from run to run.
pub(super) const REQUESTING_REPETITIONS: [CheckId; 9] = [
    CheckId::P1EnvFlag,
    CheckId::P1SecretPath,
    CheckId::P2ExitConsistent,
    CheckId::P2JsonAlias,
    CheckId::P2OutputComplete,
    CheckId::P2OutputFormat,
    CheckId::P2OutputParity,
    CheckId::P2OutputPure,
    CheckId::P7Quiet,
];

impl<'a> CheckContext<'a> {
    /// Returns the runs that are still missing to judge the conditions of `key`.
    pub fn missing(&'a self, key: &RunKey) -> Vec<RunKey> {
        match key.parts() {
            Some(parts) if !self.is_combination_like_plain(key) => match self.has_run(key) {
                true => parts.into_iter().filter(|part| !self.has_run(part)).collect(),
                false if parts.iter().all(|part| self.has_run(part)) => Vec::new(),
                false => vec![key.clone()],
            },
            Some(_) => Vec::new(),
            None => {
                let is_shown = self.has_run(key)
                    || key
                        .combination()
                        .is_some_and(|combination| self.is_combination_like_plain(&combination));
                if is_shown { Vec::new() } else { vec![key.clone()] }
            }
        }
    }

    /// True if the run was made under several conditions combined and behaves like the plain run.
    fn is_combination_like_plain(&'a self, key: &RunKey) -> bool {
        self.find_run(key).is_some_and(|run| run.is_like_plain())
    }

    /// True if a combined run is superseded: it was repeated under each of its conditions alone, and one of these runs
    /// differs from the plain run.
    pub(super) fn is_superseded_by_split(&'a self, key: &RunKey) -> bool {
        let Some(parts) = key.parts() else { return false };
        let runs: Option<Vec<RunView>> = parts.iter().map(|part| self.find_run(part)).collect();
        runs.is_some_and(|runs| runs.iter().any(|run| !run.is_like_plain()))
    }

    /// Returns the repetitions of a call, for a verdict that depends on what changes from run to run; requests them if
    /// there are none. Only for the `REQUESTING_REPETITIONS` checks: the requests of others are ignored.
    pub fn repeated(&'a self, probe: &'a Probe, format: OutputFormat) -> Result<Vec<RunView<'a>>, Reason> {
        let again = self.runs_under(probe, Variant::Repeat).filter(|run| run.format() == format);
        let again: Vec<RunView> = again.collect();
        match again.is_empty() {
            false => Ok(again),
            true => Err(self.request(
                format!(
                    "{} · {} was not repeated, so it is unknown what changes from run to run",
                    probe.name,
                    format.name()
                ),
                repetitions(probe, format),
            )),
        }
    }

    /// Returns the run of `key`, or requests the runs of all `keys`. Only for the `REQUESTING_REPETITIONS` checks, as
    /// [`repeated`](Self::repeated).
    pub fn run_or_request(&'a self, key: &RunKey, keys: &[RunKey]) -> Result<RunView<'a>, Reason> {
        self.run_by_key(key).ok_or_else(|| {
            let message = format!("{} was not run under {}", self.name_of(key), key.variant.name());
            self.request(message, keys.to_vec())
        })
    }

    /// Returns a reason that requests further runs, unless only plain runs are made.
    fn request(&self, message: String, wants: Vec<RunKey>) -> Reason {
        if self.fast {
            SKIPPED_BY_FAST.into()
        } else {
            Reason { message, requested_runs: wants, ..Reason::default() }
        }
    }
}

impl RunView<'_> {
    /// True if the outcome and the data equal those of the plain run of the call, as far as checks compare them.
    fn is_like_plain(&self) -> bool {
        let key = &self.observation.key;
        if let Some(known) = self.context.like_plain.borrow().get(key) {
            return *known;
        }
        // If the plain run did not end, no other difference is relevant.
        let is_like = self.plain().is_ok_and(|plain| plain.did_not_end() || self.is_like(&plain));
        self.context.like_plain.borrow_mut().insert(key.clone(), is_like);
        is_like
    }

    fn is_like(&self, plain: &Self) -> bool {
        fn purposes(observation: &Observation) -> Option<BTreeSet<Option<TripwirePurpose>>> {
            Some(observation.trips.as_ref()?.iter().map(|trip| trip.purpose()).collect())
        }
        let behavior = |observation: &Observation| {
            let leaks = observation.leaks.as_ref().map(Vec::is_empty);
            (
                observation.end.clone(),
                observation.held_open,
                observation.left_behind.is_empty(),
                leaks,
                purposes(observation),
            )
        };
        behavior(self.observation) == behavior(plain.observation)
            && (!self.format().is_json() || plain.parsed().is_err() || self.has_data_of(plain))
    }

    fn has_data_of(&self, plain: &Self) -> bool {
        let (own, expected) = (self.scan(), plain.scan());
        own.control().is_none() == expected.control().is_none()
            && own.structural().is_none()
            && own.unreadable.is_none()
            && own.shape.total_count() == expected.shape.total_count()
            && difference(&own.shape, &expected.shape).is_none()
    }
}
