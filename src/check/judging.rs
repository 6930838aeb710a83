//! Judges a recording: makes the checks, each within a budget of time and memory, and builds the report.

use super::contracts::LoadedContracts;
use super::phases::planned;
use super::selection::skip_note;
use super::session::SessionOutput;
use crate::report::Report;
use agentnative_contract::budget::{self, Budget};
use agentnative_contract::error::Result;
use agentnative_core::catalogue::Check;
use agentnative_core::explore::exploration_coverage;
use agentnative_core::model::{CheckId, Layer, Level, Toolkit};
use agentnative_core::probe::Recording;
use agentnative_core::run::{Observation, RunKey};
use agentnative_judge::source_checks::Code;
use agentnative_judge::{
    AcceptedFaults, Baseline, CheckContext, CheckCoverage, CheckJudgement, CodeUnavailable, Scans, accept,
    judge_one, judge_requesting,
};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

/// A report with the recording that it is based on.
#[derive(Debug, Clone)]
pub struct Judged {
    /// The report.
    pub report: Report,
    /// The recording; `None` for a report that was read from a file or merged.
    pub recording: Option<Recording>,
    /// Duration of the session; `None` if the runs were not made in this process.
    pub elapsed: Option<Duration>,
}

impl Judged {
    /// Returns the language and argument parser of the target, as far as they are known.
    pub fn toolkit(&self) -> Toolkit {
        self.recording.as_ref().map(Recording::toolkit).unwrap_or_default()
    }

    /// Returns the names of the explored calls that were only tried, without those that run under all conditions.
    pub fn tried_calls(&self) -> BTreeSet<&str> {
        let probes = self.recording.iter().flat_map(|recording| &recording.probes);
        probes.filter(|probe| !probe.is_kept()).map(|probe| probe.name.as_str()).collect()
    }

    /// Returns the total duration of the runs that a check needs. Runs are shared between checks and made in parallel.
    /// `None` if the check needed no runs or the report has no recording.
    pub fn duration(&self, check: CheckId) -> Option<Duration> {
        self.runs(check).iter().map(|(_, seen)| seen.duration).reduce(|sum, one| sum + one)
    }

    /// Returns the recorded runs that a check needs, with the names of their probes; empty without a recording.
    pub fn runs(&self, check: CheckId) -> Vec<(&str, &Observation)> {
        let Some(recording) = &self.recording else { return Vec::new() };
        let keys = planned(recording, &[check.check()]);
        // Includes runs under combined conditions, and runs that were split into single conditions.
        let is_needed = |key: &RunKey| {
            let parts = key.replaced_run_keys().into_iter().flatten();
            parts.chain(key.combinations()).chain([key.clone()]).any(|key| keys.contains(&key))
        };
        recording.named_observations().filter(|(_, seen)| is_needed(&seen.key)).collect()
    }
}

impl SessionOutput {
    /// Judges the recording with `checks`. The report gets a note that lists the `skipped` checks. Warnings of the
    /// levels in `deny` count as failures, in addition to those that the configuration denies.
    ///
    /// # Errors
    /// The errors of [`judge`].
    pub fn judged(self, checks: &[&Check], skipped: &[&Check], deny: &[Level]) -> Result<Judged> {
        let (mut report, _) =
            judge_against_baseline(&self.recording, checks, &Baseline::default(), &self.scans)?;
        report.notes.extend(skip_note(skipped));
        report.deny.extend(deny);
        report.deny.dedup();
        Ok(Judged { report, recording: Some(self.recording), elapsed: Some(self.elapsed) })
    }
}

/// Judges a recording with these checks. Runs nothing and reads no file.
pub fn judge(recording: &Recording, checks: &[&Check]) -> Result<Report> {
    Ok(judge_against_baseline(recording, checks, &Baseline::default(), &Scans::default())?.0)
}

/// Judges a recording; problems that `baseline` contains are accepted and do not fail a check. Returns the report, and
/// the coverage: all problems that were found, and what the checks could decide. `scans` caches intermediate results
/// for this recording.
pub fn judge_against_baseline(
    recording: &Recording,
    checks: &[&Check],
    baseline: &Baseline,
    scans: &Scans,
) -> Result<(Report, CheckCoverage)> {
    let accepted = AcceptedFaults { waivers: &recording.waivers, baseline, target: &recording.target.name };
    let judgements = judgements(recording, checks, scans, judge_one)?;
    let no_contracts = LoadedContracts::default();
    let verdicts = accept(&context(recording, &no_contracts), checks, judgements, accepted);
    let mut notes = [&recording.notes[..], &verdicts.notes].concat();
    notes.extend(recording.version_note());
    let (target, runs) = (recording.target.clone(), recording.observations.len());
    let report = Report::new(target, runs, recording.interrupted, verdicts.results, notes);
    let report = Report {
        time: recording.time.clone(),
        config: recording.config_info(),
        edition: recording.check.edition,
        target_version: recording.target_version(),
        deny: recording.check.deny.clone(),
        isolation: recording.confinement,
        coverage: exploration_coverage(recording),
        ..report
    };
    Ok((report, verdicts.coverage))
}

/// Returns further runs that could decide the behavioral checks that are still undecided.
pub fn deciding_runs(recording: &Recording, checks: &[&Check], scans: &Scans) -> Result<Vec<RunKey>> {
    let of_runs = checks.iter().copied().filter(|check| check.layer == Layer::Behavioral);
    let judgements = judgements(recording, &of_runs.collect::<Vec<_>>(), scans, judge_requesting)?;
    let wanted: BTreeSet<&RunKey> = judgements.iter().flat_map(CheckJudgement::requested_runs).collect();
    Ok(wanted.into_iter().cloned().collect())
}

/// Keeps only those runs in `keys` that were not made yet and may give new evidence.
pub(super) fn worthwhile_runs(recording: &Recording, mut keys: Vec<RunKey>) -> Vec<RunKey> {
    let no_contracts = LoadedContracts::default();
    let context = context(recording, &no_contracts).with_exploration(recording.exploration.as_ref());
    keys.retain(|key| {
        let context = context.context_of(&key.probe);
        !context.has_run(key) && context.skipped_after_hang(key).is_none() && !context.is_pointless(key)
    });
    keys
}

/// Number of checks that may exhaust their budget; after that, the remaining checks are not judged.
const MAX_EXHAUSTED: usize = 3;

/// Applies `judge` to each check. The output of the target determines the cost of a check, so each check has a budget;
/// a check that exhausts its budget is unverified.
fn judgements(
    recording: &Recording,
    checks: &[&Check],
    scans: &Scans,
    judge: fn(&CheckContext, &Check) -> CheckJudgement,
) -> Result<Vec<CheckJudgement>> {
    let recording = Arc::new(recording.clone());
    let ids: Arc<[CheckId]> = checks.iter().map(|check| check.id).collect();
    let (mut judgements, mut exhausted) = (Vec::new(), 0);
    while let Some(id) = ids.get(judgements.len()) {
        if let Some(why) = scans.given_up(*id) {
            judgements.push(CheckJudgement::unverified(why));
            continue;
        }
        if exhausted == MAX_EXHAUSTED {
            scans.give_up(*id, "not judged: judging other checks has exhausted the budget".to_owned());
            continue;
        }
        let (sender, judged) = channel();
        let (recording, work_scans) = (Arc::clone(&recording), scans.clone());
        let (work_ids, from) = (Arc::clone(&ids), judgements.len());
        let work = move || judge_each(&recording, &work_ids, from, work_scans, judge, &sender);
        let done = budget::run_within(Budget::STEP, work);
        judgements.extend(judged.try_iter());
        match done {
            Ok(done) => done?,
            Err(spent) => {
                exhausted += 1;
                if let Some(id) = ids.get(judgements.len()) {
                    scans.give_up(*id, format!("judging was stopped: it needs {spent}"));
                }
            }
        }
    }
    Ok(judgements)
}

/// Judges the checks `ids[from..]` and sends each judgement. Stops before the first check that was given up because it
/// exhausted its budget.
fn judge_each(
    recording: &Recording,
    ids: &[CheckId],
    from: usize,
    scans: Scans,
    judge: fn(&CheckContext, &Check) -> CheckJudgement,
    sender: &Sender<CheckJudgement>,
) -> Result<()> {
    let contracts = LoadedContracts::load_for_recording(recording)?;
    let mut context = context(recording, &contracts);
    context.scans = scans;
    context.selected = ids.iter().copied().collect();
    let context = context.with_exploration(recording.exploration.as_ref());
    for id in ids[from..].iter().take_while(|id| context.scans.given_up(**id).is_none()) {
        // Sending fails only after the receiver has given up.
        let _ = sender.send(judge(&context, id.check()));
        budget::finish_step();
    }
    Ok(())
}

/// Creates the context that the checks read, from a recording and its loaded contracts.
pub(super) fn context<'a>(recording: &'a Recording, contracts: &'a LoadedContracts) -> CheckContext<'a> {
    let contracts = contracts.by_name();
    let mut context =
        CheckContext::new(&recording.profile, contracts, &recording.probes, &recording.observations);
    context.lock = recording.lock.as_ref();
    context.built = recording.built.as_ref();
    context.interrupted = recording.interrupted;
    context.fast = recording.fast;
    context.no_runs = recording.no_runs;
    context.config = recording.config.as_deref();
    let no_project = recording.target.project.is_none();
    context.project = recording.around.as_ref().ok_or(if no_project {
        CodeUnavailable::NoProject
    } else {
        CodeUnavailable::NotRecorded
    });
    context.manual = recording.manual.as_ref();
    context.completion_error = recording.completion_error.as_deref();
    context.code = match &recording.facts {
        Some(facts) => Ok(Code { facts, output: &recording.output_modules }),
        None if no_project => Err(CodeUnavailable::NoProject),
        None if cfg!(feature = "source") => Err(CodeUnavailable::NotRecorded),
        None => Err(CodeUnavailable::NoReader),
    };
    context
}
