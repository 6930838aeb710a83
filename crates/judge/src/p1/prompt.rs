//! `p1-no-prompt`: without an interactive terminal, calls ask no questions and open no editor.

use crate::context::{CheckContext, RunView};
use crate::kit::{declare_success, judge_hang};
use crate::verdict::{Assertion, Judgement, Unmet, inconclusive};
use agentnative_core::model::{CheckId, Variant};
use agentnative_core::run::TripwirePurpose;

/// Judges `p1-no-prompt`: without a terminal on stdin, no call waits for input or opens an editor.
pub fn no_prompt(context: &CheckContext) -> Judgement {
    let runs =
        context.runs().filter(|run| run.variant() != Variant::ClosedPipe && !run.probe.has_special_end());
    let nothing_declared = context.data_probes().next().is_none();
    let undecided = nothing_declared
        .then(|| inconclusive(format!("no successful command was run: {}", declare_success(""))));
    Judgement::from_assertions(runs.map(|run| asks_no_question(&run)).chain(undecided), declare_success(""))
}

fn asks_no_question(run: &RunView) -> Assertion {
    if let Some(trip) = run.called_program(TripwirePurpose::Editor)? {
        let detail = format!("the command opens the editor `{trip}`, although no user can edit");
        return run.failed("editor", detail);
    }
    if !run.did_not_end() {
        run.ended()?;
        return Ok(());
    }
    match judge_hang(run) {
        Err(Unmet::Failed(_)) if !run.waits_for_input() => {
            let what = format!("{} did not end", run.label());
            inconclusive(run.blocked_by(CheckId::P2Completes, what))
        }
        other => other,
    }
}
