//! `p4-write-error`: output that cannot be written is a failure.

use crate::context::{CheckContext, RunView};
use crate::kit::declare_success;
use crate::verdict::{Assertion, Judgement, inconclusive};
use agentnative_core::model::{Stream, Variant};

/// Judges `p4-write-error`: a command fails if its output cannot be written.
pub fn write_error(context: &CheckContext) -> Judgement {
    let runs = context.declared_under(Variant::Full).filter(|run| run.probe.exit == Some(0));
    let assertions = runs.filter_map(|run| judge_lost_output(&run));
    Judgement::from_assertions(assertions, declare_success(""))
}

fn is_truncated(run: &RunView) -> bool {
    let is_compared = matches!(run.variant(), Variant::Plain | Variant::SlowReader | Variant::File);
    is_compared && run.format().is_json() && run.is_truncated()
}

/// Fails if a run whose output cannot be written exits with 0. `None` if the call prints nothing.
fn judge_lost_output(run: &RunView) -> Option<Assertion> {
    let context = run.context;
    let declared = context.source_of(run.probe).unwrap_or(run.probe);
    let plain = match run.plain().and_then(|plain| plain.usable().map(|()| plain)) {
        Err(reason) => return Some(Err(reason.into())),
        Ok(plain) if plain.bytes(Stream::Stdout).is_empty() => return None,
        Ok(plain) => plain,
    };
    Some(run.ended().map_err(Into::into).and_then(|()| match run.exit() {
        // Another check already reports a truncated write under other conditions.
        Some(0) if let Some(cut) = context.runs_of(declared).find(is_truncated) => {
            inconclusive(cut.truncation_reason())
        }
        Some(0) => {
            let bytes = plain.bytes(Stream::Stdout).len();
            let detail =
                format!("none of the {bytes} bytes could be written to stdout, but the exit code is 0");
            run.failed("success", detail)
        }
        _ => Ok(()),
    }))
}
