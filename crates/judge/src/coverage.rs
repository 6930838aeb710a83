//! The faults that the checks found, and what the checks could and could not decide.

use crate::baseline::{Baseline, Fault};
use agentnative_core::model::{BlockedBy, CheckId, OutputFormat};
use std::collections::BTreeMap;

/// The faults that the checks of a target found, and what the checks could and could not decide. A known fault counts
/// as fixed only if a check decided it.
#[derive(Debug, Clone, Default)]
pub struct CheckCoverage {
    target: String,
    /// Faults that no waiver accepts.
    pub faults: Baseline,
    /// Checks that were made, each with what it could not decide.
    checks: BTreeMap<CheckId, Vec<Gap>>,
    /// Names of the probes that were run, each with the name of the declared probe from which it is derived. `None` for
    /// a declared probe.
    probes: BTreeMap<String, Option<String>>,
}

/// Runs that a check could not decide: those of `probe` in `format`. `None` stands for any probe, or any format.
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
    /// Creates a coverage without checks and faults. `probes` contains the name of each probe that was run, with the
    /// name of the declared probe from which it is derived; `None` for a declared probe.
    pub fn new<'p>(target: &str, probes: impl Iterator<Item = (&'p str, Option<&'p str>)>) -> Self {
        let probes = probes.map(|(name, source)| (name.to_owned(), source.map(str::to_owned)));
        Self { target: target.to_owned(), probes: probes.collect(), ..Self::default() }
    }

    /// Returns the name of the target.
    pub fn target(&self) -> &str {
        &self.target
    }

    /// Adds a check that was made, with the runs that it could not decide.
    pub(super) fn add_check(&mut self, check: CheckId, gaps: Vec<Gap>) {
        self.checks.insert(check, gaps);
    }

    /// Returns whether a known fault is fixed, if the checks did not find it again.
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

/// Whether a known fault is fixed that the checks did not find again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resolution {
    /// Fixed: the check decided the runs or files in which the fault was, and did not find it.
    Decided,
    /// Unknown: the check was not made, or could not decide whether the fault still exists.
    Undecided,
    /// Unknown: the check was made, but the probe of the fault was not run.
    NotRun,
}
