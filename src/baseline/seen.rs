//! What a check saw, compared with what was known: what is fixed, and what the next baseline holds.

use super::{Baseline, Fault};
use crate::model::{BlockedBy, CheckId, OutputFormat};
use std::collections::BTreeMap;

/// So many entries are named, and no more.
const NAMED: usize = 5;

/// The faults that a check saw, and how far it looked.
#[derive(Debug, Clone, Default)]
pub struct Seen {
    target: String,
    /// The faults that no waiver accepts.
    pub(crate) faults: Baseline,
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

/// A baseline beside what a check saw.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Compared {
    /// What the baseline should be now: the faults that there are, and the entries that could not be decided.
    pub next: Baseline,
    /// The entries whose fault is gone; of equal lines of code, so many.
    pub fixed: Baseline,
    /// The entries that stay because their probe was not run, though their check was made.
    pub not_run: Vec<Fault>,
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
    pub(crate) fn made(&mut self, check: CheckId, gaps: Vec<Gap>) {
        self.made.insert(check, gaps);
    }

    /// Compares what was known with what was seen.
    pub fn compare(&self, known: &Baseline) -> Compared {
        let mut compared = Compared { next: self.faults.clone(), ..Compared::default() };
        for (fault, count) in known.iter() {
            let left = count.saturating_sub(self.faults.count(fault));
            match self.decides(fault) {
                _ if left == 0 => {}
                Decided::Yes => compared.fixed.raise(fault.clone(), left),
                decided => {
                    compared.next.raise(fault.clone(), count);
                    compared.not_run.extend((decided == Decided::NotRun).then(|| fault.clone()));
                }
            }
        }
        compared
    }

    /// Whether a fault that was not seen is gone.
    fn decides(&self, fault: &Fault) -> Decided {
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

#[derive(Clone, Copy, PartialEq, Eq)]
enum Decided {
    Yes,
    No,
    NotRun,
}

impl Compared {
    /// What the reader has to know: what is fixed, and what to do about it, unless the baseline is `written` now.
    pub fn notes(&self, written: bool) -> Vec<String> {
        let mut notes = Vec::new();
        let fixed: Vec<&Fault> = self.fixed.iter().map(|(fault, _)| fault).collect();
        if let Some((entries, are, them)) = words(fixed.len()) {
            let then = match written {
                true => format!("--write-baseline removed {them}"),
                false => format!("run --write-baseline to remove {them}"),
            };
            notes.push(format!("{entries} of the baseline {are} fixed: {}; {then}", list(&fixed)));
        }
        let not_run: Vec<&Fault> = self.not_run.iter().collect();
        if let Some((entries, are, them)) = words(not_run.len()) {
            notes.push(format!(
                "{entries} of the baseline {are} kept because the probe was not run: {}; delete {them} if the probe \
                 is gone",
                list(&not_run)
            ));
        }
        notes
    }
}

/// So many entries, the verb and the pronoun; none for none.
fn words(count: usize) -> Option<(String, &'static str, &'static str)> {
    match count {
        0 => None,
        1 => Some(("1 entry".to_owned(), "is", "it")),
        many => Some((format!("{many} entries"), "are", "them")),
    }
}

/// The first of some faults, and the number of the others.
fn list(faults: &[&Fault]) -> String {
    let mut names: Vec<String> = Vec::new();
    for fault in faults {
        let name = fault.to_string();
        if names.last() != Some(&name) {
            names.push(name);
        }
    }
    let more = names.len().saturating_sub(NAMED);
    names.truncate(NAMED);
    names.extend((more > 0).then(|| format!("and {more} more")));
    names.join(", ")
}
