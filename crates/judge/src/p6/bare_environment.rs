//! `p6-bare-environment`: help and version need neither a home nor a valid configuration.

use crate::context::{CheckContext, RunView};
use crate::verdict::{Assertion, Judgement};
use agentnative_core::catalogue::DerivedKind;
use agentnative_core::model::{Stream, Variant, condition_phrase};

/// Judges `p6-bare-environment`: help and version work without a home and with an invalid configuration.
pub fn bare_environment(context: &CheckContext) -> Judgement {
    let calls =
        [DerivedKind::Help, DerivedKind::Version].into_iter().flat_map(|kind| context.derived_probes(kind));
    let runs = calls.flat_map(|probe| context.runs_under(probe, Variant::Bare));
    let judgement = Judgement::from_assertions(
        runs.map(|run| ends_as_usual(&run)),
        "`--help` and `--version` were not run",
    );
    match context.profile.conventions.config_file {
        Some(_) => judgement,
        None => judgement.with_note("no invalid configuration file was used: `config_file` is not declared"),
    }
}

fn ends_as_usual(run: &RunView) -> Assertion {
    let plain_code = run.plain()?.exited()?;
    let code = run.exited()?;
    if code == plain_code {
        return Ok(());
    }
    let condition = condition_phrase(run.variant(), run.observation.key.nth, None).unwrap_or_default();
    let call = &run.probe.name;
    let detail = format!("`{call}` exits with {code} {condition}, expected {plain_code}");
    run.failed_at_reason("exit", Stream::Stderr, detail)
}
