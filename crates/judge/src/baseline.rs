//! Faults that are stable from one check to the next, and the baseline that counts them.

use agentnative_core::model::{CheckId, Evidence, Layer, OutputFormat};
use std::collections::BTreeMap;
use std::fmt;

/// Identity of a fault, independent of line numbers and of the printed bytes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Fault {
    /// Name of the target.
    pub target: String,
    /// Check that reports the fault.
    pub check: CheckId,
    /// Probe that shows a fault of a run.
    pub probe: Option<String>,
    /// Format of the runs that show it.
    pub format: Option<OutputFormat>,
    /// File that contains the fault, relative to the project.
    pub file: Option<String>,
    /// Kind of fault, as the check declares it.
    pub kind: String,
    /// Line of code, with single spaces.
    pub text: Option<String>,
}

impl Fault {
    /// Returns the fault that this evidence of a check in `layer` shows.
    pub fn from_evidence(target: &str, check: CheckId, layer: Layer, evidence: &Evidence) -> Self {
        let line = |excerpt: &String| excerpt.split_whitespace().collect::<Vec<_>>().join(" ");
        Self {
            target: target.to_owned(),
            check,
            probe: evidence.probe.clone(),
            format: evidence.format,
            file: evidence.file.clone(),
            kind: evidence.kind.clone(),
            // The text of a document or a help page may change; a changed line of code is another fault.
            text: evidence.excerpt.as_ref().filter(|_| layer == Layer::Source).map(line),
        }
    }
}

impl Fault {
    /// True if each occurrence counts; runs that show the same fault count once.
    pub const fn counts_each_occurrence(&self) -> bool {
        self.file.is_some()
    }

    /// Returns all parts in one string, separated by NUL.
    pub fn key(&self) -> String {
        let Self { target, check, probe, format, file, kind, text } = self;
        let rest = [probe.as_deref(), format.map(OutputFormat::name), file.as_deref(), text.as_deref()];
        let parts = [target.as_str(), check.as_str(), kind.as_str()].into_iter();
        parts.chain(rest.map(Option::unwrap_or_default)).collect::<Vec<_>>().join("\0")
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let format = self.format.map(OutputFormat::name);
        let place = [self.probe.as_deref(), format, self.file.as_deref().filter(|file| *file != ".")];
        let place: Vec<&str> = place.into_iter().flatten().collect();
        match place.is_empty() {
            true => write!(f, "{}", self.check),
            false => write!(f, "{} ({})", self.check, place.join(" · ")),
        }
    }
}

/// Faults with the number of their occurrences.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Baseline {
    faults: BTreeMap<Fault, usize>,
}

impl Baseline {
    /// Adds an occurrence. The runs of a probe that show the same fault count once, equal lines of code several times.
    pub fn add(&mut self, fault: Fault) {
        let of_code = fault.counts_each_occurrence();
        let count = self.faults.entry(fault).or_default();
        *count = if of_code { *count + 1 } else { 1 };
    }

    /// Returns the number of occurrences of a fault.
    pub fn count(&self, fault: &Fault) -> usize {
        self.faults.get(fault).copied().unwrap_or_default()
    }

    /// Raises the number of occurrences to at least `count`.
    pub fn raise(&mut self, fault: Fault, count: usize) {
        let own = self.faults.entry(fault).or_default();
        *own = count.max(*own);
    }

    /// Merges another baseline: each fault keeps the larger number.
    pub fn merge(&mut self, other: Self) {
        other.faults.into_iter().for_each(|(fault, count)| self.raise(fault, count));
    }

    /// Returns the faults with their numbers, sorted.
    pub fn iter(&self) -> impl Iterator<Item = (&Fault, usize)> {
        self.faults.iter().map(|(fault, count)| (fault, *count))
    }

    /// Returns the number of different faults, which are the entries of the file.
    pub fn len(&self) -> usize {
        self.faults.len()
    }

    /// Whether the baseline has no faults.
    pub fn is_empty(&self) -> bool {
        self.faults.is_empty()
    }
}
