//! Detects a target whose calls all fail in the same way, such as with a failed import. One check reports the failure
//! as one problem, and the other checks refer to it.

use super::confined;
use super::context::{CheckContext, RunView};
use super::run_view::signal_words;
use super::verdict::{Finding, Judgement, Reason};
use agentnative_core::catalogue::{Check, DerivedKind};
use agentnative_core::model::{BlockedBy, CheckId, Evidence, OutputFormat, Stream, Variant};
use agentnative_core::run::RunEnd;

/// The failure that all calls have in common.
struct Breakdown<'a> {
    run: RunView<'a>,
    how: String,
}

/// Replaces the judgement of a check if all calls of the target fail in the same way. Then one check reports this
/// failure as its only finding, and the other checks are unverified and refer to it. Otherwise returns `judgement`
/// unchanged. `is_broken` returns true if the given check reports a violation by itself.
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
        Judgement::Violated(findings, _) if check.id == reporter => {
            let reported = findings.into_iter().take(1).map(|finding| {
                let message = format!("each call of the target {how}");
                let evidence = Evidence { detail: message.clone(), ..finding.evidence };
                Finding { message, evidence, ..finding }
            });
            Judgement::Violated(reported.collect(), Vec::new())
        }
        judgement if check.id == reporter => judgement,
        _ => Judgement::unverified(Reason {
            message: format!("each call of the target {how}: see {reporter}"),
            blocked_by: Some(BlockedBy {
                id: reporter,
                probe: Some(run.probe.name.clone()),
                format: Some(run.format()),
            }),
            ..Reason::default()
        }),
    }
}

/// True if all calls of the target fail in the same way, also the explored ones.
pub(super) fn is_found(context: &CheckContext) -> bool {
    breakdown(context).is_some()
}

fn reporter(context: &CheckContext, run: &RunView) -> CheckId {
    match run.observation.end {
        RunEnd::Signaled(_) => CheckId::P2ExitConsistent,
        _ if context.data_probes().any(|probe| probe.exit == Some(0)) => CheckId::P2ExitSuccess,
        _ => CheckId::P3Help,
    }
}

/// Returns the failure that all plain runs (those without a special condition) share, including the run of `--help`.
/// `None` if they differ, if fewer than two probes were run, or if the confinement may be the cause.
fn breakdown<'a>(context: &'a CheckContext<'a>) -> Option<Breakdown<'a>> {
    let help = context
        .derived_probes(DerivedKind::Help)
        .find_map(|probe| context.plain_run(probe, OutputFormat::Text))?;
    let (end, line) = failure(&help)?;
    if !confined::obstacles(&help).is_empty() {
        return None;
    }
    let contexts = || std::iter::once(context).chain(context.families.iter().map(|family| &family.context));
    let runs_of = |context: &'a CheckContext<'a>| {
        let runs = move |probe| context.runs_under(probe, Variant::Plain);
        context.probes.iter().copied().map(runs)
    };
    let mut runs = contexts().flat_map(runs_of).flatten();
    let is_same = |run: RunView| failure(&run).is_some_and(|failure| failure == (end.clone(), line.clone()));
    let shown = contexts().flat_map(runs_of).filter_map(|mut runs| runs.next());
    if shown.count() < 2 || !runs.all(is_same) {
        return None;
    }
    // The printed line, not the normalized one.
    let printed = last_line(&help).unwrap_or_default();
    let how = match (&end, printed.is_empty()) {
        (RunEnd::Signaled(signal), true) => format!("is killed by {}", signal_words(*signal)),
        (RunEnd::Signaled(signal), false) => {
            format!("is killed by {} after it prints `{printed}`", signal_words(*signal))
        }
        _ => format!("fails with `{printed}`"),
    };
    Some(Breakdown { run: help, how })
}

/// Returns how a failed run ended, and its last line on stderr, in which words with digits are replaced by `#`. `None`
/// if the run did not fail, timed out, or exited without a line on stderr.
fn failure(run: &RunView) -> Option<(RunEnd, Option<String>)> {
    let end = run.observation.end.clone();
    let line = run.normalized_lines(Stream::Stderr)?.into_iter().rfind(|line| !line.is_empty());
    let has_failed = match end {
        RunEnd::Exited(code) => code != 0 && line.is_some(),
        RunEnd::Signaled(_) => true,
        _ => false,
    };
    has_failed.then_some((end, line))
}

fn last_line(run: &RunView) -> Option<String> {
    let line = run.lines(Stream::Stderr)?.into_iter().rfind(|line| !line.trim().is_empty())?;
    Some(strict_json::sanitize::sanitize_line(line.trim()))
}
