//! Compares the output specifications of two versions of a target.

use super::change::Change;
use super::merge;
use super::outputs::OutputComparison;
use agentnative_contract::budget::{self, Budget};
use agentnative_contract::{OutputFormat, OutputSpec};
use std::collections::BTreeMap;

/// Returns all changes between the outputs of two versions of a target, the most severe first. Empty if the outputs are
/// equivalent.
///
/// Each old output is compared with the new output of the same probe and format. If each version has a single output,
/// the two are compared whatever their names are. A change that several outputs share is reported once, with the other
/// outputs in [`Change::also`]. The function executes, reads and fetches nothing.
pub fn compare(old: &[OutputSpec], new: &[OutputSpec]) -> Vec<Change> {
    let mut changes = Vec::new();
    if let ([old], [new]) = (old, new) {
        changes = compare_output(old, new);
    } else {
        let (before, after) = (by_probe_and_format(old), by_probe_and_format(new));
        for (key, old) in &before {
            match after.get(key) {
                Some(new) => changes.extend(compare_output(old, new)),
                None => {
                    let change =
                        Change::breaking("diff-output-removed", format!("{} was removed", label(old)));
                    changes.push(with_output(old, change));
                }
            }
        }
        for (_, new) in after.iter().filter(|(key, _)| !before.contains_key(*key)) {
            let change = Change::compatible("diff-output-added", format!("{} is new", label(new)));
            changes.push(with_output(new, change));
        }
    }
    changes.sort_by_key(|change| change.class);
    merge::merge_duplicates(changes)
}

/// Compares two versions of one output. If the comparison exceeds its budget, it is repeated without the schemas.
fn compare_output(old: &OutputSpec, new: &OutputSpec) -> Vec<Change> {
    let sides = (old.clone(), new.clone());
    let complete = budget::run_within(Budget::COMPARISON, move || {
        OutputComparison::new(&sides.0, &sides.1).compare(None)
    });
    complete.unwrap_or_else(|spent| OutputComparison::new(old, new).compare(Some(spent)))
}

type ChangeKey<'a> = (Option<&'a str>, Option<OutputFormat>);

fn by_probe_and_format(specs: &[OutputSpec]) -> BTreeMap<ChangeKey<'_>, &OutputSpec> {
    specs.iter().map(|spec| ((spec.probe.as_deref(), spec.format), spec)).collect()
}

fn with_output(spec: &OutputSpec, change: Change) -> Change {
    Change { probe: spec.probe.clone(), format: spec.format, ..change }
}

fn label(spec: &OutputSpec) -> String {
    let format =
        spec.format.map_or_else(|| "the output".to_owned(), |format| format!("the {} output", format.name()));
    spec.probe.as_ref().map_or(format.clone(), |probe| format!("{format} of the probe `{probe}`"))
}
