//! `p5-refusal`: what is not confirmed is refused, or only shown, and says how it is confirmed.

use super::changing::nothing_destroyed;
use crate::context::{CheckContext, RunView};
use crate::kit::{Changed, scene};
use crate::verdict::{Assertion, Judgement, inconclusive};
use agentnative_core::catalogue::Derived;
use agentnative_core::config::Flag;
use agentnative_core::model::{CheckId, Stream};
use agentnative_core::probe::Probe;

/// Words of a call that only shows what it would do.
const PREVIEW: [&str; 5] = ["would", "dry run", "dry-run", "preview", "not removed"];

/// `p5-refusal`
pub fn refusal(context: &CheckContext) -> Judgement {
    let destructive = context.changing().filter(|(_, effect)| effect.unconfirmed.is_some());
    let mut probes = destructive.map(|(probe, _)| probe).peekable();
    if probes.peek().is_none() {
        return nothing_destroyed(context);
    }
    Judgement::of(probes.map(|probe| of_probe(context, probe)), "")
}

fn of_probe(context: &CheckContext, probe: &Probe) -> Assertion {
    let Some(run) = scene(context, Derived::Unconfirmed, probe) else {
        return inconclusive(format!("{} was not run without its confirmation", probe.name));
    };
    let Some(option) = probe.flag(Flag::Confirm, context.profile).args().and_then(<[String]>::first) else {
        return inconclusive(
            run.blocked_by(CheckId::P5Confirm, format!("{} has no confirmation", probe.name)),
        );
    };
    if !Changed::of(&run)?.is_empty() {
        let what = format!("{} changes something", run.label());
        return inconclusive(run.blocked_by(CheckId::P5Confirm, what));
    }
    if run.exited()? == 0 && !is_preview(&run) {
        let detail = format!(
            "without `{option}`, nothing is changed, and the exit code is 0: expected another code, or words such as \"would remove\""
        );
        return run.failed_at_start("succeeds", Stream::Stdout, detail);
    }
    if !run.names(option) {
        let detail = format!("the message does not name `{option}`, which confirms the call");
        return run.failed_at_reason("unnamed", Stream::Stderr, detail);
    }
    Ok(())
}

/// Whether it says that it only shows what it would do.
fn is_preview(run: &RunView) -> bool {
    let lines = Stream::ALL.into_iter().filter_map(|stream| run.lines(stream)).flatten();
    let mut lines = lines.map(|line| line.to_lowercase());
    lines.any(|line| PREVIEW.iter().any(|word| line.contains(word)))
}
