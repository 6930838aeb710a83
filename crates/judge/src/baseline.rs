//! Identifies faults from one check of a target to the next, and counts the known ones in a baseline.

use agentnative_core::model::{CheckId, Evidence, Layer, OutputFormat};
use std::collections::BTreeMap;
use std::fmt;

/// Identifies a fault from one check of the target to the next. Line numbers and printed bytes are not part of the
/// identity, because they change often.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Fault {
    /// Name of the target.
    pub target: String,
    /// Check that reports the fault.
    pub check: CheckId,
    /// Name of the probe (a call of the target) whose run shows the fault; `None` if no run shows it.
    pub probe: Option<String>,
    /// Output format of the run that shows the fault; `None` if no run shows it.
    pub format: Option<OutputFormat>,
    /// File that contains the fault, relative to the project's folder; `None` if it is a fault of a run.
    pub file: Option<String>,
    /// Kind of fault, such as `not-json`. Each check declares its kinds.
    pub kind: String,
    /// Line of code that contains the fault, with each sequence of white space replaced by one space. `None` unless the
    /// fault is in source code.
    pub text: Option<String>,
}

impl Fault {
    /// Creates the identity of the fault that `evidence` shows. `layer` is the layer of `check`: only for source checks
    /// does the identity contain the line of code.
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
    /// True if the fault is in a file: then each occurrence counts. A fault of runs counts once, even if several runs
    /// show it.
    pub const fn counts_each_occurrence(&self) -> bool {
        self.file.is_some()
    }

    /// Returns a string that identifies the fault: all its fields, separated by NUL bytes.
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

/// Known faults, each with the number of its occurrences.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Baseline {
    faults: BTreeMap<Fault, usize>,
}

impl Baseline {
    /// Adds one occurrence of a fault. Each occurrence in a file increases the number. For a fault of runs, the number
    /// stays 1.
    pub fn add(&mut self, fault: Fault) {
        let of_code = fault.counts_each_occurrence();
        let count = self.faults.entry(fault).or_default();
        *count = if of_code { *count + 1 } else { 1 };
    }

    /// Returns the number of occurrences of a fault; 0 if the baseline does not contain the fault.
    pub fn count(&self, fault: &Fault) -> usize {
        self.faults.get(fault).copied().unwrap_or_default()
    }

    /// Sets the number of occurrences of `fault` to `count`, unless the number is already larger.
    pub fn set_at_least(&mut self, fault: Fault, count: usize) {
        let own = self.faults.entry(fault).or_default();
        *own = count.max(*own);
    }

    /// Adds the faults of another baseline. A fault in both keeps the larger number of occurrences.
    pub fn merge(&mut self, other: Self) {
        other.faults.into_iter().for_each(|(fault, count)| self.set_at_least(fault, count));
    }

    /// Returns each fault with the number of its occurrences, sorted by fault.
    pub fn iter(&self) -> impl Iterator<Item = (&Fault, usize)> {
        self.faults.iter().map(|(fault, count)| (fault, *count))
    }

    /// Returns the number of different faults; the occurrences of one fault count once. Each fault is one entry of the
    /// baseline file.
    pub fn len(&self) -> usize {
        self.faults.len()
    }

    /// Whether the baseline has no faults.
    pub fn is_empty(&self) -> bool {
        self.faults.is_empty()
    }
}
