//! `p6-no-pager`: a pager is only started on a terminal, and only if it is not disabled.

use crate::context::{CheckContext, RunView};
use crate::kit::{declare_success, shows_pages};
use crate::verdict::{Assertion, Judgement, Unmet, inconclusive};
use agentnative_core::catalogue::DerivedKind;
use agentnative_core::config::{CommonOption, FormatFlag};
use agentnative_core::model::{OutputFormat, Variant};
use agentnative_core::probe::Probe;
use agentnative_core::run::TripwirePurpose;

/// Judges `p6-no-pager`: no pager is started in a pipe, or if it is disabled.
pub fn no_pager(context: &CheckContext) -> Judgement {
    let data = || context.data_probes().chain(context.derived_probes(DerivedKind::NoFormat));
    let help = || context.derived_probes(DerivedKind::Help);
    let piped = data().chain(help()).filter_map(|probe| context.plain_run(probe, OutputFormat::Text));
    let mut assertions: Vec<Assertion> = piped
        .map(|run| starts_no_pager(&run, "pipe", "the output is a pipe, but the command starts the pager"))
        .collect();
    let has_option =
        matches!(context.profile.conventions.flags.get(CommonOption::NoPager), FormatFlag::Given(_));
    let empty = |probe| context.runs_under(probe, Variant::NoPager);
    // The output after an unanswered question is unknown; other calls decide.
    let asks = |run: &RunView| run.waits_for_input() && !shows_pages(run);
    let (prompting, others): (Vec<_>, Vec<_>) = data().flat_map(empty).partition(asks);
    let seen = if others.is_empty() { prompting } else { others };
    let empty: Vec<RunView> = seen.into_iter().chain(help().flat_map(empty)).collect();
    if has_option {
        assertions.extend(context.data_probes().filter_map(|probe| obeys_option(context, probe)));
    } else {
        let what = "PAGER is empty, but the command starts the pager";
        assertions.extend(empty.iter().map(|run| starts_no_pager(run, "empty", what)));
    }
    let on_terminal = context.data_probes().flat_map(|probe| context.runs_of(probe));
    let pages = on_terminal
        .filter(|run| run.variant() == Variant::Tty)
        .chain(empty)
        .any(|run| matches!(run.called_program(TripwirePurpose::Pager), Ok(Some(_))));
    let pass = assertions.iter().all(Result::is_ok) && !assertions.is_empty();
    if pass && !pages {
        return Judgement::NotApplicable("no call starts a pager, not even on a terminal".into());
    }
    Judgement::from_assertions(assertions, declare_success("text"))
}

fn starts_no_pager(run: &RunView, kind: &str, what: &str) -> Assertion {
    match run.called_program(TripwirePurpose::Pager)? {
        Some(trip) => run.failed(kind, format!("{what} `{trip}`")),
        None => Ok(run.ended()?),
    }
}

/// Passes if the call of a probe with the option that disables pagers starts no pager. If the option was tried at
/// several positions, judges the first that the target accepts. `None` if the call was not run.
fn obeys_option(context: &CheckContext, probe: &Probe) -> Option<Assertion> {
    let calls = context.derived_from(DerivedKind::NoPager, probe);
    let mut runs = calls.flat_map(|call| context.runs_under(call, Variant::FullTerminal)).peekable();
    runs.peek()?;
    let spelling =
        probe.common_option(CommonOption::NoPager, context.profile).args().unwrap_or_default().join(" ");
    let mut reason: Option<Unmet> = None;
    for run in runs {
        if run.exit() == probe.exit {
            let what = format!("`{spelling}` is given, but the command starts the pager");
            return Some(starts_no_pager(&run, "option", &what));
        }
        reason = reason.or_else(|| run.ended().err().map(Into::into));
    }
    let rejected =
        || inconclusive(format!("`{spelling}` is rejected by {}: correct `flags.no_pager`", probe.name));
    Some(reason.map_or_else(rejected, Err))
}
