//! What changed between two versions of a promise, and whom it breaks.
//!
//! An output is what a producer gives: whoever reads it relies on every promise, so a promise that is
//! widened breaks readers, and one that is narrowed does not.

mod alt;
mod array;
mod bundle;
mod catalogue;
mod change;
mod decide;
mod events;
mod expand;
mod found;
mod inline;
mod object;
mod outputs;
mod pattern;
mod rename;
mod sample;
mod scalar;
mod settle;
mod union;
mod validator;
mod walk;
mod witness;

pub use catalogue::{Rule, RuleExample, rule, rules};
pub use change::{Change, Class, Witness};

use super::OutputSpec;
use crate::OutputFormat;
use found::Found;
use outputs::Pair;
use std::collections::BTreeMap;

/// All changes between two versions of a target's promises, the worst first; none where they mean the same.
///
/// Promises are paired by probe and format; one on either side is a pair whatever they are called. Nothing
/// is run, read or fetched.
pub fn compare(old: &[OutputSpec], new: &[OutputSpec]) -> Vec<Change> {
    let mut changes = Vec::new();
    if let ([old], [new]) = (old, new) {
        changes = Pair::new(old, new).compare();
    } else {
        let (before, after) = (keyed(old), keyed(new));
        for (key, old) in &before {
            match after.get(key) {
                Some(new) => changes.extend(Pair::new(old, new).compare()),
                None => changes.push(whole(
                    old,
                    Found::breaking("diff-output-removed", format!("{} is gone", called(old))),
                )),
            }
        }
        for (_, new) in after.iter().filter(|(key, _)| !before.contains_key(*key)) {
            changes
                .push(whole(new, Found::compatible("diff-output-added", format!("{} is new", called(new)))));
        }
    }
    changes.sort_by_key(|change| change.class);
    changes
}

type Key<'a> = (Option<&'a str>, Option<OutputFormat>);

fn keyed(promises: &[OutputSpec]) -> BTreeMap<Key<'_>, &OutputSpec> {
    promises.iter().map(|promise| ((promise.probe.as_deref(), promise.format), promise)).collect()
}

fn whole(promise: &OutputSpec, found: Found) -> Change {
    let mut pair = Pair::new(promise, promise);
    pair.add(found);
    pair.changes.remove(0)
}

fn called(promise: &OutputSpec) -> String {
    let format = promise
        .format
        .map_or_else(|| "the output".to_owned(), |format| format!("the {} output", format.name()));
    promise.probe.as_ref().map_or(format.clone(), |probe| format!("{format} of the probe `{probe}`"))
}
