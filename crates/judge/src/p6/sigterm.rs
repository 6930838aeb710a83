//! `p6-sigterm`: a call that is interrupted ends, leaves nothing half done, and can be made again.

use crate::context::{CheckContext, RunView};
use crate::kit::{Changed, display_exit, is_unsteady, scene};
use crate::undeclared::without_feature;
use crate::verdict::{Assertion, FAST, Judgement, Reason, inconclusive};
use agentnative_core::catalogue::Derived;
use agentnative_core::config::Feature;
use agentnative_core::model::{Stream, Variant};
use agentnative_core::probe::Probe;
use agentnative_core::run::{Change, End, Entry, EntryKind};
use strict_json::sanitize;

/// `p6-sigterm`
pub fn sigterm(context: &CheckContext) -> Judgement {
    of_interruptible(context, |probe| of_probe(context, probe))
}

/// Judges what `each` says of the probes that can be interrupted; says what to declare where there is none.
pub(super) fn of_interruptible<'a>(
    context: &'a CheckContext<'a>,
    each: impl Fn(&'a Probe) -> Vec<Assertion>,
) -> Judgement {
    without_feature(context, Feature::LongRunning, "no call works for a while")
        .unwrap_or_else(|| Judgement::of(interruptible(context).flat_map(each), NONE))
}

/// What to declare where no call can be interrupted.
const NONE: &str = "no probe is declared that works for a while: declare one with `workspace` and `interrupt = { after = \"TEXT\" }`, or `lacks = [\"long-running\"]` if each call ends at once";

/// The probes that are declared to work for a while.
fn interruptible<'a>(context: &'a CheckContext<'a>) -> impl Iterator<Item = &'a Probe> {
    context.probes.iter().filter(|probe| probe.is_declared() && probe.call.interrupt.is_some())
}

fn of_probe(context: &CheckContext, probe: &Probe) -> Vec<Assertion> {
    let Some(run) = scene(context, Derived::Interrupted, probe) else {
        return vec![inconclusive(format!("{} was not interrupted", probe.name))];
    };
    if let Err(reason) = was_interrupted(&run, probe) {
        return vec![inconclusive(reason)];
    }
    vec![ends(&run), leaves_nothing_half_done(&run, probe), works_again(context, probe)]
}

pub(super) fn was_interrupted(run: &RunView, probe: &Probe) -> Result<(), Reason> {
    if run.observation.signalled.is_some() {
        return Ok(());
    }
    if run.exit().is_none() {
        run.ended()?;
    }
    let text = sanitize::line(probe.call.interrupt.as_deref().unwrap_or_default());
    let label = run.label();
    Err(format!("{label} ended before it could be interrupted: `{text}` was not seen, or it ended right after it; correct `interrupt.after`, or make the call take longer").into())
}

/// Whether it does not end as it has to.
pub(super) fn ends_wrong(context: &CheckContext, probe: &Probe) -> bool {
    scene(context, Derived::Interrupted, probe)
        .is_some_and(|run| was_interrupted(&run, probe).is_ok() && ends(&run).is_err())
}

/// It ends soon, with what tells that it was interrupted, and takes its children along.
fn ends(run: &RunView) -> Assertion {
    match run.observation.end {
        End::TimedOut | End::Waited => {
            return run.failed("goes-on", "5 seconds after SIGTERM, the command was still running");
        }
        End::Exited(0) => {
            return run.failed("exit-code", "after SIGTERM, the command exits with 0, as if it were done");
        }
        _ => run.ended()?,
    }
    if !run.observation.left_behind.is_empty() {
        run.had_its_time()?;
        let detail = format!("after SIGTERM, the command leaves processes behind ({})", run.left_behind());
        return run.failed("left-behind", detail);
    }
    Ok(())
}

/// Each file is as it was before, or as a whole run leaves it.
fn leaves_nothing_half_done(run: &RunView, probe: &Probe) -> Assertion {
    let context = run.context;
    let changed = Changed::of(run)?;
    if changed.is_empty() {
        return Ok(());
    }
    let Some(whole) = scene(context, Derived::Confirmed, probe) else {
        return inconclusive(format!("{} was not run in full", probe.name));
    };
    whole.ended()?;
    let Some(again) = context.run(whole.probe, whole.format(), Variant::Repeat, 0) else {
        return inconclusive(FAST);
    };
    let (whole, again) = (Changed::of(&whole)?, Changed::of(&again)?);
    let half = |change: &&&Change| !is_whole(change, &whole, &again);
    match changed.all.iter().filter(half).count() {
        0 => Ok(()),
        _ => {
            let half = Changed::only(changed.all.iter().filter(half).copied().collect());
            let detail = format!(
                "after SIGTERM, what the command leaves is neither as before nor as after a whole run: it {}",
                half.words()
            );
            run.failed("half-done", detail)
        }
    }
}

/// Whether a path is as a whole run leaves it.
fn is_whole(change: &Change, whole: &Changed, again: &Changed) -> bool {
    let Some(other) = whole.find(change) else { return false };
    let same = |a: &Entry, b: &Entry| {
        let unsteady = a.kind == EntryKind::File && is_unsteady(other, again);
        a.kind == b.kind && a.mode == b.mode && (a.digest == b.digest || unsteady && a.shape == b.shape)
    };
    match (&change.after, &other.after) {
        (None, None) => true,
        (Some(one), Some(two)) => same(one, two),
        _ => false,
    }
}

/// The same call in the same folder does then what it does otherwise.
fn works_again(context: &CheckContext, probe: &Probe) -> Assertion {
    let Some(run) = scene(context, Derived::After, probe) else {
        return inconclusive(format!("{} was not called again", probe.name));
    };
    if let Some(whole) = scene(context, Derived::Confirmed, probe).filter(|whole| whole.exit() != probe.exit)
    {
        let label = whole.label();
        return inconclusive(format!(
            "{label} did not end as declared: correct `args`, `setup` or `exit` of the probe"
        ));
    }
    let code = run.exited()?;
    if probe.exit.is_some_and(|expected| expected != code) {
        let detail = format!(
            "after a call that was interrupted, the same call exits with {code} instead of {}",
            display_exit(probe.exit)
        );
        return run.failed_at_reason("not-again", Stream::Stderr, detail);
    }
    Ok(())
}
