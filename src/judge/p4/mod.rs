//! The checks of principle 4: errors that say what to do.

mod before_network;
mod config_named;
mod remedy;
mod traceback;
mod valid_set;
mod write_error;
mod wrong_calls;

use super::context::RunView;
use super::row::Row;
use super::verdict::{Reason, Unmet};
use crate::catalogue::Derived;
use crate::judge::kit::error_object;
use crate::model::{CheckId, OutputFormat, Stream};

/// The checks and their logic.
pub(super) const CHECKS: &[Row] = &[
    (CheckId::P4UnknownFlag, wrong_calls::unknown_flag),
    (CheckId::P4NamesCulprit, wrong_calls::names_culprit),
    (CheckId::P4Remedy, remedy::remedy),
    (CheckId::P4NoTraceback, traceback::no_traceback),
    (CheckId::P4ValidSet, valid_set::valid_set),
    (CheckId::P4WriteError, write_error::write_error),
    (CheckId::P4ConfigNamed, config_named::config_named),
    (CheckId::P4BeforeNetwork, before_network::before_network),
];

/// Why a failing run has no message whose words could be judged, and which check says so.
fn no_message(run: &RunView) -> Option<Reason> {
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
    // The check of diagnostics does not look at what is tried on a declared probe, but at other failures.
    let context = run.context;
    let is_told = || {
        let failures = context.failures().filter_map(|probe| context.plain(probe, run.format()));
        !run.probe.is(Derived::IgnoredFlag) || failures.into_iter().any(|run| is_silent(&run))
    };
    (is_silent(run) && is_told())
        .then(|| run.blocked_by(CheckId::P2StderrDiagnostics, format!("{} gives no reason", run.label())))
}
