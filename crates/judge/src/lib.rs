//! The verdicts of the checks: a pure function of observations, code and files.
#![doc = include_str!("../README.md")]
#![cfg_attr(not(test), warn(clippy::unwrap_used, clippy::disallowed_macros, clippy::disallowed_methods))]

mod baseline;
mod breakdown;
mod combined_conditions;
mod confined;
mod context;
mod coverage;
mod evidence;
mod explored;
mod kit;
mod lines;
mod p1;
mod p2;
mod p3;
mod p4;
mod p5;
mod p6;
mod p7;
mod p8;
mod row;
mod run_view;
mod scan;
pub mod source;
pub mod source_checks;
mod traceback;
mod undeclared;
mod verdict;
mod waive;

pub use baseline::{Baseline, Fault};
use context::HangCause;
pub use context::{CheckContext, CodeUnavailable};
pub use coverage::{CheckCoverage, Gap, Resolution};
pub use p2::locked::learn;
pub use p2::project_files;
pub use scan::Scans;
pub use verdict::Judgement;
use verdict::{Reason, SKIPPED_BY_FAST};
pub use waive::AcceptedFaults;

use agentnative_core::catalogue::{Check, DerivedKind};
use agentnative_core::model::{
    BlockedBy, CheckId, CheckResult, Layer, Level, OutputFormat, ProbeId, Variant, condition_name,
};
use agentnative_core::probe::{self, Probe};
use agentnative_core::run::RunKey;
use std::collections::BTreeMap;
use std::time::Duration;

/// Checks with the functions that judge them, one table for each principle of the standard. Source checks are missing,
/// because they have rules instead.
const PRINCIPLES: &[&[row::CheckRow]] =
    &[p1::CHECKS, p2::CHECKS, p3::CHECKS, p4::CHECKS, p5::CHECKS, p6::CHECKS, p7::CHECKS, p8::CHECKS];

/// The results of all checks, with notes for the user.
pub struct Verdicts {
    /// One result for each check, in the order of the checks.
    pub results: Vec<CheckResult>,
    /// Notes about unused waivers and skipped files.
    pub notes: Vec<String>,
    /// Faults that no waiver accepts, and what the checks could and could not decide.
    pub coverage: CheckCoverage,
}

/// The judgement of one check, before waivers and the baseline are applied.
pub struct CheckJudgement {
    judgement: Judgement,
    gaps: Vec<Gap>,
    /// Runs that judgements of explored calls request.
    requests: Vec<RunKey>,
}

impl CheckJudgement {
    /// Returns the keys of further runs that would decide what the check left undecided.
    pub fn requested_runs(&self) -> impl Iterator<Item = &RunKey> {
        let reasons = match &self.judgement {
            Judgement::Violated(_, reasons) | Judgement::Unverified(reasons) => &reasons[..],
            _ => &[],
        };
        reasons.iter().flat_map(|reason| &reason.requested_runs).chain(&self.requests)
    }

    /// Creates the judgement of a check that could not be decided. `why` is the reason.
    pub fn unverified(why: impl Into<Reason>) -> Self {
        Self { judgement: Judgement::unverified(why), gaps: vec![Gap::default()], requests: Vec::new() }
    }
}

/// Judges one check. Waivers and the baseline are not applied.
pub fn judge_one(context: &CheckContext, check: &Check) -> CheckJudgement {
    let (judgement, requests) = judgement(context, check);
    CheckJudgement { gaps: undecided_runs(context, check, &judgement), judgement, requests }
}

/// Judges a check only if it may request further runs. Otherwise returns an unverified judgement at once.
pub fn judge_requesting(context: &CheckContext, check: &Check) -> CheckJudgement {
    let requests_runs = |context: &CheckContext| {
        missing_runs(context, check).iter().any(|reason| !reason.requested_runs.is_empty())
    };
    if combined_conditions::REQUESTING_REPETITIONS.contains(&check.id)
        || requests_runs(context)
        || context.families.iter().any(|family| requests_runs(&family.context))
    {
        judge_one(context, check)
    } else {
        CheckJudgement::unverified("not judged: it requests no further runs")
    }
}

/// Judges each of `checks`, and applies waivers and the baseline.
pub fn judge(context: &CheckContext, checks: &[&Check], accepted: AcceptedFaults<'_>) -> Verdicts {
    let judgements = checks.iter().map(|check| judge_one(context, check));
    accept(context, checks, judgements, accepted)
}

/// Applies waivers and the baseline to judgements. `judgements` contains one judgement for each of `checks`, in the
/// same order.
pub fn accept(
    context: &CheckContext,
    checks: &[&Check],
    judgements: impl IntoIterator<Item = CheckJudgement>,
    accepted: AcceptedFaults<'_>,
) -> Verdicts {
    let mut collector = waive::VerdictCollector::new(accepted, context.all_probes, context.fast);
    for (check, CheckJudgement { judgement, gaps, .. }) in checks.iter().zip(judgements) {
        collector.seen.add_check(check.id, gaps);
        collector.add(check, judgement);
    }
    collector.waive_dependents();
    let mut notes: Vec<String> =
        context.built.and_then(source_checks::outdated_program_note).into_iter().collect();
    if let Ok(code) = &context.code
        && checks.iter().any(|check| check.layer == Layer::Source)
    {
        notes.extend(source_checks::code_notes(code));
    }
    notes.append(&mut collector.notes);
    Verdicts { results: collector.results, notes, coverage: collector.seen }
}

/// Returns the runs that a check left undecided, even if it has a verdict. A known fault in these runs does not count
/// as fixed if the check does not find it again.
fn undecided_runs(context: &CheckContext, check: &Check, judgement: &Judgement) -> Vec<Gap> {
    let all = || vec![Gap::default()];
    match judgement {
        Judgement::Violated(_, reasons) | Judgement::Unverified(reasons) if check.source.is_none() => reasons
            .iter()
            .map(|reason| reason.blocked_by.as_ref().map(Gap::from).unwrap_or_default())
            .collect(),
        Judgement::Unverified(_) => all(),
        Judgement::NotApplicable(_) if check.layer == Layer::Behavioral => {
            if context.interrupted || context.fast { all() } else { Vec::new() }
        }
        _ if check.layer == Layer::Source && !context.code.is_ok_and(|code| code.is_complete()) => all(),
        _ if check.layer == Layer::Project && context.project.is_err() => all(),
        _ => Vec::new(),
    }
}

fn row(check: CheckId) -> Option<row::CheckRow> {
    PRINCIPLES.iter().copied().flatten().copied().find(|row| row.0 == check)
}

fn is_broken(context: &CheckContext, check: CheckId) -> bool {
    let judged =
        || row(check).map(|(_, logic)| confined::attribute_to_confinement(context, check, logic(context)));
    context.replaced_by_contract(check).is_none() && matches!(judged(), Some(Judgement::Violated(..)))
}

/// Judges a check, with the explored calls. Also returns the runs that explored calls request.
fn judgement(context: &CheckContext, check: &Check) -> (Judgement, Vec<RunKey>) {
    if check.source.is_some() {
        return (source_checks::judge(&context.code, check), Vec::new());
    }
    let Some((_, logic)) = row(check.id) else {
        let why = format!("{} is not implemented yet", check.id);
        return (Judgement::unverified(why), Vec::new());
    };
    if let Some(name) = context.replaced_by_contract(check.id) {
        return (Judgement::NotApplicable(format!("the contract {name} applies instead")), Vec::new());
    }
    let judge = |context: &CheckContext| judge_alone(context, check, logic);
    explored::combine(context, check, judge(context), judge)
}

/// Judges a check on the probes of this context alone.
fn judge_alone(context: &CheckContext, check: &Check, logic: row::Logic) -> Judgement {
    let judgement = breakdown::judgement(
        context,
        check,
        confined::attribute_to_confinement(context, check.id, logic(context)),
        is_broken,
    );
    let judgement = account_for_missing_runs(context, check, judgement);
    // A check that is not applicable remains so if no format can be selected.
    let formats = Some(&check.runs.formats).filter(|formats| formats.iter().all(|f| f.is_json()));
    let wants = |reasons: &[Reason]| reasons.iter().any(|reason| !reason.requested_runs.is_empty());
    match judgement {
        Judgement::NotApplicable(_) | Judgement::Violated(..) => judgement,
        Judgement::Unverified(ref reasons) if wants(reasons) => judgement,
        Judgement::Unverified(_) if lacks_probes(context, check) => Judgement::unverified(no_probe(context)),
        _ => formats.and_then(|formats| context.judge_without_formats(formats)).unwrap_or(judgement),
    }
}

/// Returns the message for a configuration without probes, which states what to do. It is the same for all checks that
/// need a probe.
fn no_probe(context: &CheckContext) -> String {
    let (place, remedy) = match context.config {
        Some(file) => (format!(" in {file}"), "add a `[[probe]]`"),
        None => (String::new(), "run `agentnative init`"),
    };
    format!("no probe is declared{place}: {remedy}, or name a call of the target with --probe \"ARGS\"")
}

/// True if a check needs a declared probe, and there is neither one nor an exploration. The check of invalid usage does
/// not need one.
fn lacks_probes(context: &CheckContext, check: &Check) -> bool {
    let needs = !check.runs.formats.is_empty() && check.id != CheckId::P2ExitUsage;
    let has_none = context.exploration.is_none() && !context.probes.iter().any(|probe| probe.is_declared());
    needs && !context.interrupted && has_none
}

/// Adjusts the judgement of a check if runs or files that it needs are missing, as after an interruption or in a
/// recording of other checks. A pass becomes unverified. Reasons that advise what to declare are dropped; reasons that
/// refer to other checks are kept.
fn account_for_missing_runs(context: &CheckContext, check: &Check, judgement: Judgement) -> Judgement {
    let (behavioral, may) = (check.layer == Layer::Behavioral, check.level == Level::May);
    let no_files = !behavioral && context.project == Err(CodeUnavailable::NotRecorded);
    let mut missing = missing_runs(context, check);
    let no_runs = context.no_runs && !behavioral;
    if no_runs && !missing.is_empty() {
        missing = vec![Reason { needs_runs: true, ..NO_RUNS.into() }];
    }
    if check.runs.formats.iter().any(|format| format.is_json()) && check.id != CheckId::P2OutputFormat {
        missing.extend(context.probes_without_format().map(without_json_runs));
    }
    if missing.is_empty() && no_files {
        missing.push(NO_FILES.into());
    }
    if missing.is_empty() {
        return judgement;
    }
    match judgement {
        Judgement::Pass(_) if behavioral => Judgement::Unverified(missing),
        Judgement::NotApplicable(_) if behavioral && may => {
            Judgement::NotApplicable(missing.remove(0).message)
        }
        Judgement::NotApplicable(_) if no_files => Judgement::Unverified(missing),
        Judgement::Violated(findings, mut reasons) => {
            reasons.append(&mut missing);
            Judgement::Violated(findings, reasons)
        }
        // This reason is more specific about what a run would decide.
        Judgement::Unverified(reasons) if reasons.iter().any(|reason| reason.needs_runs) => {
            Judgement::Unverified(reasons)
        }
        Judgement::Unverified(_) if no_runs => Judgement::Unverified(missing),
        Judgement::Unverified(mut reasons) => {
            reasons.retain(|reason| {
                reason.caused_by_machine || reason.blocked_by.is_some() || !reason.requested_runs.is_empty()
            });
            if reasons.iter().any(|reason| reason.caused_by_machine) {
                // Another reason already explains why another run did not end.
                missing.retain(|reason| reason.blocked_by.as_ref().is_none_or(|cause| cause.id != check.id));
            }
            reasons.append(&mut missing);
            Judgement::Unverified(reasons)
        }
        decided => decided,
    }
}

/// Returns the reason that a probe was not run in JSON formats. It refers to the check that reports this.
fn without_json_runs(probe: &Probe) -> Reason {
    let id = CheckId::P2OutputFormat;
    Reason {
        message: format!("{} was not run in json and jsonl: see {id}", probe.name),
        blocked_by: Some(BlockedBy { id, probe: Some(probe.name.clone()), format: None }),
        ..Reason::default()
    }
}

const NO_RUNS: &str = "only a run of the target decides this; without the behavioral layer, nothing is run";

const NO_FILES: &str = "the recording contains no project files: it was made without the project layer";

/// Returns the reasons why runs that a check needs were not made; empty if all were made.
fn missing_runs(context: &CheckContext, check: &Check) -> Vec<Reason> {
    let sources: Vec<Probe> =
        context.probes.iter().copied().filter(|probe| probe.is_source()).cloned().collect();
    let is_family = context.is_family();
    if is_family && !sources.iter().any(Probe::is_kept) {
        return Vec::new();
    }
    let (_, mut needed) = probe::plan(&[check], sources, context.profile, Duration::ZERO);
    // Calls of the target itself are judged apart from explored calls.
    let is_own = |id: &ProbeId| id.from().is_some() || matches!(id, ProbeId::Explored { .. });
    needed.retain(|key| !is_family || is_own(&key.probe));
    // The check of examples reports why an example was not tried.
    let is_withheld = |key: &RunKey| !context.interrupted && key.probe.kind() == Some(DerivedKind::Example);
    let mut missing: Vec<RunKey> = needed.iter().flat_map(|key| context.still_needed_runs(key)).collect();
    missing.retain(|key| !is_withheld(key) && !context.is_pointless(key));
    reasons_for_missing(context, missing, needed.len())
}

/// Returns the reasons why the runs in `missing` were not made: a fast check omits them, a related run hung, the check
/// was interrupted, or they are not recorded. `needed` is the number of all runs that the check needs.
fn reasons_for_missing(context: &CheckContext, missing: Vec<RunKey>, needed: usize) -> Vec<Reason> {
    let mut hung: BTreeMap<(&str, OutputFormat, HangCause), usize> = BTreeMap::new();
    let (mut is_omitted_by_fast, mut wants) = (false, Vec::new());
    for key in missing {
        if let Some(why) = context.skipped_after_hang(&key) {
            *hung.entry((context.name_of(&key), key.format, why)).or_default() += 1;
        } else if context.fast && key.variant != Variant::Plain {
            is_omitted_by_fast = true;
        } else {
            wants.push(key);
        }
    }
    let skipped_after_hang = hung.into_iter().map(|((probe, format, why), count)| {
        let (runs, were) = if count == 1 { ("run", "was") } else { ("runs", "were") };
        let what = format!("{count} {runs} of {probe} · {} {were} skipped because", format.name());
        match why {
            HangCause::Reported(id, run) => Reason {
                message: format!("{what} another run did not end: see {id}"),
                blocked_by: Some(BlockedBy {
                    id,
                    probe: Some(context.name_of(run).to_owned()),
                    format: Some(run.format),
                }),
                ..Reason::default()
            },
            HangCause::Under(variant, nth) => {
                format!("{what} the call did not end under {}", condition_name(variant, nth)).into()
            }
        }
    });
    let why = if context.interrupted { "made: the check was interrupted" } else { "recorded" };
    let others = (!wants.is_empty()).then(|| Reason {
        message: format!("{} of {needed} required runs were not {why}", wants.len()),
        requested_runs: wants,
        ..Reason::default()
    });
    skipped_after_hang.chain(others).chain(is_omitted_by_fast.then(|| SKIPPED_BY_FAST.into())).collect()
}
