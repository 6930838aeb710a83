//! The checks' logic: a pure function of observations, code and files. No process, no clock, no file.

mod context;
mod p2;
mod run_view;
mod scan;
mod shape;
pub mod source;
mod verdict;
mod waive;

pub use context::{CheckContext, NoCode};
pub use p2::locked::learn;
pub use p2::project_files;
pub use verdict::Judgement;

use crate::catalogue::Check;
use crate::config::Waiver;
use crate::model::{CheckId, CheckResult, Layer, Level};
use crate::probe;
use agentnative_contract::Framing;
use std::time::Duration;

/// What gives a verdict.
type Logic = fn(&CheckContext) -> Judgement;

/// A check with its logic, and the framings of a contract for the whole target that takes its place: such a
/// contract has one format and its own way to ask for it, its own error channel and exit codes.
type Row = (CheckId, Logic, &'static [Framing]);

/// The checks that have logic of their own, principle by principle. Source checks have rules instead.
const PRINCIPLES: &[&[Row]] = &[p2::CHECKS];

/// All verdicts, and what else the reader must know.
pub struct Verdicts {
    /// One for each check, in their order.
    pub results: Vec<CheckResult>,
    /// Waivers without use, files that were skipped.
    pub notes: Vec<String>,
}

/// The verdict on each of `checks`, with what these waivers accept.
pub fn judge(context: &CheckContext, checks: &[&Check], waivers: &[Waiver]) -> Verdicts {
    let mut waived = waive::Waived::default();
    for check in checks {
        waived.add(check, judgement(context, check), waivers, context.probes);
    }
    waived.waive_dependents();
    let mut notes = Vec::new();
    if let Ok(code) = &context.code
        && checks.iter().any(|check| check.layer == Layer::Source)
    {
        notes = source::notes(code);
    }
    notes.append(&mut waived.notes);
    Verdicts { results: waived.results, notes }
}

fn judgement(context: &CheckContext, check: &Check) -> Judgement {
    if check.source.is_some() {
        return source::judge(&context.code, check);
    }
    let Some((_, logic, replaced_by)) = PRINCIPLES.iter().copied().flatten().find(|row| row.0 == check.id)
    else {
        return Judgement::unverified(format!("{} has no logic yet", check.id));
    };
    let whole = context.promises.contract.as_ref();
    match whole.and_then(|name| Some((name, context.contracts.get(name)?))) {
        Some((name, contract)) if replaced_by.contains(&contract.framing()) => {
            Judgement::NotApplicable(format!("the contract {name} says what holds instead"))
        }
        _ => complete(context, check, logic(context)),
    }
}

/// What was seen is enough only when all that the check needs was looked at: an interrupted check, or a recording
/// of other checks, has less. What to declare is then not known either; what another check tells stays.
fn complete(context: &CheckContext, check: &Check, judgement: Judgement) -> Judgement {
    let (behavioral, may) = (check.layer == Layer::Behavioral, check.level == Level::May);
    let no_files = !behavioral && context.project == Err(NoCode::NotRecorded);
    let Some(lack) = missing_runs(context, check).or_else(|| no_files.then(|| NO_FILES.to_owned())) else {
        return judgement;
    };
    match judgement {
        Judgement::Pass(_) if behavioral => Judgement::unverified(lack),
        Judgement::NotApplicable(_) if behavioral && may => Judgement::NotApplicable(lack),
        Judgement::NotApplicable(_) if no_files => Judgement::unverified(lack),
        Judgement::Unverified(mut reasons) => {
            reasons.retain(|reason| reason.blocked_by.is_some());
            reasons.push(lack.into());
            Judgement::Unverified(reasons)
        }
        decided => decided,
    }
}

const NO_FILES: &str =
    "the files around the target were not recorded: the recording was made without the project layer";

/// How many of the runs that a check needs were not made.
fn missing_runs(context: &CheckContext, check: &Check) -> Option<String> {
    let declared = context.declared().cloned().collect();
    let (_, needed) = probe::plan(&[check], declared, context.promises, Duration::ZERO);
    let missing = needed.iter().filter(|key| !context.has_run(key)).count();
    let why = if context.interrupted { "made: the check was interrupted" } else { "recorded" };
    (missing > 0).then(|| format!("{missing} of the {} runs that it needs were not {why}", needed.len()))
}
