//! Combined runs, which are made under several conditions at once: what they show, and when runs under each condition
//! alone are needed.

use super::context::{CheckContext, RunView};
use super::verdict::{Reason, SKIPPED_BY_FAST};
use crate::kit::difference;
use agentnative_core::model::{CheckId, Condition, OutputFormat, Variant};
use agentnative_core::probe::{Probe, repetitions};
use agentnative_core::run::{Observation, RunKey, TripwirePurpose};
use std::collections::BTreeSet;

/// Checks that may request further runs of a call: repetitions, to find out what changes from run to run, or runs without
/// the configuration file.
pub(super) const REQUESTING_REPETITIONS: [CheckId; 13] = [
    CheckId::P1EnvFlag,
    CheckId::P1SecretPath,
    CheckId::P2ExitConsistent,
    CheckId::P2JsonAlias,
    CheckId::P2OutputComplete,
    CheckId::P2OutputFormat,
    CheckId::P2OutputLocale,
    CheckId::P2OutputOrder,
    CheckId::P2OutputParity,
    CheckId::P2OutputPure,
    CheckId::P6Precedence,
    CheckId::P6ReadOnlyHome,
    CheckId::P7Quiet,
];

impl<'a> CheckContext<'a> {
    /// Returns the runs that are still needed to judge a call under the condition of `key`. If `key` is a combination
    /// of conditions and its run differs from the plain run, these are the runs under each condition alone.
    pub fn still_needed_runs(&'a self, key: &RunKey) -> Vec<RunKey> {
        let is_included = || key.combinations().any(|combined| self.is_combination_like_plain(&combined));
        match key.replaced_run_keys() {
            Some(parts) if !self.is_combination_like_plain(key) && !is_included() => {
                match self.has_run(key) {
                    true => parts.into_iter().filter(|part| !self.has_run(part)).collect(),
                    false if parts.iter().all(|part| self.has_run(part)) => Vec::new(),
                    false => vec![key.clone()],
                }
            }
            Some(_) => Vec::new(),
            None => {
                let is_shown = self.has_run(key) || is_included();
                if is_shown { Vec::new() } else { vec![key.clone()] }
            }
        }
    }

    /// True if the run of `key`, a combination of conditions, was made and behaves like the plain run of the same call.
    fn is_combination_like_plain(&'a self, key: &RunKey) -> bool {
        self.find_run(key).is_some_and(|run| run.is_like_plain())
    }

    /// True if other runs replace the run of `key`, a combination of conditions: the call was also run under each
    /// condition alone, and at least one of these runs differs from the plain run.
    pub(super) fn is_superseded_by_split(&'a self, key: &RunKey) -> bool {
        let Some(parts) = key.replaced_run_keys() else { return false };
        let runs: Option<Vec<RunView>> = parts.iter().map(|part| self.find_run(part)).collect();
        runs.is_some_and(|runs| runs.iter().any(|run| !run.is_like_plain()))
    }

    /// Returns the run of `probe` in `format` under this condition alone, or else under a combination that includes it.
    pub fn run_including(
        &'a self,
        probe: &Probe,
        format: OutputFormat,
        condition: Condition,
    ) -> Option<RunView<'a>> {
        let key = probe.plain_run(format).with_condition(condition);
        self.run_by_key(&key).or_else(|| key.combinations().find_map(|combined| self.run_by_key(&combined)))
    }

    /// Returns the repeated runs of `probe` in `format`, which show what changes from run to run. If there are none,
    /// the error requests them. Only checks in `REQUESTING_REPETITIONS` may call this, because requests of other checks
    /// are ignored.
    pub fn repeated_runs(
        &'a self,
        probe: &'a Probe,
        format: OutputFormat,
    ) -> Result<Vec<RunView<'a>>, Reason> {
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

    /// Returns the run of `key`. If it was not made, the error requests the runs of all `keys`. Only checks in
    /// `REQUESTING_REPETITIONS` may call this, as for [`repeated_runs`](Self::repeated_runs).
    pub fn run_or_request(&'a self, key: &RunKey, keys: &[RunKey]) -> Result<RunView<'a>, Reason> {
        self.run_by_key(key).ok_or_else(|| {
            let message = format!("{} was not run under {}", self.name_of(key), key.variant.name());
            self.request(message, keys.to_vec())
        })
    }

    /// Returns a reason that requests the runs in `wants`. In a fast check, which makes only plain runs, the reason
    /// requests none.
    fn request(&self, message: String, wants: Vec<RunKey>) -> Reason {
        if self.fast {
            SKIPPED_BY_FAST.into()
        } else {
            Reason { message, requested_runs: wants, ..Reason::default() }
        }
    }
}

impl RunView<'_> {
    /// True if this run ended like the plain run of the same call and printed equal data, as far as checks compare
    /// them. Also true if the plain run did not end.
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
        own.control_byte_problem().is_none() == expected.control_byte_problem().is_none()
            && own.first_structural_problem().is_none()
            && own.unreadable.is_none()
            && own.shape.total_count() == expected.shape.total_count()
            && difference(&own.shape, &expected.shape).is_none()
    }
}
