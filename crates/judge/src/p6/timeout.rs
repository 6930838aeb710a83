//! `p6-timeout`: a request without a response ends at the time limit that an option sets.

use crate::context::{CheckContext, RunView};
use crate::kit::{judge_without_stalled_probe, lacking, scenario_run};
use crate::verdict::{Assertion, Judgement, inconclusive};
use agentnative_contract::counted;
use agentnative_core::catalogue::DerivedKind;
use agentnative_core::config::CommonOption;
use agentnative_core::model::Stream;
use agentnative_core::probe::{Probe, STALLED_CALL_TIMEOUT};
use agentnative_core::run::RunEnd;

/// Judges `p6-timeout`: a request without an answer ends at the time limit.
pub fn timeout(context: &CheckContext) -> Judgement {
    let declared = context.probes.iter().copied().filter(|probe| probe.is_declared() && probe.is_stalled());
    let mut declared = declared.peekable();
    if declared.peek().is_some() {
        return Judgement::from_assertions(declared.map(|probe| judge_probe(context, probe)), "");
    }
    judge_without_stalled_probe(context)
}

fn judge_probe(context: &CheckContext, probe: &Probe) -> Assertion {
    let Some(option) = probe.common_option(CommonOption::Timeout, context.profile).args() else {
        return lacking(probe, "timeout", "an option that limits the time of requests");
    };
    let option = CommonOption::Timeout.with_value(option, "1").join(" ");
    match scenario_run(context, DerivedKind::Timeout, probe) {
        Some(run) => judge_run(&run, &option),
        None => inconclusive(format!("{} was not run with `{option}`", probe.name)),
    }
}

fn judge_run(run: &RunView, option: &str) -> Assertion {
    let Some(connections) = run.observation.connections else {
        return inconclusive(format!("the recording does not contain the connections of {}", run.label()));
    };
    if connections == 0 {
        run.not_ended_by_limit()?;
        if run.exit() == Some(run.context.profile.conventions.usage) {
            let detail = format!("`{option}` is rejected");
            return run.failed_at_reason("refused", Stream::Stderr, detail);
        }
        let how = match run.exit() {
            Some(code) => format!("exited with {code}"),
            None => "did not end".to_owned(),
        };
        return inconclusive(format!(
            "{} {how} and sent no request to the address for `{{stalled}}`: correct `args` or `env` of the probe",
            run.label()
        ));
    }
    match run.observation.end {
        RunEnd::TimedOut | RunEnd::Waited => {
            let detail = format!(
                "with `{option}`, the command still waits for an answer after {}",
                counted(STALLED_CALL_TIMEOUT.as_secs() as usize, "second")
            );
            run.failed("goes-on", detail)
        }
        RunEnd::Exited(0) => {
            let detail = format!("with `{option}`, the command exits with 0, but no request was answered");
            run.failed_at_reason("exit-code", Stream::Stderr, detail)
        }
        _ => {
            run.ended()?;
            Ok(())
        }
    }
}
