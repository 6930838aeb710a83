//! Compares the problems that a check found with a baseline, which is a file of accepted problems. Computes which
//! entries are fixed, and the baseline to write next.

use agentnative_judge::{Baseline, CheckCoverage, Fault, Resolution};

/// Maximum number of baseline entries that a note of the report lists; more are counted.
const MAX_NAMED: usize = 5;

/// The result of comparing the problems that a check found with a baseline of accepted problems.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BaselineComparison {
    /// The baseline to write next: all problems that were found, and the old entries that this check could not decide.
    pub next: Baseline,
    /// The entries whose problem no longer occurs. If a file had several equal lines with the problem, the count is the
    /// number of fixed lines.
    pub fixed: Baseline,
    /// The entries that stay in the baseline because their check was made, but without a run of their probe.
    pub not_run: Vec<Fault>,
}

impl BaselineComparison {
    /// Compares the problems that a check found (`seen`) with the accepted problems (`known`).
    pub fn new(seen: &CheckCoverage, known: &Baseline) -> Self {
        let mut compared = Self { next: seen.faults.clone(), ..Self::default() };
        for (fault, count) in known.iter() {
            let left = count.saturating_sub(seen.faults.count(fault));
            match seen.resolution_of(fault) {
                _ if left == 0 => {}
                Resolution::Decided => compared.fixed.set_at_least(fault.clone(), left),
                decided => {
                    compared.next.set_at_least(fault.clone(), count);
                    compared.not_run.extend((decided == Resolution::NotRun).then(|| fault.clone()));
                }
            }
        }
        compared
    }

    /// Returns notes for the report: on fixed entries, and on entries whose probe was not run. If `written`, the new
    /// baseline omits the fixed entries; otherwise, the note recommends `--write-baseline`.
    pub fn notes(&self, written: bool) -> Vec<String> {
        let mut notes = Vec::new();
        let fixed: Vec<&Fault> = self.fixed.iter().map(|(fault, _)| fault).collect();
        if let Some((entries, are, them)) = entries_in_words(fixed.len()) {
            let then = match written {
                true => format!("--write-baseline removed {them}"),
                false => format!("run --write-baseline to remove {them}"),
            };
            notes.push(format!("{entries} of the baseline {are} fixed: {}; {then}", join_names(&fixed)));
        }
        let not_run: Vec<&Fault> = self.not_run.iter().collect();
        if let Some((entries, are, them)) = entries_in_words(not_run.len()) {
            notes.push(format!(
                "{entries} of the baseline {are} kept because the probe was not run: {}; delete {them} if the probe \
                 is gone",
                join_names(&not_run)
            ));
        }
        notes
    }
}

/// Returns a number of entries with the matching verb and pronoun: `2 entries`, `are`, `them`; `None` for 0.
fn entries_in_words(count: usize) -> Option<(String, &'static str, &'static str)> {
    match count {
        0 => None,
        1 => Some(("1 entry".to_owned(), "is", "it")),
        many => Some((format!("{many} entries"), "are", "them")),
    }
}

/// Joins the names of the first problems with commas, followed by the number of the others: `and 3 more`.
fn join_names(faults: &[&Fault]) -> String {
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
