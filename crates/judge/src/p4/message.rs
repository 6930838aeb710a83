//! Finds out whether a failing run has a message that other checks can judge.

use crate::context::RunView;
use crate::kit::error_object;
use crate::verdict::{Reason, Unmet};
use agentnative_core::catalogue::DerivedKind;
use agentnative_core::model::{CheckId, OutputFormat, Stream};

/// Returns why a failing run has no message to judge, with a reference to the check that reports this. `None` if it has
/// a message.
pub(super) fn no_message(run: &RunView) -> Option<Reason> {
    if run.format() != OutputFormat::Text {
        return error_object(run).into_iter().find_map(|assertion| match assertion {
            Ok(()) => None,
            Err(Unmet::Inconclusive(reason)) => Some(reason),
            Err(Unmet::Failed(_)) => {
                Some(run.blocked_by(CheckId::P2ErrorJson, format!("{} has no error object", run.label())))
            }
        });
    }
    let is_silent =
        |run: &RunView| [Stream::Stdout, Stream::Stderr].iter().all(|stream| run.bytes(*stream).is_empty());
    // The check of diagnostics does not judge flags tried on a declared probe, only other failures.
    let context = run.context;
    let is_reported = || {
        let failures = context.failing_probes().filter_map(|probe| context.plain_run(probe, run.format()));
        !run.probe.is_kind(DerivedKind::IgnoredFlag) || failures.into_iter().any(|run| is_silent(&run))
    };
    (is_silent(run) && is_reported())
        .then(|| run.blocked_by(CheckId::P2StderrDiagnostics, format!("{} prints no reason", run.label())))
}
