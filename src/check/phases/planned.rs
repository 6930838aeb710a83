//! Computes which runs a recording still needs, in the order in which they are made.

use super::examples;
use crate::check::judging::{deciding_runs, worthwhile_runs};
use agentnative_contract::error::Result;
use agentnative_core::catalogue::{Check, DerivedKind};
use agentnative_core::model::Variant;
use agentnative_core::probe::{self, Recording};
use agentnative_core::run::RunKey;
use agentnative_judge::Scans;
use std::collections::BTreeSet;
use std::time::Duration;

/// The next runs to make.
pub(in crate::check) struct MissingRuns {
    /// Keys of the runs; empty if the recording is complete.
    pub keys: Vec<RunKey>,
    /// Number of runs that the recording will contain, as far as is known: the existing and the missing ones.
    pub total: usize,
}

/// Returns the keys of the runs that these checks need in any case, whatever the results of other runs are.
pub(in crate::check) fn planned(recording: &Recording, checks: &[&Check]) -> Vec<RunKey> {
    let sources = recording.probes.iter().filter(|probe| probe.is_source()).cloned().collect();
    // The time limit of a probe is not part of any key.
    let (_, mut keys) = probe::plan(checks, sources, &recording.profile, Duration::ZERO);
    keys.retain(|key| !recording.fast || key.variant == Variant::Plain);
    keys
}

/// Returns the next runs that a recording needs, without those in `requested`: first the planned ones, then those that
/// undecided checks need.
pub(in crate::check) fn missing_runs(
    recording: &Recording,
    checks: &[&Check],
    scans: &Scans,
    requested: &BTreeSet<RunKey>,
) -> Result<MissingRuns> {
    let existing = recording.observations.len();
    let missing = |keys: Vec<RunKey>| {
        let mut keys = worthwhile_runs(recording, keys);
        keys.retain(|key| !requested.contains(key));
        keys
    };
    let stage = |key: &RunKey| match key.probe.kind() {
        Some(DerivedKind::Example) => 2,
        // Their results decide which of the others are worth making.
        _ if key.variant == Variant::Plain && key.probe.from().is_none() => 0,
        _ => 1,
    };
    let mut keys = missing(planned(recording, checks));
    let total = existing + keys.len();
    if let Some(first) = keys.iter().map(stage).min() {
        keys.retain(|key| stage(key) == first && (first < 2 || examples::are_safe(recording)));
        if !keys.is_empty() {
            return Ok(MissingRuns { keys, total });
        }
    }
    let keys = match recording.fast || scans.has_given_up() {
        true => Vec::new(),
        false => missing(deciding_runs(recording, checks, scans)?),
    };
    Ok(MissingRuns { total: existing + keys.len(), keys })
}
