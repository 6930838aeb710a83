//! `p5-concurrent`: two calls at once keep the files intact.

use super::changing::{complete_run, judge_changing};
use crate::context::{CheckContext, RunView};
use crate::kit::{RunChanges, scenario_run};
use crate::traceback;
use crate::verdict::{Assertion, Judgement, SKIPPED_BY_FAST, inconclusive};
use agentnative_core::catalogue::DerivedKind;
use agentnative_core::model::Stream;
use agentnative_core::probe::Probe;
use agentnative_core::run::{FileChange, FileEntry, RunEnd};
use strict_json::sanitize;

/// Number of times that a pair of calls is made at once.
const PAIRS: usize = 3;
/// Maximum length of a path in a message, in characters.
const MAX_PATH: usize = 60;

/// Judges `p5-concurrent`: two calls at once keep the files intact.
pub fn concurrent(context: &CheckContext) -> Judgement {
    judge_changing(context, |probe, _| vec![judge_probe(context, probe)])
        .with_note(&format!("each pair of calls was made {PAIRS} times"))
}

fn judge_probe(context: &CheckContext, probe: &Probe) -> Assertion {
    let first = complete_run(context, probe)?;
    let call = context.derived_from(DerivedKind::Concurrent, probe).next();
    let pairs: Vec<RunView> = call.into_iter().flat_map(|call| context.runs_of(call)).collect();
    if pairs.len() < PAIRS {
        return inconclusive(SKIPPED_BY_FAST);
    }
    let second = scenario_run(context, DerivedKind::Again, probe);
    pairs.iter().try_for_each(|pair| judge_pair(pair, &first, second.as_ref()))
}

/// Compares the files after two calls at once with those after one call, and after two calls in a row.
fn judge_pair(pair: &RunView, first: &RunView, second: Option<&RunView>) -> Assertion {
    if let RunEnd::Signaled(signal) = pair.observation.end {
        return pair.failed("crash", format!("one of two calls at once is killed by signal {signal}"));
    }
    let code = pair.exited()?;
    let lines = pair.lines(Stream::Stderr).ok_or_else(|| pair.too_long())?;
    if let Some(found) = traceback::find(&lines) {
        return pair.failed_at_line("crash", Stream::Stderr, found.line, "one of two calls at once crashes");
    }
    let both_succeeded = Some(code) == pair.probe.exit;
    let (after_first, after_both) = (RunChanges::from_run(first)?, RunChanges::from_run(pair)?);
    let after_second = second.filter(|second| second.exit() == pair.probe.exit).map(RunChanges::from_run);
    let after_second = after_second.transpose()?;
    // A file whose name differs in each call, such as one with a random ID, is not missing.
    let has_other_files =
        after_both.all.iter().any(|made| made.before.is_none() && after_first.find(made).is_none());
    for change in &after_first.all {
        let Some(expected) = &change.after else { continue };
        let path = sanitize::sanitize_capped(&change.path, MAX_PATH);
        let Some(found) = after_both.find(change).and_then(|change| change.after.as_ref()) else {
            match both_succeeded && !has_other_files {
                true => return pair.failed("lost", format!("`{path}` is missing after two calls at once")),
                false => continue,
            }
        };
        if expected.shape.is_some() && found.shape.is_none() {
            return pair.failed("corrupt", format!("`{path}` is no valid JSON after two calls at once"));
        }
        if let Some(second) = after_second.as_ref().filter(|_| both_succeeded)
            && let Some(twice) = size_after(second, change, expected).filter(|twice| *twice > expected.size)
            && found.size < twice
        {
            let found = found.size;
            let detail = format!(
                "`{path}` has {found} bytes after two calls at once, and {twice} after two calls in a row"
            );
            return pair.failed("lost", detail);
        }
    }
    Ok(())
}

/// Returns the size of a changed file after a further call, whose changes are `later`. `None` if two first calls write the
/// file differently, so that sizes may differ by chance.
fn size_after(later: &RunChanges, change: &FileChange, expected: &FileEntry) -> Option<u64> {
    let later = later.find(change)?;
    let is_same = later.before.as_ref().is_some_and(|before| before.digest == expected.digest);
    later.after.as_ref().filter(|_| is_same).map(|after| after.size)
}
