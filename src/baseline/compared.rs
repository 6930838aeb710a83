//! Compares the problems of a check with a baseline: which are fixed, and the next baseline.

use agentnative_judge::{Baseline, CheckCoverage, Fault, Resolution};

/// Maximum number of entries that a note names.
const MAX_NAMED: usize = 5;

/// The result of comparing a baseline with the problems of a check.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BaselineComparison {
    /// The next baseline: the problems that were found, and the entries that could not be decided.
    pub next: Baseline,
    /// The entries whose problem is fixed; for equal lines of code, with the number of fixed ones.
    pub fixed: Baseline,
    /// The entries that are kept because their probe was not run, though their check was made.
    pub not_run: Vec<Fault>,
}

impl BaselineComparison {
    /// Compares the problems of a check with the `known` ones.
    pub fn new(seen: &CheckCoverage, known: &Baseline) -> Self {
        let mut compared = Self { next: seen.faults.clone(), ..Self::default() };
        for (fault, count) in known.iter() {
            let left = count.saturating_sub(seen.faults.count(fault));
            match seen.resolution_of(fault) {
                _ if left == 0 => {}
                Resolution::Decided => compared.fixed.raise(fault.clone(), left),
                decided => {
                    compared.next.raise(fault.clone(), count);
                    compared.not_run.extend((decided == Resolution::NotRun).then(|| fault.clone()));
                }
            }
        }
        compared
    }

    /// Returns the notes of the report: what is fixed, and what to do about it unless the baseline is `written` now.
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

/// Returns the count of entries with the verb and the pronoun that match it; `None` for 0.
fn words(count: usize) -> Option<(String, &'static str, &'static str)> {
    match count {
        0 => None,
        1 => Some(("1 entry".to_owned(), "is", "it")),
        many => Some((format!("{many} entries"), "are", "them")),
    }
}

/// Lists the first problems, and the number of the others.
fn list(faults: &[&Fault]) -> String {
    let mut names: Vec<String> = Vec::new();
    for fault in faults {
        let name = fault.to_string();
        if names.last() != Some(&name) {
            names.push(name);
        }
    }
    let more = names.len().saturating_sub(MAX_NAMED);
    names.truncate(MAX_NAMED);
    names.extend((more > 0).then(|| format!("and {more} more")));
    names.join(", ")
}
