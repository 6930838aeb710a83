//! What a check saw, compared with what was known: what is fixed, and what the next baseline holds.

use agentnative_judge::{Baseline, Decided, Fault, Seen};

/// So many entries are named, and no more.
const NAMED: usize = 5;

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

impl Compared {
    /// Compares what was known with what was seen.
    pub fn of(seen: &Seen, known: &Baseline) -> Self {
        let mut compared = Self { next: seen.faults.clone(), ..Self::default() };
        for (fault, count) in known.iter() {
            let left = count.saturating_sub(seen.faults.count(fault));
            match seen.decides(fault) {
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
