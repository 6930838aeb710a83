//! `p5-confirm`: a call that destroys something only acts with its confirmation.

use super::changing::{nothing_destroyed, wrong_code};
use crate::context::{CheckContext, RunView};
use crate::kit::{RunChanges, lacking, scenario_run};
use crate::verdict::{Assertion, Judgement, inconclusive};
use agentnative_core::catalogue::DerivedKind;
use agentnative_core::config::CommonOption;
use agentnative_core::probe::Probe;

/// Judges `p5-confirm`: nothing is destroyed without a confirmation.
pub fn confirm(context: &CheckContext) -> Judgement {
    let destructive = context.changing_probes().filter(|(_, effect)| effect.unconfirmed.is_some());
    let mut probes = destructive.map(|(probe, _)| probe).peekable();
    if probes.peek().is_none() {
        return nothing_destroyed(context);
    }
    Judgement::from_assertions(probes.flat_map(|probe| judge_probe(context, probe)), "")
}

fn judge_probe(context: &CheckContext, probe: &Probe) -> Vec<Assertion> {
    let Some(option) = probe.common_option(CommonOption::Confirm, context.profile).args() else {
        return vec![lacking(probe, "confirm", "an option that confirms the call")];
    };
    let option = option.join(" ");
    let judge_call = |kind, judge: fn(&RunView, &str) -> Assertion| match scenario_run(context, kind, probe) {
        Some(run) => judge(&run, &option),
        None => inconclusive(format!("{} was not run for this check", probe.name)),
    };
    vec![
        judge_call(DerivedKind::Unconfirmed, judge_unconfirmed),
        judge_call(DerivedKind::Confirmed, judge_confirmed),
    ]
}

/// Passes if a call without `option`, which confirms it, changes nothing. What the call prints is not judged.
fn judge_unconfirmed(run: &RunView, option: &str) -> Assertion {
    let changed = RunChanges::from_run(run)?;
    if !changed.changed_nothing(run)? {
        return run.failed("unconfirmed", format!("without `{option}`, the call {}", changed.in_words()));
    }
    run.ended()?;
    Ok(())
}

/// Passes if a call with `option`, which confirms it, changes something.
fn judge_confirmed(run: &RunView, option: &str) -> Assertion {
    let code = run.exited()?;
    if run.probe.exit.is_some_and(|expected| expected != code) {
        return wrong_code(run, option, code, "fails");
    }
    if RunChanges::from_run(run)?.changed_anything() {
        return Ok(());
    }
    let detail = format!("with `{option}`, the call changes nothing in its workspace or its home");
    match run.context.profile.acts_elsewhere {
        true => inconclusive(detail),
        false => run.failed("no-effect", detail),
    }
}
