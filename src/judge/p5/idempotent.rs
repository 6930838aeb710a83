//! `p5-idempotent`: twice is once.

use super::changed::Changed;
use super::{in_full, of_changing, scene};
use crate::catalogue::Derived;
use crate::judge::FAST;
use crate::judge::context::CheckContext;
use crate::judge::p2::display_exit;
use crate::judge::run_view::RunView;
use crate::judge::verdict::{Assertion, Judgement, inconclusive};
use crate::model::{Stream, Variant};
use crate::probe::{Effect, Probe};
use crate::run::{Change, EntryKind};
use std::cell::Cell;

/// `p5-idempotent`
pub fn idempotent(context: &CheckContext) -> Judgement {
    let unsteady = Cell::new(0);
    let judgement = of_changing(context, |probe, effect| vec![of_probe(context, probe, effect, &unsteady)]);
    match unsteady.get() {
        0 => judgement,
        files => {
            let files = agentnative_contract::counted(files, "file");
            judgement
                .noted(&format!("{files} that two first calls write differently were compared by structure"))
        }
    }
}

fn of_probe(context: &CheckContext, probe: &Probe, effect: &Effect, unsteady: &Cell<usize>) -> Assertion {
    if !effect.idempotent {
        return inconclusive(format!(
            "{} changes something, and nothing says whether a second call changes more: declare `idempotent = true` if it does not",
            probe.name
        ));
    }
    let Some(again) = scene(context, Derived::Again, probe) else {
        return inconclusive(format!("{} was not run twice", probe.name));
    };
    let first = in_full(context, probe)?;
    let code = again.exited()?;
    if probe.exit.is_some_and(|expected| expected != code) {
        let first = display_exit(probe.exit);
        let detail = format!("the second call exits with {code} instead of {first}, the code of the first");
        return again.failed_at_reason("exit-code", Stream::Stderr, detail);
    }
    let mut changed = Changed::of(&again)?;
    if changed.none(&again)? {
        return Ok(());
    }
    let other = context.run(first.probe, first.format(), Variant::Repeat, 0);
    let Some(other) = other else { return inconclusive(FAST) };
    let (first, other) = (Changed::of(&first)?, Changed::of(&other)?);
    let all = changed.all.len();
    changed.all.retain(|change| !is_unsteady(change, &first, &other));
    unsteady.set(unsteady.get() + all - changed.all.len());
    differs(&again, &changed)
}

fn differs(again: &RunView, changed: &Changed) -> Assertion {
    if changed.is_empty() {
        return Ok(());
    }
    again.failed("state", format!("the second call {}; expected the state after the first", changed.words()))
}

/// Whether a file that the second call changed also differs between two first calls, and has the same structure before
/// and after: a time in it, an ID.
fn is_unsteady(change: &Change, first: &Changed, other: &Changed) -> bool {
    let (Some(before), Some(after)) = (&change.before, &change.after) else { return false };
    let find = |changed: &Changed| {
        let own = changed.all.iter().find(|own| own.area == change.area && own.path == change.path);
        own.and_then(|own| own.after.clone())
    };
    let (Some(one), Some(two)) = (find(first), find(other)) else { return false };
    let is_file = [before, after, &one, &two].iter().all(|entry| entry.kind == EntryKind::File);
    is_file && one.digest != two.digest && before.mode == after.mode && before.shape == after.shape
}
