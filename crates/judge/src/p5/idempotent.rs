//! `p5-idempotent`: a second call changes nothing more than the first.

use super::changing::{complete_run, judge_changing};
use crate::context::{CheckContext, RunView};
use crate::kit::{RunChanges, display_exit, scenario_run, varies_between_runs};
use crate::verdict::{Assertion, Judgement, SKIPPED_BY_FAST, inconclusive};
use agentnative_core::catalogue::DerivedKind;
use agentnative_core::model::{Stream, Variant};
use agentnative_core::probe::{Effect, Probe};
use agentnative_core::run::{FileChange, FileKind};
use std::cell::Cell;

/// Judges `p5-idempotent`: a repeated call has the result of a single call.
pub fn idempotent(context: &CheckContext) -> Judgement {
    let varying = Cell::new(0);
    let mut changing = context.changing_probes().peekable();
    if changing.peek().is_some() && changing.all(|(_, effect)| effect.not_idempotent) {
        return Judgement::NotApplicable(
            "each call that changes something has `idempotent = false`".to_owned(),
        );
    }
    let judgement = judge_changing(context, |probe, effect| match effect.not_idempotent {
        true => Vec::new(),
        false => vec![judge_probe(context, probe, effect, &varying)],
    });
    match varying.get() {
        0 => judgement,
        files => {
            let files = agentnative_contract::counted(files, "file");
            judgement.with_note(&format!(
                "compared by structure, because two first calls write them differently: {files}"
            ))
        }
    }
}

fn judge_probe(context: &CheckContext, probe: &Probe, effect: &Effect, varying: &Cell<usize>) -> Assertion {
    if !effect.idempotent {
        return inconclusive(format!(
            "{} changes something, but it is not declared whether a second call changes more: declare `idempotent = true` if it does not, `false` if it does",
            probe.name
        ));
    }
    let Some(again) = scenario_run(context, DerivedKind::Again, probe) else {
        return inconclusive(format!("{} was not run twice", probe.name));
    };
    let first = complete_run(context, probe)?;
    let code = again.exited()?;
    if probe.exit.is_some_and(|expected| expected != code) {
        let first = display_exit(probe.exit);
        let detail = format!("the second call exits with {code}, expected {first} as the first call");
        return again.failed_at_reason("exit-code", Stream::Stderr, detail);
    }
    let mut changed = RunChanges::from_run(&again)?;
    if changed.changed_nothing(&again)? {
        return Ok(());
    }
    let other = context.run(first.probe, first.format(), Variant::Repeat, 0);
    let Some(other) = other else { return inconclusive(SKIPPED_BY_FAST) };
    let (first, other) = (RunChanges::from_run(&first)?, RunChanges::from_run(&other)?);
    let all = changed.all.len();
    changed.all.retain(|change| !has_same_structure(change, &first, &other));
    varying.set(varying.get() + all - changed.all.len());
    differs(&again, &changed)
}

fn differs(again: &RunView, changed: &RunChanges) -> Assertion {
    if changed.is_empty() {
        return Ok(());
    }
    again.failed(
        "state",
        format!("the second call {}; expected the state after the first", changed.in_words()),
    )
}

/// True if a second call changed a file only in values that also differ between two first calls, `first` and `other`,
/// such as a time or an ID.
fn has_same_structure(change: &FileChange, first: &RunChanges, other: &RunChanges) -> bool {
    let (Some(before), Some(after)) = (&change.before, &change.after) else { return false };
    let written = first.find(change).is_some_and(|written| varies_between_runs(written, other));
    let is_file = before.kind == FileKind::File && after.kind == FileKind::File;
    written && is_file && before.mode == after.mode && before.shape == after.shape
}
