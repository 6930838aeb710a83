//! The lines of `check --output jsonl`, written during the check.

use super::{Report, ReportSummary};
use agentnative_core::model::{CheckResult, ConfigInfo, Edition, Level, OutputFormat, TargetInfo, Variant};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One line of `check --output jsonl`: one `start`, then `run`s, `result`s in the order of the table
/// of checks, and one `summary`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum ReportEvent {
    /// What is about to be done.
    Start(StartEvent),
    /// A run has ended.
    Run(RunEvent),
    /// A check has its verdict.
    Result(CheckResult),
    /// All checks have theirs.
    Summary(SummaryEvent),
}

/// What is about to be done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StartEvent {
    /// Version of the program that judges.
    pub version: String,
    /// When the runs were made: the start, RFC 3339, UTC. None if that is not known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub time: Option<String>,
    /// The configuration as it is used; none if there is none.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub config: Option<ConfigInfo>,
    /// The edition of the agent-native CLI standard whose requirements are checked.
    #[serde(default)]
    pub edition: Edition,
    /// What is checked.
    pub target: TargetInfo,
    /// IDs of the selected checks, in the order of the table.
    pub checks: Vec<String>,
    /// How many runs are planned.
    pub runs: usize,
}

/// A run has ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RunEvent {
    /// Name of the probe.
    pub probe: String,
    /// Format that it was asked for.
    pub format: OutputFormat,
    /// Condition that it was under.
    pub variant: Variant,
    /// The n-th of several alike, from 0.
    pub nth: u8,
    /// The command line, quoted for a shell.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub argv: Option<String>,
    /// Exit code; null when it did not end by itself.
    pub exit: Option<i32>,
    /// How it ended.
    pub ended: Ended,
    /// Number of the signal that it died of.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub signal: Option<i32>,
    /// From start to the end of the leader, in milliseconds.
    pub duration_ms: u64,
    /// Bytes on standard output.
    pub stdout_bytes: u64,
    /// Bytes on standard error.
    pub stderr_bytes: u64,
    /// Processes that it left behind.
    pub left_behind: usize,
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Ended {
    /// By itself, with an exit code.
    Exited,
    /// Of a signal that was not ours.
    Signaled,
    /// By force at the deadline.
    TimedOut,
    /// By force, since it waited for input that never comes.
    Waited,
    /// By force, since it printed, wrote or used more than a limit.
    TooMuch,
    /// It never started.
    NotStarted,
    /// By force, since we were told to stop.
    Interrupted,
}

impl Ended {
    /// Returns the name, as in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Exited => "exited",
            Self::Signaled => "signaled",
            Self::TimedOut => "timed-out",
            Self::Waited => "waited",
            Self::TooMuch => "too-much",
            Self::NotStarted => "not-started",
            Self::Interrupted => "interrupted",
        }
    }
}

/// All checks have their verdict: the fields of [`Report`] that neither `start` nor a `result` has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SummaryEvent {
    /// No MUST failed.
    pub conformant: bool,
    /// No MUST is unverified.
    pub verified: bool,
    /// Levels whose warnings count as failures: `should`, or none.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub deny: Vec<Level>,
    /// A signal interrupted the runs.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub interrupted: bool,
    /// Number of runs that the verdicts are based on.
    pub runs: usize,
    /// Number of verdicts of each kind.
    pub summary: ReportSummary,
    /// What else the reader must know.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub notes: Vec<String>,
}

impl Report {
    /// Returns the `start` line of this report.
    pub fn start_event(&self) -> ReportEvent {
        ReportEvent::Start(StartEvent {
            version: self.version.clone(),
            time: self.time.clone(),
            config: self.config.clone(),
            edition: self.edition,
            target: self.target.clone(),
            checks: self.results.iter().map(|result| result.id.to_string()).collect(),
            runs: self.runs,
        })
    }

    /// Returns the last lines of a stream: one `result` per check, then the `summary`.
    pub fn result_events(&self) -> impl Iterator<Item = ReportEvent> + '_ {
        let summary = ReportEvent::Summary(SummaryEvent {
            conformant: self.conformant,
            verified: self.verified,
            deny: self.deny.clone(),
            interrupted: self.interrupted,
            runs: self.runs,
            summary: self.summary,
            notes: self.notes.clone(),
        });
        self.results.iter().cloned().map(ReportEvent::Result).chain([summary])
    }
}
