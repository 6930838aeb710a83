//! Known faults, and those that a check finds: what stays the same of a fault from one check to the next.

use agentnative_core::model::{CheckId, Evidence, Layer, OutputFormat};
use std::collections::BTreeMap;
use std::fmt;

/// What stays the same of a fault when lines move and other bytes are printed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Fault {
    /// Name of the target.
    pub target: String,
    /// The check that reports it.
    pub check: CheckId,
    /// The probe that shows it, for a fault in runs.
    pub probe: Option<String>,
    /// The format of these runs.
    pub format: Option<OutputFormat>,
    /// The file that it is in, relative to the project.
    pub file: Option<String>,
    /// The kind of fault.
    pub kind: String,
    /// The line of code, with single spaces.
    pub text: Option<String>,
}

impl Fault {
    /// The fault of a check of this layer that is seen here.
    pub fn of(target: &str, check: CheckId, layer: Layer, evidence: &Evidence) -> Self {
        let line = |excerpt: &String| excerpt.split_whitespace().collect::<Vec<_>>().join(" ");
        Self {
            target: target.to_owned(),
            check,
            probe: evidence.probe.clone(),
            format: evidence.format,
            file: evidence.file.clone(),
            kind: evidence.kind.clone(),
            // What a document or a help page says may change; a line of code that changes is another one.
            text: evidence.excerpt.as_ref().filter(|_| layer == Layer::Source).map(line),
        }
    }
}

impl Fault {
    /// Whether each place that has it is one of its own; runs that show it are not.
    pub const fn is_of_code(&self) -> bool {
        self.file.is_some()
    }

    /// All of it in one text, with a NUL between its parts.
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

/// Faults, each with the number of places that have it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Baseline {
    faults: BTreeMap<Fault, usize>,
}

impl Baseline {
    /// Adds a place that has this fault. Runs of a probe that show the same fault are one place; equal lines of code
    /// are several.
    pub fn add(&mut self, fault: Fault) {
        let of_code = fault.is_of_code();
        let count = self.faults.entry(fault).or_default();
        *count = if of_code { *count + 1 } else { 1 };
    }

    /// The number of places that have this fault.
    pub fn count(&self, fault: &Fault) -> usize {
        self.faults.get(fault).copied().unwrap_or_default()
    }

    /// Makes this number at least so large.
    pub fn raise(&mut self, fault: Fault, count: usize) {
        let own = self.faults.entry(fault).or_default();
        *own = count.max(*own);
    }

    /// Adds what another baseline has beyond this one.
    pub fn join(&mut self, other: Self) {
        other.faults.into_iter().for_each(|(fault, count)| self.raise(fault, count));
    }

    /// The faults with their numbers, sorted.
    pub fn iter(&self) -> impl Iterator<Item = (&Fault, usize)> {
        self.faults.iter().map(|(fault, count)| (fault, *count))
    }

    /// The number of different faults: the entries of the file.
    pub fn len(&self) -> usize {
        self.faults.len()
    }

    /// Whether the baseline has no faults.
    pub fn is_empty(&self) -> bool {
        self.faults.is_empty()
    }
}
