//! `p6-sigterm`: an interrupted call ends, leaves no partial files, and can be repeated.

use crate::context::{CheckContext, RunView};
use crate::kit::{RunChanges, display_exit, scenario_run, varies_between_runs};
use crate::undeclared::without_feature;
use crate::verdict::{Assertion, Judgement, Reason, SKIPPED_BY_FAST, inconclusive};
use agentnative_core::catalogue::DerivedKind;
use agentnative_core::config::Feature;
use agentnative_core::model::{Stream, Variant};
use agentnative_core::probe::Probe;
use agentnative_core::run::{FileChange, FileEntry, FileKind, RunEnd};
use strict_json::sanitize;

/// Judges `p6-sigterm`: after SIGTERM, a call ends cleanly, and the next call works.
pub fn sigterm(context: &CheckContext) -> Judgement {
    judge_interruptible(context, |probe| judge_probe(context, probe))
}

/// Calls `each` for each long-running probe that can be interrupted, and combines the assertions into a judgement. If
/// there is no such probe, the judgement says what to declare.
pub(super) fn judge_interruptible<'a>(
    context: &'a CheckContext<'a>,
    each: impl Fn(&'a Probe) -> Vec<Assertion>,
) -> Judgement {
    without_feature(context, Feature::LongRunning, "the target has no long-running call").unwrap_or_else(
        || Judgement::from_assertions(interruptible(context).flat_map(each), DECLARE_INTERRUPT),
    )
}

const DECLARE_INTERRUPT: &str = "no long-running probe is declared: declare one with `workspace` and `interrupt = { after = \"TEXT\" }`, or `lacks = [\"long-running\"]` if each call ends immediately";

/// Returns the declared probes with `interrupt`: calls that run long enough to be interrupted.
fn interruptible<'a>(context: &'a CheckContext<'a>) -> impl Iterator<Item = &'a Probe> {
    context.probes.iter().copied().filter(|probe| probe.is_declared() && probe.call.interrupt.is_some())
}

fn judge_probe(context: &CheckContext, probe: &Probe) -> Vec<Assertion> {
    let Some(run) = scenario_run(context, DerivedKind::Interrupted, probe) else {
        return vec![inconclusive(format!("{} was not interrupted", probe.name))];
    };
    if let Err(reason) = was_interrupted(&run, probe) {
        return vec![inconclusive(reason)];
    }
    vec![ends_after_sigterm(&run), leaves_no_partial_files(&run, probe), can_be_repeated(context, probe)]
}

/// Passes if the signal was sent while the call was running. Otherwise fails with the reason that the run proves
/// nothing.
pub(super) fn was_interrupted(run: &RunView, probe: &Probe) -> Result<(), Reason> {
    if run.observation.signalled.is_some() {
        return Ok(());
    }
    if run.exit().is_none() {
        run.ended()?;
    }
    let text = sanitize::sanitize_line(probe.call.interrupt.as_deref().unwrap_or_default());
    let label = run.label();
    Err(format!("{label} ended before it could be interrupted: it did not print `{text}`, or ended right after it; correct `interrupt.after`, or make the call take longer").into())
}

/// True if a call of `probe` that SIGTERM interrupts does not end as `p6-sigterm` requires.
pub(super) fn ends_incorrectly(context: &CheckContext, probe: &Probe) -> bool {
    scenario_run(context, DerivedKind::Interrupted, probe)
        .is_some_and(|run| was_interrupted(&run, probe).is_ok() && ends_after_sigterm(&run).is_err())
}

/// Passes if an interrupted call ends in time, without exit code 0, and without leaving processes behind.
fn ends_after_sigterm(run: &RunView) -> Assertion {
    match run.observation.end {
        RunEnd::TimedOut | RunEnd::Waited => {
            return run.failed("goes-on", "5 seconds after SIGTERM, the command was still running");
        }
        RunEnd::Exited(0) => {
            return run.failed("exit-code", "after SIGTERM, the command exits with 0, as after a success");
        }
        _ => run.ended()?,
    }
    if !run.observation.left_behind.is_empty() {
        run.had_enough_time()?;
        let detail = format!("after SIGTERM, the command leaves processes behind ({})", run.left_behind());
        return run.failed("left-behind", detail);
    }
    Ok(())
}

/// Passes if each file is as before the interrupted call, or as after a complete run of the call.
fn leaves_no_partial_files(run: &RunView, probe: &Probe) -> Assertion {
    let context = run.context;
    let changed = RunChanges::from_run(run)?;
    if changed.is_empty() {
        return Ok(());
    }
    let Some(complete) = scenario_run(context, DerivedKind::Confirmed, probe) else {
        return inconclusive(format!("{} was not run as a complete call", probe.name));
    };
    complete.ended()?;
    let Some(again) = context.run(complete.probe, complete.format(), Variant::Repeat, 0) else {
        return inconclusive(SKIPPED_BY_FAST);
    };
    let (complete, again) = (RunChanges::from_run(&complete)?, RunChanges::from_run(&again)?);
    let partial = |change: &&&FileChange| !is_complete(change, &complete, &again);
    match changed.all.iter().filter(partial).count() {
        0 => Ok(()),
        _ => {
            let partial = RunChanges::from_list(changed.all.iter().filter(partial).copied().collect());
            let detail = format!(
                "after SIGTERM, the files are neither as before nor as after a complete run: the command {}",
                partial.in_words()
            );
            run.failed("half-done", detail)
        }
    }
}

/// True if the interrupted call left a file or folder in the same state as the run `complete`. A file that differs
/// between the two complete runs is compared by its structure.
fn is_complete(change: &FileChange, complete: &RunChanges, again: &RunChanges) -> bool {
    let Some(other) = complete.find(change) else { return false };
    let same = |a: &FileEntry, b: &FileEntry| {
        let varies = a.kind == FileKind::File && varies_between_runs(other, again);
        a.kind == b.kind && a.mode == b.mode && (a.digest == b.digest || varies && a.shape == b.shape)
    };
    match (&change.after, &other.after) {
        (None, None) => true,
        (Some(one), Some(two)) => same(one, two),
        _ => false,
    }
}

/// Passes if the same call ends as declared when it is repeated in the folder of the interrupted call.
fn can_be_repeated(context: &CheckContext, probe: &Probe) -> Assertion {
    let Some(run) = scenario_run(context, DerivedKind::After, probe) else {
        return inconclusive(format!("{} was not called again", probe.name));
    };
    if let Some(complete) =
        scenario_run(context, DerivedKind::Confirmed, probe).filter(|complete| complete.exit() != probe.exit)
    {
        let label = complete.label();
        return inconclusive(format!(
            "{label} did not end as declared: correct `args`, `setup` or `exit` of the probe"
        ));
    }
    let code = run.exited()?;
    if probe.exit.is_some_and(|expected| expected != code) {
        let detail = format!(
            "after an interrupted call, the same call exits with {code}, expected {}",
            display_exit(probe.exit)
        );
        return run.failed_at_reason("not-again", Stream::Stderr, detail);
    }
    Ok(())
}
