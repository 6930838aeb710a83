//! Runs under several conditions at once: what they show of each condition, and when it takes runs under each alone.

use super::context::{CheckContext, RunView};
use super::verdict::{FAST, Reason};
use crate::kit::difference;
use agentnative_core::model::{CheckId, OutputFormat, Variant};
use agentnative_core::probe::{Probe, repetitions};
use agentnative_core::run::{Observation, Purpose, RunKey};
use std::collections::BTreeSet;

/// The checks that ask for repetitions where their verdict depends on what changes from run to run.
pub(super) const REPEATING: [CheckId; 9] = [
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
    /// Which runs are missing of what this one is to show.
    pub fn missing(&'a self, key: &RunKey) -> Vec<RunKey> {
        match key.parts() {
            Some(parts) if !self.shows_each(key) => match self.has_run(key) {
                true => parts.into_iter().filter(|part| !self.has_run(part)).collect(),
                false if parts.iter().all(|part| self.has_run(part)) => Vec::new(),
                false => vec![key.clone()],
            },
            Some(_) => Vec::new(),
            None => {
                let is_shown =
                    self.has_run(key) || key.combination().is_some_and(|whole| self.shows_each(&whole));
                if is_shown { Vec::new() } else { vec![key.clone()] }
            }
        }
    }

    /// Whether this run was made under several conditions at once, and is like the plain one.
    fn shows_each(&'a self, key: &RunKey) -> bool {
        self.seen(key).is_some_and(|run| run.is_like_plain())
    }

    /// Whether the faults of a run under several conditions were seen under one of them alone: then that tells them.
    pub(super) fn is_told_apart(&'a self, key: &RunKey) -> bool {
        let Some(parts) = key.parts() else { return false };
        let runs: Option<Vec<RunView>> = parts.iter().map(|part| self.seen(part)).collect();
        runs.is_some_and(|runs| runs.iter().any(|run| !run.is_like_plain()))
    }

    /// The runs that make a call again, where a verdict depends on what changes from run to run; or that it takes
    /// them to decide. For the `REPEATING` checks only: others are not asked what they want.
    pub fn repeated(&'a self, probe: &'a Probe, format: OutputFormat) -> Result<Vec<RunView<'a>>, Reason> {
        let again = self.runs_under(probe, Variant::Repeat).filter(|run| run.format() == format);
        let again: Vec<RunView> = again.collect();
        match again.is_empty() {
            false => Ok(again),
            true => Err(self.not_made(
                format!(
                    "{} · {} was not run again, which would show what changes",
                    probe.name,
                    format.name()
                ),
                repetitions(probe, format),
            )),
        }
    }

    /// The run of one of these keys, or the request for all of them. For the `REPEATING` checks only, as
    /// [`repeated`](Self::repeated).
    pub fn wanted(&'a self, key: &RunKey, keys: &[RunKey]) -> Result<RunView<'a>, Reason> {
        self.run_of(key).ok_or_else(|| {
            let message = format!("{} was not run under {}", self.name_of(key), key.variant.name());
            self.not_made(message, keys.to_vec())
        })
    }

    /// The reason that asks for further runs, unless only plain runs are made.
    fn not_made(&self, message: String, wants: Vec<RunKey>) -> Reason {
        if self.fast { FAST.into() } else { Reason { message, wants, ..Reason::default() } }
    }
}

impl RunView<'_> {
    /// Whether it ended, printed and did what the plain run of its call did, as far as checks tell.
    fn is_like_plain(&self) -> bool {
        let key = &self.observation.key;
        if let Some(known) = self.context.like_plain.borrow().get(key) {
            return *known;
        }
        // Where that did not end, nothing else tells more.
        let is_like = self.plain().is_ok_and(|plain| plain.did_not_end() || self.is_like(&plain));
        self.context.like_plain.borrow_mut().insert(key.clone(), is_like);
        is_like
    }

    fn is_like(&self, plain: &Self) -> bool {
        fn purposes(seen: &Observation) -> Option<BTreeSet<Option<Purpose>>> {
            Some(seen.trips.as_ref()?.iter().map(|trip| trip.purpose()).collect())
        }
        let acts = |seen: &Observation| {
            let leaks = seen.leaks.as_ref().map(Vec::is_empty);
            (seen.end.clone(), seen.held_open, seen.left_behind.is_empty(), leaks, purposes(seen))
        };
        acts(self.observation) == acts(plain.observation)
            && (!self.format().is_json() || plain.parsed().is_err() || self.has_the_data_of(plain))
    }

    fn has_the_data_of(&self, plain: &Self) -> bool {
        let (ours, theirs) = (self.scan(), plain.scan());
        ours.control().is_none() == theirs.control().is_none()
            && ours.structural().is_none()
            && ours.unreadable.is_none()
            && ours.shape.size() == theirs.shape.size()
            && difference(&ours.shape, &theirs.shape).is_none()
    }
}
