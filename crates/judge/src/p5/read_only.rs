//! `p5-read-only`: a call that is not declared to change something changes nothing.

use crate::context::{CheckContext, RunView};
use crate::kit::{RunChanges, reading_probes};
use crate::verdict::{Assertion, Judgement, inconclusive};
use agentnative_core::model::Variant;
use agentnative_core::probe::Probe;

/// Judges `p5-read-only`: a call that is not declared to change something changes nothing.
pub fn read_only(context: &CheckContext) -> Judgement {
    if let Some(call) = context.explored_call() {
        return explored_read_only(context, call);
    }
    let reads = || context.sources().filter(|probe| probe.effect.is_none());
    let without_workspace: Vec<&str> =
        reads().filter(|probe| probe.call.workspace.is_none()).map(|probe| probe.name.as_str()).collect();
    let runs = reading_probes(context)
        .filter(|probe| probe.call.workspace.is_some())
        .flat_map(|probe| context.runs_under(probe, Variant::Plain));
    let undecided = (!without_workspace.is_empty()).then(|| {
        inconclusive(format!(
            "without a workspace, the changes of a call are unknown: declare `workspace` for {} (`true` for an empty folder)",
            without_workspace.join(", ")
        ))
    });
    let missing =
        "no probe that only reads has a `workspace`: declare one for each (`true` for an empty folder)";
    Judgement::from_assertions(runs.map(|run| judge_run(&run)).chain(undecided), missing)
}

/// Judges an explored call of a command that only reads, judging by its name and description.
fn explored_read_only(context: &CheckContext, call: &Probe) -> Judgement {
    let reads = call.explored.as_ref().is_some_and(|origin| origin.only_reads) && context.is_source(call);
    let call = context.probe(&call.id).filter(|call| reads && call.prints_data());
    let runs = call.into_iter().flat_map(|call| context.runs_under(call, Variant::Plain));
    Judgement::from_assertions(runs.map(|run| judge_run(&run)), "the command may change something on purpose")
}

fn judge_run(run: &RunView) -> Assertion {
    let changed = RunChanges::of_reading_call(run)?;
    if changed.is_empty() {
        run.ended()?;
        return Ok(());
    }
    let detail = match run.probe.is_declared() {
        true => format!("the call {}, and is not declared to change anything", changed.in_words()),
        false => format!("the call {}; expected no change", changed.in_words()),
    };
    run.failed("changes", detail)
}
