//! `p4-before-network`: invalid calls are rejected before anything is sent.

use super::config_named::rejects_invalid_file;
use crate::context::{CheckContext, RunView};
use crate::kit::{judge_without_stalled_probe, scenario_run};
use crate::verdict::{Assertion, Judgement, Reason, inconclusive};
use agentnative_core::catalogue::DerivedKind;
use agentnative_core::model::{CheckId, OutputFormat, Stream, Variant};
use agentnative_core::probe::Probe;

/// Judges `p4-before-network`: invalid calls fail before a request is sent.
pub fn before_network(context: &CheckContext) -> Judgement {
    let stalled = || context.probes.iter().copied().filter(|probe| probe.is_declared() && probe.is_stalled());
    if stalled().next().is_none() {
        return judge_without_stalled_probe(context);
    }
    let judgement = Judgement::from_assertions(stalled().flat_map(|probe| judge_probe(context, probe)), "");
    let secret = stalled().any(|probe| probe.call.secret);
    match (secret, &context.profile.conventions.config_file) {
        (true, Some(_)) => judgement,
        (false, Some(_)) => judgement.with_note("no request was made without its secret: no probe has `{stalled}` and `secret`"),
        (true, None) => judgement.with_note("no invalid configuration file was used: `config_file` is not declared"),
        (false, None) => judgement.with_note("only an unknown flag was used: no probe has `{stalled}` and `secret`, and `config_file` is not declared"),
    }
}

fn judge_probe(context: &CheckContext, probe: &Probe) -> Vec<Assertion> {
    if let Err(reason) = reaches_server(context, probe) {
        return vec![Err(reason.into())];
    }
    let mut all = vec![with_unknown_flag(context, probe)];
    if probe.call.secret {
        let run = scenario_run(context, DerivedKind::AnonymousRequest, probe);
        all.push(judge_run(run, probe, "sign-in", "without the secret"));
    }
    if context.profile.conventions.config_file.is_some() {
        all.push(with_invalid_file(context, probe));
    }
    all
}

/// Passes if the valid call of `probe` sends a request to the server. Otherwise the invalid calls prove nothing.
fn reaches_server(context: &CheckContext, probe: &Probe) -> Result<(), Reason> {
    let Some(run) = scenario_run(context, DerivedKind::Timeout, probe) else {
        return Err(format!("{} was not run", probe.name).into());
    };
    match connections(&run)? {
        0 => run.not_ended_by_limit().and(Err(format!(
            "{} sends no request to the address for `{{stalled}}`: correct `args` or `env` of the probe",
            run.label()
        )
        .into())),
        _ => Ok(()),
    }
}

fn connections(run: &RunView) -> Result<u32, Reason> {
    let unknown = || format!("the recording does not contain the connections of {}", run.label()).into();
    run.observation.connections.ok_or_else(unknown)
}

fn with_unknown_flag(context: &CheckContext, probe: &Probe) -> Assertion {
    let ignores = context
        .derived_probes(DerivedKind::IgnoredFlag)
        .filter_map(|probe| context.plain_run(probe, OutputFormat::Text))
        .find(|run| run.exit() == Some(0));
    if let Some(run) = ignores {
        return inconclusive(run.blocked_by(CheckId::P4UnknownFlag, format!("{} is accepted", run.label())));
    }
    judge_run(
        scenario_run(context, DerivedKind::InvalidRequest, probe),
        probe,
        "usage",
        "with an unknown flag",
    )
}

fn with_invalid_file(context: &CheckContext, probe: &Probe) -> Assertion {
    let call = context.derived_from(DerivedKind::Timeout, probe).next();
    let run = call.and_then(|call| context.runs_under(call, Variant::Bare).next());
    if !rejects_invalid_file(context) {
        let what = "no declared call rejects an invalid configuration file".to_owned();
        return match &run {
            Some(run) => inconclusive(run.blocked_by(CheckId::P4ConfigNamed, what)),
            None => inconclusive(what),
        };
    }
    judge_run(run, probe, "configuration", "with an invalid configuration file")
}

fn judge_run(run: Option<RunView>, probe: &Probe, kind: &str, how: &str) -> Assertion {
    let Some(run) = run else { return inconclusive(format!("{} was not run {how}", probe.name)) };
    if connections(&run)? > 0 {
        let detail = format!("{how}, the command sends a request before it fails");
        return run.failed_at_reason(kind, Stream::Stderr, detail);
    }
    run.exited()?;
    Ok(())
}
