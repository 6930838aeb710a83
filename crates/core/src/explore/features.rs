//! Tries features that the standard requires of each target and that no help page lists.

use super::planner::{Planner, Tried};
use super::settings::Calls;
use super::trial::Trial;
use crate::catalogue::DerivedKind;
use crate::model::{CallGroup, CallOutcome};
use crate::probe::{SHELLS, insert_last};
use std::collections::BTreeMap;
use std::ops::ControlFlow;

/// Number of commands that are called with an option that no page lists.
const MAX_COMMANDS: usize = 2;

struct Feature {
    kind: DerivedKind,
    /// Words in a help page that may stand for the feature.
    words: &'static [&'static str],
    /// The calls that may have the feature: arguments of the target or, for an option, of a command that works.
    calls: &'static [&'static [&'static str]],
}

const FEATURES: [Feature; 3] = [
    Feature {
        kind: DerivedKind::Completions,
        words: &["complete", "completion", "completions", "autocomplete", "autocompletion"],
        calls: &[&["completions", SHELLS[0]], &["completion", SHELLS[0]]],
    },
    Feature {
        kind: DerivedKind::Schema,
        words: &["schema", "schemas", "jsonschema"],
        calls: &[&["schema"], &["--schema"]],
    },
    Feature { kind: DerivedKind::Quiet, words: &["quiet", "silent"], calls: &[&["--quiet"]] },
];

impl Feature {
    /// Returns the calls of a feature that no help page lists.
    fn trials(&self, planner: &Planner<'_, '_>) -> Vec<Trial> {
        if self.words.iter().any(|word| planner.tree.words.contains(*word)) {
            return Vec::new();
        }
        let bases: Vec<Trial> = if self.kind == DerivedKind::Quiet {
            let bases = planner.callable().filter_map(|at| planner.base(at));
            let bases = bases.filter(|base| base.outcome == CallOutcome::Succeeded).take(MAX_COMMANDS);
            bases.map(|base| base.trial.clone()).collect()
        } else {
            let first = planner.callable().next();
            first.map(|at| Trial::new(at, CallGroup::Options, Vec::new())).into_iter().collect()
        };
        let with = |args: &[&str]| {
            let args: Vec<String> = args.iter().map(|arg| (*arg).to_owned()).collect();
            let trial = |base: &Trial| Trial {
                args: insert_last(&base.args, &args),
                group: CallGroup::Options,
                ..base.clone()
            };
            bases.iter().map(trial).collect::<Vec<_>>()
        };
        self.calls.iter().flat_map(|args| with(args)).collect()
    }
}

/// Calls the features that no help page lists.
pub(super) fn call_unlisted(planner: &mut Planner<'_, '_>) -> ControlFlow<Calls> {
    for feature in &FEATURES {
        for trial in feature.trials(planner) {
            planner.call(trial);
        }
    }
    planner.finish_group()
}

/// Returns the features that no help page lists and that all tried calls rejected, each with the name of one of these
/// calls.
pub(super) fn absent(planner: &Planner<'_, '_>) -> BTreeMap<DerivedKind, String> {
    let rejected = |feature: &Feature| {
        let ids: Vec<_> = feature.trials(planner).iter().map(Trial::id).collect();
        let calls = planner.tried.iter().filter(|tried| ids.contains(&tried.probe.id));
        let calls: Vec<&Tried<'_>> = calls.filter(|tried| tried.seen.is_some()).collect();
        let is_rejected =
            |tried: &&Tried<'_>| matches!(tried.outcome, CallOutcome::Refused | CallOutcome::Unexplained);
        let first =
            calls.first().filter(|_| planner.tree.notes.is_empty() && calls.iter().all(is_rejected))?;
        Some((feature.kind, first.probe.name.clone()))
    };
    FEATURES.iter().filter_map(rejected).collect()
}
