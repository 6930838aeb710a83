//! Verdicts, evidence and summary: the public JSON of `check`.
//!
//! These types are the interface of `--output json` and `--output jsonl`; their schema is
//! generated with schemars.

mod causes;
mod events;
mod summary;

pub use agentnative_output::{Envelope, ErrorIssue, ErrorObject};
pub use causes::Undecided;
pub use events::{Ended, Event, RunEvent, StartEvent, SummaryEvent};
pub use summary::Summary;

use crate::model::{CheckResult, Level};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The target of a report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TargetInfo {
    /// Name for people: the configured name, else that of the program.
    pub name: String,
    /// Absolute program and the arguments that stand before those of a probe; empty when the code alone
    /// was looked at.
    pub command: Vec<String>,
    /// Folder of the project, if it has one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub project: Option<String>,
}

/// All verdicts of one invocation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Report {
    /// What was checked.
    pub target: TargetInfo,
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
    pub summary: Summary,
    /// The verdicts, in the order of the table of checks.
    pub results: Vec<CheckResult>,
    /// Additional information: unused or expired waivers, limits that were not enforced.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub notes: Vec<String>,
}

/// The reports of several targets.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MergedReport {
    /// The report of each target.
    pub targets: Vec<Report>,
    /// Number of verdicts of each kind, over all targets.
    pub summary: Summary,
}
