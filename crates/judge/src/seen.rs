//! The faults that a check saw, and how far it looked.

use crate::baseline::{Baseline, Fault};
use agentnative_core::model::{BlockedBy, CheckId, OutputFormat};
use std::collections::BTreeMap;

/// The faults that a check saw, and how far it looked.
#[derive(Debug, Clone, Default)]
pub struct Seen {
    target: String,
    /// The faults that no waiver accepts.
    pub faults: Baseline,
    /// The checks that were made, each with what it could not decide.
    made: BTreeMap<CheckId, Vec<Gap>>,
    /// The probes that were run, each with the one that it is made from.
    probes: BTreeMap<String, Option<String>>,
}

/// What a check could not decide: the runs of a probe, or in a format; all of it where neither is named.
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

impl Seen {
    /// Nothing was seen yet of this target, which has these probes.
    pub fn new<'p>(target: &str, probes: impl Iterator<Item = (&'p str, Option<&'p str>)>) -> Self {
        let probes = probes.map(|(name, of)| (name.to_owned(), of.map(str::to_owned)));
        Self { target: target.to_owned(), probes: probes.collect(), ..Self::default() }
    }

    /// Name of the target.
    pub fn target(&self) -> &str {
        &self.target
    }

    /// A check was made, but for this.
    pub(super) fn made(&mut self, check: CheckId, gaps: Vec<Gap>) {
        self.made.insert(check, gaps);
    }

    /// Whether a fault that was not seen is gone.
    pub fn decides(&self, fault: &Fault) -> Decided {
        let Some(gaps) = self.made.get(&fault.check).filter(|_| fault.target == self.target) else {
            return Decided::No;
        };
        let origin = fault.probe.as_ref().and_then(|probe| self.probes.get(probe)?.as_ref());
        let hides = |gap: &Gap| {
            let of = [fault.probe.as_ref(), origin];
            let probe = gap.probe.is_none() || fault.probe.is_none() || of.contains(&gap.probe.as_ref());
            probe && (gap.format.is_none() || fault.format.is_none() || gap.format == fault.format)
        };
        match &fault.probe {
            _ if gaps.iter().any(hides) => Decided::No,
            Some(probe) if !self.probes.contains_key(probe) => Decided::NotRun,
            _ => Decided::Yes,
        }
    }
}

/// Whether a fault that was not seen is gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decided {
    /// Its check decided that.
    Yes,
    /// Its check was not made, or could not decide that.
    No,
    /// Its probe was not run, though its check was made.
    NotRun,
}
