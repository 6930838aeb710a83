//! From what was seen to the report, and to the exit code.

use super::bound::Bound;
use crate::config::Waiver;
use crate::judge::source::{self, Absence, Code};
use crate::judge::{self, Case};
use crate::probe::Recording;
use crate::report::catalogue::{self, Check};
use crate::report::{CheckResult, Layer, Report, Status};
use agentnative_contract::error::Error;

/// The verdicts on what was seen.
pub(super) fn judged(recording: Recording, contracts: &Bound, checks: &[&Check]) -> Report {
    let mut case = Case::new(&recording.promises, contracts, &recording.probes, &recording.observations);
    case.lock = recording.lock.as_ref();
    let mut results = judge::judge(&case, checks);
    results.extend(judge::project::verdicts(&case, recording.around.as_ref(), checks));
    let mut notes = recording.notes;
    if checks.iter().any(|check| check.layer == Layer::Source) {
        match &recording.facts {
            Some(facts) => {
                let code = Code { facts, checks: catalogue::checks(), output: &recording.output_modules };
                results.extend(source::judge(&code, checks));
                notes.extend(source::notes(&code));
            }
            None => {
                let absence = if recording.target.project.is_some() {
                    Absence::NotRecorded
                } else {
                    Absence::NoProject
                };
                results.extend(source::without_code(absence, checks));
            }
        }
    }
    results.sort_by_key(|result| checks.iter().position(|check| check.id == result.id));
    for waiver in &recording.waivers {
        notes.extend(waive(waiver, &mut results));
    }
    Report::new(recording.target, recording.observations.len(), recording.interrupted, results, notes)
}

/// Applies a waiver; gives a note when there was nothing to waive.
fn waive(waiver: &Waiver, results: &mut [CheckResult]) -> Option<String> {
    let result = results.iter_mut().find(|result| result.id == waiver.check)?;
    if !matches!(result.status, Status::Fail | Status::Warn) {
        return Some(format!("the waiver of {} is not used: {}", waiver.check, result.message));
    }
    result.status = Status::Waived;
    result.message = format!("waived: {} ({})", waiver.reason, result.message);
    None
}

/// Why the exit code is not 0.
pub(super) fn unmet(report: &Report, strict: bool) -> Option<Error> {
    let musts = |status| {
        report.results.iter().filter(|r| r.level == crate::report::Level::Must && r.status == status).count()
    };
    let (failed, open) = (musts(Status::Fail), musts(Status::Unverified));
    let count = |n: usize, what: &str| format!("{n} MUST {} {what}", if n == 1 { "check" } else { "checks" });
    let message = match (report.conformant, report.verified || !strict) {
        _ if report.interrupted => "interrupted: the report covers the runs until then".to_owned(),
        (true, true) => return None,
        (true, false) => count(open, "unverified"),
        (false, _) => count(failed, "failed"),
    };
    Some(Error::general(message))
}
