//! From what was seen to the report.

use super::contracts::LoadedContracts;
use crate::catalogue::Check;
use crate::judge::source::Code;
use crate::judge::{self, CheckContext, NoCode};
use crate::probe::Recording;
use crate::report::Report;
use agentnative_contract::error::Result;
use std::time::Duration;

/// A report and what it rests on.
#[derive(Debug, Clone)]
pub struct Judged {
    /// The verdicts.
    pub report: Report,
    /// What they rest on; none for a report that was read or put together.
    pub recording: Option<Recording>,
    /// How long the runs took; none where they were not made now.
    pub elapsed: Option<Duration>,
}

/// The verdicts of these checks on what was seen. Nothing is run; the contracts that the probes name are
/// read.
pub fn judge(recording: &Recording, checks: &[&Check]) -> Result<Report> {
    let contracts = LoadedContracts::of(&recording.probes)?;
    let verdicts = judge::judge(&context(recording, &contracts), checks, &recording.waivers);
    let notes = [&recording.notes[..], &verdicts.notes].concat();
    let (target, runs) = (recording.target.clone(), recording.observations.len());
    let report = Report::new(target, runs, recording.interrupted, verdicts.results, notes);
    Ok(Report { deny: recording.check.deny.clone(), ..report })
}

/// What the judge looks at of a recording.
pub(super) fn context<'a>(recording: &'a Recording, contracts: &'a LoadedContracts) -> CheckContext<'a> {
    let contracts = contracts.by_name();
    let mut context =
        CheckContext::new(&recording.promises, contracts, &recording.probes, &recording.observations);
    context.lock = recording.lock.as_ref();
    context.built = recording.built.as_ref();
    context.interrupted = recording.interrupted;
    context.fast = recording.fast;
    context.config = recording.config.as_deref();
    let no_project = recording.target.project.is_none();
    context.project =
        recording.around.as_ref().ok_or(if no_project { NoCode::NoProject } else { NoCode::NotRecorded });
    context.manual = recording.manual.as_ref();
    context.code = match &recording.facts {
        Some(facts) => Ok(Code { facts, output: &recording.output_modules }),
        None if no_project => Err(NoCode::NoProject),
        None if cfg!(feature = "source") => Err(NoCode::NotRecorded),
        None => Err(NoCode::NoReader),
    };
    context
}
