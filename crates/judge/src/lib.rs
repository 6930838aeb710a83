//! The verdicts of the checks: a pure function of observations, code and files.
#![doc = include_str!("../README.md")]
#![cfg_attr(not(test), warn(clippy::unwrap_used, clippy::disallowed_macros, clippy::disallowed_methods))]

mod at_once;
mod baseline;
mod breakdown;
mod confined;
mod context;
mod evidence;
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
mod seen;
pub mod source;
pub mod source_checks;
mod traceback;
mod undeclared;
mod verdict;
mod waive;

pub use baseline::{Baseline, Fault};
use context::Hung;
pub use context::{CheckContext, NoCode};
pub use p2::locked::learn;
pub use p2::project_files;
pub use scan::Scans;
pub use seen::{Decided, Gap, Seen};
pub use verdict::Judgement;
use verdict::{FAST, Reason};
pub use waive::Accepted;

use agentnative_core::catalogue::{Check, Derived};
use agentnative_core::model::{
    BlockedBy, CheckId, CheckResult, Layer, Level, OutputFormat, Variant, condition,
};
use agentnative_core::probe::{self, Probe};
use agentnative_core::run::RunKey;
use std::collections::BTreeMap;
use std::time::Duration;

/// The checks that have logic of their own, principle by principle. Source checks have rules instead.
const PRINCIPLES: &[&[row::Row]] =
    &[p1::CHECKS, p2::CHECKS, p3::CHECKS, p4::CHECKS, p5::CHECKS, p6::CHECKS, p7::CHECKS, p8::CHECKS];

/// All verdicts, and what else the reader must know.
pub struct Verdicts {
    /// One for each check, in their order.
    pub results: Vec<CheckResult>,
    /// Waivers without use, files that were skipped.
    pub notes: Vec<String>,
    /// The faults that no waiver accepts, and how far the checks looked.
    pub seen: Seen,
}

/// What one check says by itself: nothing is accepted yet.
pub struct CheckJudgement {
    judgement: Judgement,
    gaps: Vec<Gap>,
}

impl CheckJudgement {
    /// The runs that would tell what it could not.
    pub fn wants(&self) -> impl Iterator<Item = &RunKey> {
        let reasons = match &self.judgement {
            Judgement::Broken(_, reasons) | Judgement::Unverified(reasons) => &reasons[..],
            _ => &[],
        };
        reasons.iter().flat_map(|reason| &reason.wants)
    }

    /// That of a check that could not be decided.
    pub fn unverified(why: impl Into<Reason>) -> Self {
        Self { judgement: Judgement::unverified(why), gaps: vec![Gap::default()] }
    }
}

/// What one check says.
pub fn judge_one(context: &CheckContext, check: &Check) -> CheckJudgement {
    let judgement = judgement(context, check);
    CheckJudgement { gaps: gaps(context, check, &judgement), judgement }
}

/// The same of a check that may want more runs; any other is not judged.
pub fn judge_wanting(context: &CheckContext, check: &Check) -> CheckJudgement {
    let lacks = || missing_runs(context, check).iter().any(|reason| !reason.wants.is_empty());
    if at_once::REPEATING.contains(&check.id) || lacks() {
        judge_one(context, check)
    } else {
        CheckJudgement::unverified("not judged: it wants no more runs")
    }
}

/// The verdict on each of `checks`, with what is accepted.
pub fn judge(context: &CheckContext, checks: &[&Check], accepted: Accepted<'_>) -> Verdicts {
    let judgements = checks.iter().map(|check| judge_one(context, check));
    accept(context, checks, judgements, accepted)
}

/// The verdicts that follow from what the checks say, one each, with what is accepted.
pub fn accept(
    context: &CheckContext,
    checks: &[&Check],
    judgements: impl IntoIterator<Item = CheckJudgement>,
    accepted: Accepted<'_>,
) -> Verdicts {
    let mut waived = waive::Waived::new(accepted, context.probes, context.fast);
    for (check, CheckJudgement { judgement, gaps }) in checks.iter().zip(judgements) {
        waived.seen.made(check.id, gaps);
        waived.add(check, judgement);
    }
    waived.waive_dependents();
    let mut notes: Vec<String> = context.built.and_then(source_checks::stale).into_iter().collect();
    if let Ok(code) = &context.code
        && checks.iter().any(|check| check.layer == Layer::Source)
    {
        notes.extend(source_checks::notes(code));
    }
    notes.append(&mut waived.notes);
    Verdicts { results: waived.results, notes, seen: waived.seen }
}

/// What a check could not decide, whatever its verdict: a fault that is not seen there is not gone.
fn gaps(context: &CheckContext, check: &Check, judgement: &Judgement) -> Vec<Gap> {
    let all = || vec![Gap::default()];
    match judgement {
        Judgement::Broken(_, reasons) | Judgement::Unverified(reasons) if check.source.is_none() => reasons
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

fn row(check: CheckId) -> Option<row::Row> {
    PRINCIPLES.iter().copied().flatten().copied().find(|row| row.0 == check)
}

/// Whether a check finds a fault by itself.
fn is_broken(context: &CheckContext, check: CheckId) -> bool {
    let judged = || row(check).map(|(_, logic)| confined::excuse(context, logic(context)));
    context.replaced_by_contract(check).is_none() && matches!(judged(), Some(Judgement::Broken(..)))
}

fn judgement(context: &CheckContext, check: &Check) -> Judgement {
    if check.source.is_some() {
        return source_checks::judge(&context.code, check);
    }
    let Some((_, logic)) = row(check.id) else {
        return Judgement::unverified(format!("{} is not implemented yet", check.id));
    };
    match context.replaced_by_contract(check.id) {
        Some(name) => Judgement::NotApplicable(format!("the contract {name} applies instead")),
        None => {
            let judgement =
                breakdown::judgement(context, check, confined::excuse(context, logic(context)), is_broken);
            let judgement = complete(context, check, judgement);
            // What does not concern the target does not either where no format can be asked for.
            let formats = Some(&check.runs.formats).filter(|formats| formats.iter().all(|f| f.is_json()));
            let wants = |reasons: &[Reason]| reasons.iter().any(|reason| !reason.wants.is_empty());
            match judgement {
                Judgement::NotApplicable(_) | Judgement::Broken(..) => judgement,
                Judgement::Unverified(ref reasons) if wants(reasons) => judgement,
                Judgement::Unverified(_) if lacks_probes(context, check) => {
                    Judgement::unverified(no_probe(context))
                }
                _ => formats.and_then(|formats| context.unavailable(formats)).unwrap_or(judgement),
            }
        }
    }
}

/// What to do where no probe is declared: one reason for all checks that need one.
fn no_probe(context: &CheckContext) -> String {
    let (place, remedy) = match context.config {
        Some(file) => (format!(" in {file}"), "add a `[[probe]]`"),
        None => (String::new(), "run `agentnative init`"),
    };
    format!("no probe is declared{place}: {remedy}, or name a call of the target with --probe \"ARGS\"")
}

/// Whether nothing but a declared probe can decide a check. A wrong call is made without one.
fn lacks_probes(context: &CheckContext, check: &Check) -> bool {
    let needs = !check.runs.formats.is_empty() && check.id != CheckId::P2ExitUsage;
    needs && !context.interrupted && !context.probes.iter().any(Probe::is_declared)
}

/// What was seen is enough only when all that the check needs was looked at: an interrupted check, or a recording
/// of other checks, has less. What to declare is then not known either; what another check tells stays.
fn complete(context: &CheckContext, check: &Check, judgement: Judgement) -> Judgement {
    let (behavioral, may) = (check.layer == Layer::Behavioral, check.level == Level::May);
    let no_files = !behavioral && context.project == Err(NoCode::NotRecorded);
    let mut lacks = missing_runs(context, check);
    let no_runs = context.no_runs && !behavioral;
    if no_runs && !lacks.is_empty() {
        lacks = vec![Reason { needs_runs: true, ..NO_RUNS.into() }];
    }
    if check.runs.formats.iter().any(|format| format.is_json()) && check.id != CheckId::P2OutputFormat {
        lacks.extend(context.unasked().map(not_asked));
    }
    if lacks.is_empty() && no_files {
        lacks.push(NO_FILES.into());
    }
    if lacks.is_empty() {
        return judgement;
    }
    match judgement {
        Judgement::Pass(_) if behavioral => Judgement::Unverified(lacks),
        Judgement::NotApplicable(_) if behavioral && may => Judgement::NotApplicable(lacks.remove(0).message),
        Judgement::NotApplicable(_) if no_files => Judgement::Unverified(lacks),
        Judgement::Broken(findings, mut reasons) => {
            reasons.append(&mut lacks);
            Judgement::Broken(findings, reasons)
        }
        // It says more of what a run would decide.
        Judgement::Unverified(reasons) if reasons.iter().any(|reason| reason.needs_runs) => {
            Judgement::Unverified(reasons)
        }
        Judgement::Unverified(_) if no_runs => Judgement::Unverified(lacks),
        Judgement::Unverified(mut reasons) => {
            reasons.retain(|reason| {
                reason.of_machine || reason.blocked_by.is_some() || !reason.wants.is_empty()
            });
            if reasons.iter().any(|reason| reason.of_machine) {
                // Why another run did not end has been said.
                lacks.retain(|lack| lack.blocked_by.as_ref().is_none_or(|cause| cause.id != check.id));
            }
            reasons.append(&mut lacks);
            Judgement::Unverified(reasons)
        }
        decided => decided,
    }
}

/// That a probe has no runs in a JSON format.
fn not_asked(probe: &Probe) -> Reason {
    let id = CheckId::P2OutputFormat;
    Reason {
        message: format!("{} was not run in json and jsonl: see {id}", probe.name),
        blocked_by: Some(BlockedBy { id, probe: Some(probe.name.clone()), format: None }),
        ..Reason::default()
    }
}

const NO_RUNS: &str = "a run of the target would decide this; nothing is run without the behavioral layer";

const NO_FILES: &str = "the recording contains no project files: it was made without the project layer";

/// Which of the runs that a check needs were not made, and why.
fn missing_runs(context: &CheckContext, check: &Check) -> Vec<Reason> {
    let declared = context.probes.iter().filter(|probe| probe.is_declared()).cloned().collect();
    let (_, needed) = probe::plan(&[check], declared, context.profile, Duration::ZERO);
    // Why an example was not tried, its check says.
    let is_withheld = |key: &RunKey| !context.interrupted && key.probe.kind() == Some(Derived::Example);
    let mut missing: Vec<RunKey> = needed.iter().flat_map(|key| context.missing(key)).collect();
    missing.retain(|key| !is_withheld(key) && !context.is_pointless(key));
    not_made(context, missing, needed.len())
}

/// Why runs were not made, of the `needed`: those that a fast check leaves out, those of a call that hung under one
/// condition, and all others.
fn not_made(context: &CheckContext, missing: Vec<RunKey>, needed: usize) -> Vec<Reason> {
    let mut hung: BTreeMap<(&str, OutputFormat, Hung), usize> = BTreeMap::new();
    let (mut left_out, mut wants) = (false, Vec::new());
    for key in missing {
        if let Some(why) = context.hung(&key) {
            *hung.entry((context.name_of(&key), key.format, why)).or_default() += 1;
        } else if context.fast && key.variant != Variant::Plain {
            left_out = true;
        } else {
            wants.push(key);
        }
    }
    let of_hung = hung.into_iter().map(|((probe, format, why), count)| {
        let (runs, were) = if count == 1 { ("run", "was") } else { ("runs", "were") };
        let what = format!("{count} {runs} of {probe} · {} {were} skipped because", format.name());
        match why {
            Hung::Reported(id, run) => Reason {
                message: format!("{what} another run did not end: see {id}"),
                blocked_by: Some(BlockedBy {
                    id,
                    probe: Some(context.name_of(run).to_owned()),
                    format: Some(run.format),
                }),
                ..Reason::default()
            },
            Hung::Under(variant, nth) => {
                format!("{what} the call did not end under {}", condition(variant, nth)).into()
            }
        }
    });
    let why = if context.interrupted { "made: the check was interrupted" } else { "recorded" };
    let others = (!wants.is_empty()).then(|| Reason {
        message: format!("{} of {needed} required runs were not {why}", wants.len()),
        wants,
        ..Reason::default()
    });
    of_hung.chain(others).chain(left_out.then(|| FAST.into())).collect()
}
