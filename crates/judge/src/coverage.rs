//! The faults that the checks found, and their coverage: what they decided.

use crate::baseline::{Baseline, Fault};
use agentnative_core::model::{BlockedBy, CheckId, OutputFormat};
use std::collections::BTreeMap;

/// The faults that the checks found, and the coverage of the checks.
#[derive(Debug, Clone, Default)]
pub struct CheckCoverage {
    target: String,
    /// Faults that no waiver accepts.
    pub faults: Baseline,
    /// Checks that were made, each with its gaps.
    checks: BTreeMap<CheckId, Vec<Gap>>,
    /// Probes that were run, each with the declared probe that it is derived from.
    probes: BTreeMap<String, Option<String>>,
}

/// What a check could not decide: the runs of a probe, or in a format; everything if neither is given.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Gap {
    probe: Option<String>,
    format: Option<OutputFormat>,
}

impl From<&BlockedBy> for Gap {
    fn from(cause: &BlockedBy) -> Self {
        Self { probe: cause.probe.clone(), format: cause.format }
    }
}

impl CheckCoverage {
    /// Creates an empty record for a target with these probes, each with the declared probe that it is derived from.
    pub fn new<'p>(target: &str, probes: impl Iterator<Item = (&'p str, Option<&'p str>)>) -> Self {
        let probes = probes.map(|(name, source)| (name.to_owned(), source.map(str::to_owned)));
        Self { target: target.to_owned(), probes: probes.collect(), ..Self::default() }
    }

    /// Returns the name of the target.
    pub fn target(&self) -> &str {
        &self.target
    }

    /// Adds a check that was made, with its gaps.
    pub(super) fn add_check(&mut self, check: CheckId, gaps: Vec<Gap>) {
        self.checks.insert(check, gaps);
    }

    /// Returns whether a fault that was not found is gone.
    pub fn resolution_of(&self, fault: &Fault) -> Resolution {
        let Some(gaps) = self.checks.get(&fault.check).filter(|_| fault.target == self.target) else {
            return Resolution::Undecided;
        };
        let origin = fault.probe.as_ref().and_then(|probe| self.probes.get(probe)?.as_ref());
        let hides = |gap: &Gap| {
            let names = [fault.probe.as_ref(), origin];
            let probe = gap.probe.is_none() || fault.probe.is_none() || names.contains(&gap.probe.as_ref());
            probe && (gap.format.is_none() || fault.format.is_none() || gap.format == fault.format)
        };
        match &fault.probe {
            _ if gaps.iter().any(hides) => Resolution::Undecided,
            Some(probe) if !self.probes.contains_key(probe) => Resolution::NotRun,
            _ => Resolution::Decided,
        }
    }
}

/// Whether a fault that was not found is gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resolution {
    /// The check decided it.
    Decided,
    /// The check was not made, or could not decide it.
    Undecided,
    /// The check was made, but the probe was not run.
    NotRun,
}
