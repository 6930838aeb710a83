//! The events of a running session, and their lines in `check --output jsonl`.

use crate::report::{Ended, ReportEvent, RunEvent, StartEvent, VERSION};
use agentnative_contract::error::Result;
use agentnative_core::catalogue::Check;
use agentnative_core::probe::Recording;
use agentnative_core::run::{Observation, RunEnd};

/// An event of a running session.
#[derive(Debug, Clone, Copy)]
pub enum Progress<'a> {
    /// The target was found and its runs were planned.
    Started {
        /// The recording so far, without runs.
        recording: &'a Recording,
        /// Number of runs that are planned.
        runs: usize,
    },
    /// A run has ended.
    Ended {
        /// Name of the probe.
        probe: &'a str,
        /// The observation of the run.
        observation: &'a Observation,
        /// Number of runs that have ended, including this one.
        nth: usize,
        /// Number of runs that are planned.
        runs: usize,
    },
}

/// A callback that receives the events of a session. If it returns an error, the session ends with that error.
pub type Observer<'o> = dyn FnMut(Progress<'_>) -> Result<()> + 'o;

impl Progress<'_> {
    /// Converts the event to a line of `check --output jsonl`. `checks` are the selected checks, which the `start` line
    /// lists.
    pub fn event(&self, checks: &[&Check]) -> ReportEvent {
        match self {
            Self::Started { recording, runs } => ReportEvent::Start(StartEvent {
                version: VERSION.to_owned(),
                time: recording.time.clone(),
                config: recording.config_info(),
                edition: recording.check.edition,
                target: recording.target.clone(),
                checks: checks.iter().map(|check| check.id.to_string()).collect(),
                runs: *runs,
            }),
            Self::Ended { probe, observation, .. } => ReportEvent::Run(run_event(probe, observation)),
        }
    }
}

/// Calls `observer` with the same events as the session that made this recording.
pub fn replay(recording: &Recording, observer: &mut Observer<'_>) -> Result<()> {
    let runs = recording.observations.len();
    observer(Progress::Started { recording, runs })?;
    let mut observations = recording.observations.iter().zip(1..);
    observations.try_for_each(|(observation, nth)| {
        let probe = recording.probe_name(&observation.key);
        observer(Progress::Ended { probe, observation, nth, runs })
    })
}

/// Describes a run as a `run` line of the report; `probe` is the name of its probe.
pub fn run_event(probe: &str, run: &Observation) -> RunEvent {
    let (ended, exit, signal) = match run.end {
        RunEnd::Exited(code) => (Ended::Exited, Some(code), None),
        RunEnd::Signaled(signal) => (Ended::Signaled, None, Some(signal)),
        RunEnd::TimedOut => (Ended::TimedOut, None, None),
        RunEnd::Waited => (Ended::Waited, None, None),
        RunEnd::TooMuch(_) => (Ended::TooMuch, None, None),
        RunEnd::NotStarted(..) => (Ended::NotStarted, None, None),
        RunEnd::Interrupted => (Ended::Interrupted, None, None),
    };
    RunEvent {
        probe: probe.to_owned(),
        format: run.key.format,
        variant: run.key.variant,
        nth: run.key.nth,
        argv: run.command_line(),
        exit,
        ended,
        signal,
        duration_ms: u64::try_from(run.duration.as_millis()).unwrap_or(u64::MAX),
        stdout_bytes: run.stdout.bytes.len(),
        stderr_bytes: run.stderr.bytes.len(),
        left_behind: run.left_behind.len(),
    }
}
