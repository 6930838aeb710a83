//! A target that ends in the same failure whatever it is asked, such as a failed import: one problem, which one check
//! reports, and for which the others wait.

use super::confined;
use super::context::{CheckContext, RunView};
use super::run_view::signal_words;
use super::verdict::{Finding, Judgement, Reason};
use agentnative_core::catalogue::{Check, Derived};
use agentnative_core::model::{BlockedBy, CheckId, Evidence, OutputFormat, Stream, Variant};
use agentnative_core::run::End;

/// The same failure of all calls.
struct Breakdown<'a> {
    run: RunView<'a>,
    how: String,
}

/// The judgement of a check on a target whose calls all fail alike; else as it was.
/// `is_broken` tells whether a check finds a fault by itself.
pub(super) fn judgement(
    context: &CheckContext,
    check: &Check,
    judgement: Judgement,
    is_broken: fn(&CheckContext, CheckId) -> bool,
) -> Judgement {
    let needs_runs = !check.derived.is_empty() || !check.runs.formats.is_empty();
    if !needs_runs || matches!(judgement, Judgement::NotApplicable(_)) {
        return judgement;
    }
    let Some(Breakdown { run, how }) = breakdown(context) else { return judgement };
    let reporter = reporter(context, &run);
    if !is_broken(context, reporter) {
        return judgement;
    }
    match judgement {
        Judgement::Broken(findings, _) if check.id == reporter => {
            let reported = findings.into_iter().take(1).map(|finding| {
                let message = format!("each call of the target ends {how}");
                let evidence = Evidence { detail: message.clone(), ..finding.evidence };
                Finding { message, evidence, ..finding }
            });
            Judgement::Broken(reported.collect(), Vec::new())
        }
        judgement if check.id == reporter => judgement,
        _ => Judgement::unverified(Reason {
            message: format!("each call of the target ends {how}: see {reporter}"),
            blocked_by: Some(BlockedBy {
                id: reporter,
                probe: Some(run.probe.name.clone()),
                format: Some(run.format()),
            }),
            ..Reason::default()
        }),
    }
}

/// The check that reports a breakdown.
fn reporter(context: &CheckContext, run: &RunView) -> CheckId {
    match run.observation.end {
        End::Signaled(_) => CheckId::P2ExitConsistent,
        _ if context.data_probes().any(|probe| probe.exit == Some(0)) => CheckId::P2ExitSuccess,
        _ => CheckId::P3Help,
    }
}

/// The failure in which all plain runs end, the help among them, unless confinement may be its cause.
fn breakdown<'a>(context: &'a CheckContext<'a>) -> Option<Breakdown<'a>> {
    let help = context.derived(Derived::Help).find_map(|probe| context.plain(probe, OutputFormat::Text))?;
    let (end, line) = failure(&help)?;
    if !confined::obstacles(&help).is_empty() {
        return None;
    }
    let mut runs = context.probes.iter().flat_map(|probe| context.runs_under(probe, Variant::Plain));
    let is_same = |run: RunView| failure(&run).is_some_and(|failure| failure == (end.clone(), line.clone()));
    let shown =
        context.probes.iter().filter(|probe| context.runs_under(probe, Variant::Plain).next().is_some());
    if shown.count() < 2 || !runs.all(is_same) {
        return None;
    }
    // As it was printed, not as it is compared.
    let printed = last_line(&help).unwrap_or_default();
    let how = match (&end, printed.is_empty()) {
        (End::Signaled(signal), true) => format!("by {}", signal_words(*signal)),
        (End::Signaled(signal), false) => format!("by {} after `{printed}`", signal_words(*signal)),
        _ => format!("with `{printed}`"),
    };
    Some(Breakdown { run: help, how })
}

/// How a run failed: its end, and the last line on standard error without what changes from run to run.
fn failure(run: &RunView) -> Option<(End, Option<String>)> {
    let end = run.observation.end.clone();
    let line = run.steady_lines(Stream::Stderr)?.into_iter().rfind(|line| !line.is_empty());
    let has_failed = match end {
        End::Exited(code) => code != 0 && line.is_some(),
        End::Signaled(_) => true,
        _ => false,
    };
    has_failed.then_some((end, line))
}

fn last_line(run: &RunView) -> Option<String> {
    let line = run.lines(Stream::Stderr)?.into_iter().rfind(|line| !line.trim().is_empty())?;
    Some(strict_json::sanitize::line(line.trim()))
}
