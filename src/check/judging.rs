//! From what was seen to the report.

use super::contracts::LoadedContracts;
use crate::config::Waiver;
use crate::judge::source::{self, Absence, Code};
use crate::judge::{self, Case};
use crate::probe::Recording;
use crate::report::catalogue::{self, Check};
use crate::report::{CheckResult, Layer, Report, Status};
use agentnative_contract::error::Result;

/// A report and what it rests on.
#[derive(Debug, Clone)]
pub struct Judged {
    /// The verdicts.
    pub report: Report,
    /// What they rest on; none for a report that was read or put together.
    pub recording: Option<Recording>,
}

/// The verdicts of these checks on what was seen. Nothing is run; the contracts that the probes name are
/// read.
///
/// # Errors
/// Those of [`LoadedContracts::of`].
pub fn judge(recording: &Recording, checks: &[&Check]) -> Result<Report> {
    let contracts = LoadedContracts::of(&recording.probes)?;
    Ok(judged(recording, &contracts, checks))
}

/// The verdicts on what was seen.
fn judged(recording: &Recording, contracts: &LoadedContracts, checks: &[&Check]) -> Report {
    let case = case(recording, contracts);
    let mut results = judge::judge(&case, checks);
    results.extend(judge::project::verdicts(&case, recording.around.as_ref(), checks));
    let mut notes = recording.notes.clone();
    if checks.iter().any(|check| check.layer == Layer::Source) {
        match &recording.facts {
            Some(facts) => {
                let code = Code { facts, checks: catalogue::checks(), output: &recording.output_modules };
                results.extend(source::judge(&code, checks));
                notes.extend(source::notes(&code));
            }
            None => {
                let absence = match recording.target.project {
                    None => Absence::NoProject,
                    Some(_) if cfg!(feature = "source") => Absence::NotRecorded,
                    Some(_) => Absence::NoReader,
                };
                results.extend(source::without_code(absence, checks));
            }
        }
    }
    results.sort_by_key(|result| checks.iter().position(|check| check.id == result.id));
    for waiver in &recording.waivers {
        notes.extend(waive(waiver, &mut results));
    }
    let target = recording.target.clone();
    Report::new(target, recording.observations.len(), recording.interrupted, results, notes)
}

/// What the judge looks at of a recording.
pub(super) fn case<'a>(recording: &'a Recording, contracts: &'a LoadedContracts) -> Case<'a> {
    let contracts = contracts.by_name();
    let mut case = Case::new(&recording.promises, contracts, &recording.probes, &recording.observations);
    case.lock = recording.lock.as_ref();
    case
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
