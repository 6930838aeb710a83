//! `p5-refusal`: a destructive call without its confirmation is rejected, or only a preview, and names the
//! confirmation.

use super::changing::nothing_destroyed;
use crate::context::{CheckContext, RunView};
use crate::kit::{RunChanges, scenario_run};
use crate::verdict::{Assertion, Judgement, inconclusive};
use agentnative_core::catalogue::DerivedKind;
use agentnative_core::config::CommonOption;
use agentnative_core::model::{CheckId, Stream};
use agentnative_core::probe::Probe;

/// Words in the output of a call that indicate a preview of changes.
const PREVIEW: [&str; 5] = ["would", "dry run", "dry-run", "preview", "not removed"];

/// Judges `p5-refusal`: an unconfirmed call reports that it did nothing, and how to confirm it.
pub fn refusal(context: &CheckContext) -> Judgement {
    let destructive = context.changing_probes().filter(|(_, effect)| effect.unconfirmed.is_some());
    let mut probes = destructive.map(|(probe, _)| probe).peekable();
    if probes.peek().is_none() {
        return nothing_destroyed(context);
    }
    Judgement::from_assertions(probes.map(|probe| judge_probe(context, probe)), "")
}

fn judge_probe(context: &CheckContext, probe: &Probe) -> Assertion {
    let Some(run) = scenario_run(context, DerivedKind::Unconfirmed, probe) else {
        return inconclusive(format!("{} was not run without its confirmation", probe.name));
    };
    let Some(option) =
        probe.common_option(CommonOption::Confirm, context.profile).args().and_then(<[String]>::first)
    else {
        return inconclusive(
            run.blocked_by(CheckId::P5Confirm, format!("{} has no confirmation", probe.name)),
        );
    };
    if !RunChanges::from_run(&run)?.is_empty() {
        let what = format!("{} changes something", run.label());
        return inconclusive(run.blocked_by(CheckId::P5Confirm, what));
    }
    if run.exited()? == 0 && !is_preview(&run) {
        let detail = format!(
            "without `{option}`, the call changes nothing and exits with 0; expected another exit code, or words such as \"would remove\""
        );
        return run.failed_at_start("succeeds", Stream::Stdout, detail);
    }
    if !run.mentions(option) {
        let detail = format!("the message does not name `{option}`, which confirms the call");
        return run.failed_at_reason("unnamed", Stream::Stderr, detail);
    }
    Ok(())
}

fn is_preview(run: &RunView) -> bool {
    let lines = Stream::ALL.into_iter().filter_map(|stream| run.lines(stream)).flatten();
    let mut lines = lines.map(|line| line.to_lowercase());
    lines.any(|line| PREVIEW.iter().any(|word| line.contains(word)))
}
