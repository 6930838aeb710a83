//! `p1-no-prompt`: without an interactive terminal, calls ask no questions and open no editor.

use crate::context::{CheckContext, RunView};
use crate::kit::{declare_success, judge_hang, looks_like_question};
use crate::verdict::{Assertion, Judgement, Unmet, doubt, inconclusive};
use agentnative_core::model::{CheckId, Variant};
use agentnative_core::run::TripwirePurpose;

/// Judges `p1-no-prompt`: without a terminal on stdin, no call waits for input or opens an editor.
pub fn no_prompt(context: &CheckContext) -> Judgement {
    let runs =
        context.runs().filter(|run| run.variant() != Variant::ClosedPipe && !run.probe.has_special_end());
    let nothing_declared = context.data_probes().next().is_none();
    let undecided = nothing_declared
        .then(|| inconclusive(format!("no successful command was run: {}", declare_success(""))));
    let assertions = runs.map(|run| unless_interactive(&run, asks_no_question(&run)));
    Judgement::from_assertions(assertions.chain(undecided), declare_success(""))
}

/// Words of commands, and options, that are interactive on purpose. Explored calls with them prove nothing.
const INTERACTIVE: [&str; 15] = [
    "edit",
    "shell",
    "console",
    "repl",
    "login",
    "tui",
    "browse",
    "interactive",
    "--edit",
    "-e",
    "--interactive",
    "-i",
    "--tui",
    "--shell",
    "--login",
];

/// Returns the assertion about a run, unless it is about an explored call that may be interactive on purpose: a command
/// such as `edit`, or a call that works without a terminal, but reads from one or from open input.
fn unless_interactive(run: &RunView, assertion: Assertion) -> Assertion {
    let has_word = || run.probe.call.args.iter().any(|arg| INTERACTIVE.contains(&&**arg));
    let works = || run.variant() != Variant::Plain && !run.format().is_json() && !looks_like_question(run);
    if run.probe.explored.is_some() { doubt(assertion, |_| !has_word() && !works()) } else { assertion }
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
