//! From what was seen to the report.

use super::contracts::LoadedContracts;
use super::phases::planned;
use super::selection::skip_note;
use super::session::SessionOutput;
use crate::report::Report;
use agentnative_contract::budget::{self, Budget};
use agentnative_contract::error::Result;
use agentnative_core::catalogue::Check;
use agentnative_core::model::{CheckId, Layer, Level, Toolkit};
use agentnative_core::probe::Recording;
use agentnative_core::run::{Observation, RunKey};
use agentnative_judge::source_checks::Code;
use agentnative_judge::{
    Accepted, Baseline, CheckContext, CheckJudgement, NoCode, Scans, Seen, accept, judge_one, judge_wanting,
};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
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

impl Judged {
    /// What the target is written with, as far as that is known.
    pub fn toolkit(&self) -> Toolkit {
        self.recording.as_ref().map(Recording::toolkit).unwrap_or_default()
    }

    /// How long the runs took that a check needs, one after the other: runs are shared between checks, and made at
    /// the same time. None where they are not known, or none was needed.
    pub fn duration(&self, check: CheckId) -> Option<Duration> {
        self.runs(check).iter().map(|(_, seen)| seen.duration).reduce(|sum, one| sum + one)
    }

    /// The runs that a check needs, of those that were made, with the names of their probes; none where they are not
    /// known.
    pub fn runs(&self, check: CheckId) -> Vec<(&str, &Observation)> {
        let Some(recording) = &self.recording else { return Vec::new() };
        let keys = planned(recording, &[check.check()]);
        // With the conditions of other checks at once, or told apart.
        let is_needed = |key: &RunKey| {
            let parts = key.parts().into_iter().flatten();
            parts.chain(key.combination()).chain([key.clone()]).any(|key| keys.contains(&key))
        };
        recording.named_observations().filter(|(_, seen)| is_needed(&seen.key)).collect()
    }
}

impl SessionOutput {
    /// The verdicts of these checks, with what was left out and what is denied beside the configuration.
    ///
    /// # Errors
    /// Those of [`judge`].
    pub fn judged(self, checks: &[&Check], skipped: &[&Check], deny: &[Level]) -> Result<Judged> {
        let (mut report, _) = judge_with(&self.recording, checks, &Baseline::default(), &self.scans)?;
        report.notes.extend(skip_note(skipped));
        report.deny.extend(deny);
        report.deny.dedup();
        Ok(Judged { report, recording: Some(self.recording), elapsed: Some(self.elapsed) })
    }
}

/// The verdicts of these checks on what was seen. Nothing is run, and no file is read.
pub fn judge(recording: &Recording, checks: &[&Check]) -> Result<Report> {
    Ok(judge_with(recording, checks, &Baseline::default(), &Scans::default())?.0)
}

/// The same where the faults of a baseline are accepted, with the faults that were seen. What was read of this
/// recording before is not read again.
pub fn judge_with(
    recording: &Recording,
    checks: &[&Check],
    baseline: &Baseline,
    scans: &Scans,
) -> Result<(Report, Seen)> {
    let accepted = Accepted { waivers: &recording.waivers, baseline, target: &recording.target.name };
    let judgements = judgements(recording, checks, scans, judge_one)?;
    let none = LoadedContracts::default();
    let verdicts = accept(&context(recording, &none), checks, judgements, accepted);
    let notes = [&recording.notes[..], &verdicts.notes].concat();
    let (target, runs) = (recording.target.clone(), recording.observations.len());
    let report = Report::new(target, runs, recording.interrupted, verdicts.results, notes);
    let report = Report {
        time: recording.time.clone(),
        config: recording.config_info(),
        edition: recording.check.edition,
        deny: recording.check.deny.clone(),
        isolation: recording.confinement,
        ..report
    };
    Ok((report, verdicts.seen))
}

/// The runs that would tell what these checks cannot from what was seen so far.
pub fn wanted(recording: &Recording, checks: &[&Check], scans: &Scans) -> Result<Vec<RunKey>> {
    let of_runs = checks.iter().copied().filter(|check| check.layer == Layer::Behavioral);
    let judgements = judgements(recording, &of_runs.collect::<Vec<_>>(), scans, judge_wanting)?;
    let wanted: BTreeSet<&RunKey> = judgements.iter().flat_map(CheckJudgement::wants).collect();
    Ok(wanted.into_iter().cloned().collect())
}

/// Those of these runs that were not made and may show something.
pub(super) fn worth_making(recording: &Recording, mut keys: Vec<RunKey>) -> Vec<RunKey> {
    let none = LoadedContracts::default();
    let context = context(recording, &none);
    keys.retain(|key| !context.has_run(key) && context.hung(key).is_none() && !context.is_pointless(key));
    keys
}

/// After so many checks that have spent their budget, the remaining ones are not judged.
const MOST_SPENT: usize = 3;

/// What each check says. A target chooses what judging it costs, so each check has a budget: where that is spent,
/// the check is unverified.
fn judgements(
    recording: &Recording,
    checks: &[&Check],
    scans: &Scans,
    judge: fn(&CheckContext, &Check) -> CheckJudgement,
) -> Result<Vec<CheckJudgement>> {
    let recording = Arc::new(recording.clone());
    let ids: Arc<[CheckId]> = checks.iter().map(|check| check.id).collect();
    let (mut judgements, mut times) = (Vec::new(), 0);
    while let Some(id) = ids.get(judgements.len()) {
        if let Some(why) = scans.given_up(*id) {
            judgements.push(CheckJudgement::unverified(why));
            continue;
        }
        if times == MOST_SPENT {
            scans.give_up(*id, "not judged: judging other checks has spent the budget".to_owned());
            continue;
        }
        let (sender, judged) = channel();
        let (recording, scans_of_work) = (Arc::clone(&recording), scans.clone());
        let (ids_of_work, from) = (Arc::clone(&ids), judgements.len());
        let work = move || judge_each(&recording, &ids_of_work, from, scans_of_work, judge, &sender);
        let done = budget::within(Budget::STEP, work);
        judgements.extend(judged.try_iter());
        match done {
            Ok(done) => done?,
            Err(spent) => {
                times += 1;
                if let Some(id) = ids.get(judgements.len()) {
                    scans.give_up(*id, format!("judging this was stopped: it needs {spent}"));
                }
            }
        }
    }
    Ok(judgements)
}

/// Sends the judgement of each of these checks from the n-th on, up to one that has spent its budget before.
fn judge_each(
    recording: &Recording,
    ids: &[CheckId],
    from: usize,
    scans: Scans,
    judge: fn(&CheckContext, &Check) -> CheckJudgement,
    sender: &Sender<CheckJudgement>,
) -> Result<()> {
    let contracts = LoadedContracts::of(recording)?;
    let mut context = context(recording, &contracts);
    context.scans = scans;
    context.selected = ids.iter().copied().collect();
    for id in ids[from..].iter().take_while(|id| context.scans.given_up(**id).is_none()) {
        // Nobody waits for it any more where this fails.
        let _ = sender.send(judge(&context, id.check()));
        budget::progress();
    }
    Ok(())
}

/// What the judge looks at of a recording.
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
    context.project =
        recording.around.as_ref().ok_or(if no_project { NoCode::NoProject } else { NoCode::NotRecorded });
    context.manual = recording.manual.as_ref();
    context.completion_error = recording.completion_error.as_deref();
    context.code = match &recording.facts {
        Some(facts) => Ok(Code { facts, output: &recording.output_modules }),
        None if no_project => Err(NoCode::NoProject),
        None if cfg!(feature = "source") => Err(NoCode::NotRecorded),
        None => Err(NoCode::NoReader),
    };
    context
}
