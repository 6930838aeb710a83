//! The checks of principle 4: errors that say what to do.

mod before_network;
mod config_named;
mod remedy;
mod traceback;
mod valid_set;
mod write_error;
mod wrong_calls;

use super::Row;
use super::run_view::RunView;
use super::verdict::{Reason, Unmet};
use crate::catalogue::Derived;
use crate::judge::kit::error_object;
use crate::model::{CheckId, OutputFormat, Stream};

/// A contract for the whole target does not take the place of the check.
const NEVER: &[OutputFormat] = &[];
/// Such a contract has its own way to refuse a call.
const ANY: &[OutputFormat] = &[OutputFormat::Json, OutputFormat::Jsonl];

/// The checks, their logic, and which contracts for the whole target take their place.
pub(super) const CHECKS: &[Row] = &[
    (CheckId::P4UnknownFlag, wrong_calls::unknown_flag, ANY),
    (CheckId::P4NamesCulprit, wrong_calls::names_culprit, ANY),
    (CheckId::P4Remedy, remedy::remedy, NEVER),
    (CheckId::P4NoTraceback, traceback::no_traceback, NEVER),
    (CheckId::P4ValidSet, valid_set::valid_set, ANY),
    (CheckId::P4WriteError, write_error::write_error, NEVER),
    (CheckId::P4ConfigNamed, config_named::config_named, NEVER),
    (CheckId::P4BeforeNetwork, before_network::before_network, ANY),
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
