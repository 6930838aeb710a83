//! All changes between two versions of a target's promises.

use super::change::Change;
use super::elsewhere;
use super::outputs::OutputComparison;
use agentnative_contract::budget::{self, Budget};
use agentnative_contract::{OutputFormat, OutputSpec};
use std::collections::BTreeMap;

/// All changes between two versions of a target's promises, the worst first; none where they mean the same.
///
/// Outputs are paired by probe and format; one on either side is a pair whatever they are called. A change that several
/// outputs share is one change, which names all of them. Nothing is run, read or fetched.
pub fn compare(old: &[OutputSpec], new: &[OutputSpec]) -> Vec<Change> {
    let mut changes = Vec::new();
    if let ([old], [new]) = (old, new) {
        changes = compared(old, new);
    } else {
        let (before, after) = (by_probe_and_format(old), by_probe_and_format(new));
        for (key, old) in &before {
            match after.get(key) {
                Some(new) => changes.extend(compared(old, new)),
                None => {
                    let found =
                        Change::breaking("diff-output-removed", format!("{} was removed", label(old)));
                    changes.push(of_output(old, found));
                }
            }
        }
        for (_, new) in after.iter().filter(|(key, _)| !before.contains_key(*key)) {
            let found = Change::compatible("diff-output-added", format!("{} is new", label(new)));
            changes.push(of_output(new, found));
        }
    }
    changes.sort_by_key(|change| change.class);
    elsewhere::told_once(changes)
}

/// The changes of one output. Its schemas are compared within a budget.
fn compared(old: &OutputSpec, new: &OutputSpec) -> Vec<Change> {
    let sides = (old.clone(), new.clone());
    let whole =
        budget::within(Budget::COMPARISON, move || OutputComparison::new(&sides.0, &sides.1).compare(None));
    whole.unwrap_or_else(|spent| OutputComparison::new(old, new).compare(Some(spent)))
}

type Key<'a> = (Option<&'a str>, Option<OutputFormat>);

fn by_probe_and_format(promises: &[OutputSpec]) -> BTreeMap<Key<'_>, &OutputSpec> {
    promises.iter().map(|promise| ((promise.probe.as_deref(), promise.format), promise)).collect()
}

fn of_output(promise: &OutputSpec, found: Change) -> Change {
    Change { probe: promise.probe.clone(), format: promise.format, ..found }
}

fn label(promise: &OutputSpec) -> String {
    let format = promise
        .format
        .map_or_else(|| "the output".to_owned(), |format| format!("the {} output", format.name()));
    promise.probe.as_ref().map_or(format.clone(), |probe| format!("{format} of the probe `{probe}`"))
}
