//! Which runs a recording still lacks, in the order in which they are made.

use super::examples;
use crate::check::judging::{wanted, worth_making};
use agentnative_contract::error::Result;
use agentnative_core::catalogue::{Check, Derived};
use agentnative_core::model::Variant;
use agentnative_core::probe::{self, Recording};
use agentnative_core::run::RunKey;
use agentnative_judge::Scans;
use std::collections::BTreeSet;
use std::time::Duration;

/// The runs that are made next.
pub(in crate::check) struct Lacking {
    /// These; none when the recording has all that these checks need.
    pub keys: Vec<RunKey>,
    /// How many the recording will have, as far as is known now.
    pub total: usize,
}

/// The runs of the plan: all that these checks need, whatever others show.
pub(in crate::check) fn planned(recording: &Recording, checks: &[&Check]) -> Vec<RunKey> {
    let declared = recording.probes.iter().filter(|probe| probe.is_declared()).cloned().collect();
    // The time limit of a probe changes no key.
    let (_, mut keys) = probe::plan(checks, declared, &recording.profile, Duration::ZERO);
    keys.retain(|key| !recording.fast || key.variant == Variant::Plain);
    keys
}

/// The runs that a recording lacks and that were not asked for yet: those of the plan first, then those that verdicts
/// ask for where something differs.
pub(in crate::check) fn lacking(
    recording: &Recording,
    checks: &[&Check],
    scans: &Scans,
    asked: &BTreeSet<RunKey>,
) -> Result<Lacking> {
    let made = recording.observations.len();
    let lacking = |keys: Vec<RunKey>| {
        let mut keys = worth_making(recording, keys);
        keys.retain(|key| !asked.contains(key));
        keys
    };
    let order = |key: &RunKey| match key.probe.kind() {
        Some(Derived::Example) => 2,
        // What these show decides which of the others are worth making.
        _ if key.variant == Variant::Plain && key.probe.from().is_none() => 0,
        _ => 1,
    };
    let mut keys = lacking(planned(recording, checks));
    let total = made + keys.len();
    if let Some(first) = keys.iter().map(order).min() {
        keys.retain(|key| order(key) == first && (first < 2 || examples::are_safe(recording)));
        if !keys.is_empty() {
            return Ok(Lacking { keys, total });
        }
    }
    let keys = match recording.fast || scans.has_given_up() {
        true => Vec::new(),
        false => lacking(wanted(recording, checks, scans)?),
    };
    Ok(Lacking { total: made + keys.len(), keys })
}
