//! From what was seen to the report, and to the exit code.

use super::bound::Bound;
use crate::judge::source::Code;
use crate::judge::{self, CheckContext, NoCode};
use crate::probe::Recording;
use crate::report::catalogue::Check;
use crate::report::{Report, Status};
use agentnative_contract::error::Error;

/// The verdicts on what was seen.
pub(super) fn judged(recording: Recording, contracts: &Bound, checks: &[&Check]) -> Report {
    let mut context =
        CheckContext::new(&recording.promises, contracts, &recording.probes, &recording.observations);
    context.lock = recording.lock.as_ref();
    context.project = recording.around.as_ref();
    context.code = match &recording.facts {
        Some(facts) => Ok(Code { facts, output: &recording.output_modules }),
        None if recording.target.project.is_some() => Err(NoCode::NotRecorded),
        None => Err(NoCode::NoProject),
    };
    let verdicts = judge::judge(&context, checks, &recording.waivers);
    let mut notes = recording.notes.clone();
    notes.extend(verdicts.notes);
    let runs = recording.observations.len();
    Report::new(recording.target.clone(), runs, recording.interrupted, verdicts.results, notes)
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
