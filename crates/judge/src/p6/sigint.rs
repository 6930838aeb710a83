//! `p6-sigint`: after Ctrl-C, a call exits with 130 or is killed by SIGINT.

use super::sigterm::{ends_incorrectly, judge_interruptible, was_interrupted};
use crate::context::CheckContext;
use crate::kit::scenario_run;
use crate::verdict::{Assertion, Judgement, inconclusive};
use agentnative_core::catalogue::DerivedKind;
use agentnative_core::model::CheckId;
use agentnative_core::probe::Probe;
use agentnative_core::run::RunEnd;

/// Number of the signal SIGINT, the same on all systems (POSIX `kill`, the operand `-2`).
const SIGINT: i32 = 2;
/// Exit code that a shell reports for a program that SIGINT killed: 128 plus the signal number.
const EXIT_SIGINT: i32 = 128 + SIGINT;

/// Judges `p6-sigint`: after SIGINT, a call exits with 130 or is killed by SIGINT.
pub fn sigint(context: &CheckContext) -> Judgement {
    judge_interruptible(context, |probe| vec![judge_probe(context, probe)])
}

fn judge_probe(context: &CheckContext, probe: &Probe) -> Assertion {
    let Some(run) = scenario_run(context, DerivedKind::Sigint, probe) else {
        return inconclusive(format!("{} was not interrupted", probe.name));
    };
    was_interrupted(&run, probe)?;
    let (kind, detail) = match run.observation.end {
        RunEnd::Exited(EXIT_SIGINT) | RunEnd::Signaled(SIGINT) => return Ok(()),
        RunEnd::TimedOut | RunEnd::Waited => {
            ("goes-on", "5 seconds after SIGINT, the command was still running".to_owned())
        }
        RunEnd::Exited(code) => {
            ("exit-code", format!("after SIGINT, the command exits with {code}; expected {EXIT_SIGINT}"))
        }
        RunEnd::Signaled(signal) => {
            let detail = format!(
                "after SIGINT, the command is killed by signal {signal}; expected {EXIT_SIGINT} or SIGINT"
            );
            ("exit-code", detail)
        }
        _ => {
            run.ended()?;
            return inconclusive(format!("{} was not interrupted", run.label()));
        }
    };
    if ends_incorrectly(context, probe) && context.selected.contains(&CheckId::P6Sigterm) {
        return inconclusive(run.blocked_by(CheckId::P6Sigterm, detail));
    }
    run.failed(kind, detail)
}
