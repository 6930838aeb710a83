//! The lines of `check --output jsonl`, written during the check.

use super::{Report, ReportSummary};
use agentnative_core::model::{
    CheckResult, ConfigInfo, Edition, ExplorationCoverage, Level, OutputFormat, TargetInfo, Variant,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One line of `check --output jsonl`: one `start`, then `run`s, `result`s in the order of the table
/// of checks, and one `summary`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum ReportEvent {
    /// Start of the check.
    Start(StartEvent),
    /// A run has ended.
    Run(RunEvent),
    /// A check has its verdict.
    Result(CheckResult),
    /// All checks have a verdict.
    Summary(SummaryEvent),
}

/// Start of the check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StartEvent {
    /// Version of the program that judges.
    pub version: String,
    /// Start of the runs (RFC 3339, UTC); absent if unknown.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub time: Option<String>,
    /// The configuration that is used; absent if there is none.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub config: Option<ConfigInfo>,
    /// The edition of the agent-native CLI standard that is checked.
    #[serde(default)]
    pub edition: Edition,
    /// The target.
    pub target: TargetInfo,
    /// IDs of the selected checks, in the order of the table.
    pub checks: Vec<String>,
    /// Number of planned runs.
    pub runs: usize,
}

/// A run has ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RunEvent {
    /// Name of the probe.
    pub probe: String,
    /// Format that the call selects.
    pub format: OutputFormat,
    /// Condition of the run.
    pub variant: Variant,
    /// Number of the run under its condition, from 0.
    pub nth: u8,
    /// The command line, quoted for a shell.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub argv: Option<String>,
    /// Exit code; null if the run did not exit.
    pub exit: Option<i32>,
    /// How the run ended.
    pub ended: Ended,
    /// Number of the signal that killed the run.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub signal: Option<i32>,
    /// Time from the start to the end of the first process, in milliseconds.
    pub duration_ms: u64,
    /// Number of bytes on stdout.
    pub stdout_bytes: u64,
    /// Number of bytes on stderr.
    pub stderr_bytes: u64,
    /// Number of processes that outlived the run.
    pub left_behind: usize,
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Ended {
    /// Exited with an exit code.
    Exited,
    /// Killed by a signal that agentnative did not send.
    Signaled,
    /// Killed at the time limit.
    TimedOut,
    /// Killed because it waited for input.
    Waited,
    /// Killed because it exceeded a limit on output, written bytes, processes or memory.
    TooMuch,
    /// Not started.
    NotStarted,
    /// Killed because agentnative was interrupted.
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

/// All checks have their verdict. Contains the fields of [`Report`] that are in neither `start` nor a `result`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SummaryEvent {
    /// Version of the target, as `--version` printed it; absent if unknown.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub target_version: Option<String>,
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
    /// The commands and options that exploration found and tried; absent if the target was not explored.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub coverage: Option<ExplorationCoverage>,
    /// Number of runs that the verdicts are based on.
    pub runs: usize,
    /// Number of verdicts of each kind.
    pub summary: ReportSummary,
    /// Additional information: unused or expired waivers, limits that were not enforced.
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
            target_version: self.target_version.clone(),
            conformant: self.conformant,
            verified: self.verified,
            deny: self.deny.clone(),
            interrupted: self.interrupted,
            coverage: self.coverage.clone(),
            runs: self.runs,
            summary: self.summary,
            notes: self.notes.clone(),
        });
        self.results.iter().cloned().map(ReportEvent::Result).chain([summary])
    }
}
