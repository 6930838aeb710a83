//! The records of runs in a stream.

use crate::report::catalogue::Check;
use crate::report::{Ended, Event, RunEvent, StartEvent, TargetInfo};
use crate::run::{End, Observation};
use agentnative_contract::error::Result;
use agentnative_output::{Output, OutputFormat};

/// Writes the record that a stream begins with.
pub(super) fn start(target: &TargetInfo, checks: &[&Check], runs: usize, output: &mut Output) -> Result<()> {
    if output.config().format != OutputFormat::Jsonl {
        return Ok(());
    }
    let checks = checks.iter().map(|check| check.id.to_string()).collect();
    output.record(&Event::Start(StartEvent { target: target.clone(), checks, runs }))
}

/// Writes the record of a run.
pub(super) fn ended(run: &Observation, output: &mut Output) -> Result<()> {
    if output.config().format != OutputFormat::Jsonl {
        return Ok(());
    }
    let (ended, exit, signal) = match run.end {
        End::Exited(code) => (Ended::Exited, Some(code), None),
        End::Signaled(signal) => (Ended::Signaled, None, Some(signal)),
        End::TimedOut => (Ended::TimedOut, None, None),
        End::Waited => (Ended::Waited, None, None),
        End::TooMuch(_) => (Ended::TooMuch, None, None),
        End::NotStarted(..) => (Ended::NotStarted, None, None),
        End::Interrupted => (Ended::Interrupted, None, None),
    };
    output.record(&Event::Run(RunEvent {
        probe: run.key.probe.clone(),
        format: run.key.format,
        variant: run.key.variant,
        nth: run.key.nth,
        exit,
        ended,
        signal,
        duration_ms: u64::try_from(run.duration.as_millis()).unwrap_or(u64::MAX),
        stdout_bytes: run.stdout.bytes.len(),
        stderr_bytes: run.stderr.bytes.len(),
        left_behind: run.left_behind.len(),
    }))
}
