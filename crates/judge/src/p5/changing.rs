//! Helpers for probes that change something: which are declared, and whether they ended as declared.

use crate::context::{CheckContext, RunView};
use crate::kit::{display_exit, scenario_run};
use crate::undeclared::UndeclaredFeature;
use crate::verdict::{Assertion, Judgement, Reason};
use agentnative_core::catalogue::DerivedKind;
use agentnative_core::config::Feature;
use agentnative_core::model::{CheckId, Stream};
use agentnative_core::probe::{Effect, Probe};

/// Words in the names of commands that destroy something.
const DESTROYS: [&str; 9] = ["clear", "delete", "destroy", "drop", "prune", "purge", "remove", "reset", "rm"];

/// Words in the names of commands that change something without destroying it.
const WRITES: [&str; 8] = ["add", "create", "edit", "install", "push", "set", "update", "write"];

/// Calls `each` for each probe that changes something, and combines the assertions into a judgement. If there is no
/// such probe, the judgement says what to declare.
pub(super) fn judge_changing<'a>(
    context: &'a CheckContext<'a>,
    each: impl Fn(&'a Probe, &'a Effect) -> Vec<Assertion>,
) -> Judgement {
    let mut changing = context.changing_probes().peekable();
    if changing.peek().is_some() {
        return Judgement::from_assertions(changing.flat_map(|(probe, effect)| each(probe, effect)), "");
    }
    let words = [&DESTROYS[..], &WRITES].concat();
    undeclared(
        context,
        &words,
        "no probe has `changes`",
        "one with `workspace` and `changes = true`",
        "change something",
    )
}

/// Returns the judgement for a target none of whose probes is declared to destroy something; it says what to declare.
pub(super) fn nothing_destroyed(context: &CheckContext) -> Judgement {
    let declare = "one with `workspace` and `destructive = true`";
    undeclared(context, &DESTROYS, "no probe has `destructive`", declare, "destroy something")
}

fn undeclared(
    context: &CheckContext,
    words: &[&str],
    no_probe: &str,
    declare: &str,
    does: &str,
) -> Judgement {
    let does = format!("seems to {does}");
    let lacking = "the target changes nothing";
    UndeclaredFeature { feature: Feature::Changes, words, no_probe, declare, lacking, does: &does }
        .judgement(context)
}

/// Returns the run of a call that changes something, with its confirmation. Fails with the reason if it did not end as
/// declared.
pub(super) fn complete_run<'a>(context: &'a CheckContext<'a>, probe: &Probe) -> Result<RunView<'a>, Reason> {
    let Some(run) = scenario_run(context, DerivedKind::Confirmed, probe) else {
        return Err(format!("{} was not run as a complete call", probe.name).into());
    };
    match (run.exit(), probe.exit) {
        (Some(code), Some(expected)) if code != expected => {
            let what = format!("{} exited with {code}, expected {expected}", run.label());
            let is_destructive = probe.effect.as_ref().is_some_and(|effect| effect.unconfirmed.is_some());
            Err(match is_destructive && context.selected.contains(&CheckId::P5Confirm) {
                true => run.blocked_by(CheckId::P5Confirm, what),
                false => format!("{what}: correct `args`, `setup` or `exit` of the probe").into(),
            })
        }
        _ => {
            run.ended()?;
            Ok(run)
        }
    }
}

/// Returns a failure of a run with `option` that exited with `code` instead of the declared exit code. The kind of the
/// failure is `rejected` if the call failed and its message names the option, otherwise `kind`.
pub(super) fn wrong_code(run: &RunView, option: &str, code: i32, kind: &str) -> Assertion {
    let expected = display_exit(run.probe.exit);
    let name = option.split([' ', '=']).next().unwrap_or_default();
    let (kind, detail) = match code != 0 && run.mentions(name) {
        true => ("rejected", format!("`{option}` is rejected with exit code {code}; expected {expected}")),
        false => (kind, format!("with `{option}`, the command exits with {code}, expected {expected}")),
    };
    run.failed_at_reason(kind, Stream::Stderr, detail)
}
