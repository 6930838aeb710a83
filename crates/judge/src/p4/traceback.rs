//! `p4-no-traceback`: no error causes a traceback or a panic.

use crate::context::{CheckContext, RunView};
use crate::kit::NO_FAILURE;
use crate::traceback::{self, Traceback};
use crate::verdict::{Assertion, Judgement, Unmet, inconclusive};
use agentnative_core::catalogue::DerivedKind;
use agentnative_core::model::{CheckId, Stream, Variant};
use agentnative_core::run::RunEnd;

/// Judges `p4-no-traceback`: no error causes a traceback or a panic.
pub fn no_traceback(context: &CheckContext) -> Judgement {
    let wrong = [DerivedKind::IgnoredFlag, DerivedKind::InvalidFormat, DerivedKind::InvalidValue]
        .into_iter()
        .flat_map(|kind| context.derived_probes(kind));
    // An explored call that fails in an unexplained way is not expected to fail, but must not crash either.
    let unexplained = context.explored_call().filter(|call| !call.prints_data() && !context.is_source(call));
    let runs = context.failing_probes().chain(unexplained).chain(wrong);
    let runs = runs.flat_map(|probe| context.runs_of(probe));
    // A call that reads its input to the end has not failed while the input is open.
    let waits = |run: &RunView| {
        run.variant() == Variant::OpenStdin
            && matches!(run.observation.end, RunEnd::Waited | RunEnd::TimedOut)
    };
    let assertions = runs.filter(|run| !waits(run)).map(|run| has_no_traceback(&run));
    // Another check reports why a call fails that should succeed.
    let data = context.data_probes().flat_map(|probe| context.runs_under(probe, Variant::Plain));
    let failed = data.filter(|run| run.exit() != run.probe.exit).filter_map(|run| {
        let is_traceback = matches!(has_no_traceback(&run), Err(Unmet::Failed(_)));
        let what = || run.blocked_by(CheckId::P2ExitSuccess, format!("{} prints a traceback", run.label()));
        is_traceback.then(|| inconclusive(what()))
    });
    // Invalid usage only shows how arguments are parsed, and not how the target's own work fails.
    let declared = context.sources().any(|probe| !probe.prints_data());
    let not_shown = (!declared).then(|| inconclusive(NO_FAILURE));
    Judgement::from_assertions(assertions.chain(failed).chain(not_shown), NO_FAILURE)
}

/// True if a stack frame is in a file that the call names.
fn names_argument(lines: &[String], args: &[String]) -> bool {
    let files = args.iter().filter(|arg| arg.len() > 2 && !arg.starts_with('-'));
    files
        .flat_map(|file| [format!("{file}\", line "), format!("{file}:")])
        .any(|place| lines.iter().any(|line| line.contains(&place)))
}

fn has_no_traceback(run: &RunView) -> Assertion {
    let Some(lines) = run.lines(Stream::Stderr) else {
        return inconclusive(format!("stderr of {} is too large to read", run.label()));
    };
    match traceback::find(&lines) {
        // The call may run a program that it is given.
        Some(_) if run.probe.explored.is_some() && names_argument(&lines, &run.probe.call.args) => {
            inconclusive(format!("the traceback of {} may be about one of its arguments", run.label()))
        }
        Some(Traceback { line, runtime }) => {
            let detail = format!("{runtime} reports an error that the program does not handle");
            run.failed_at_line("traceback", Stream::Stderr, line, detail)
        }
        None => {
            run.exited()?;
            Ok(())
        }
    }
}
