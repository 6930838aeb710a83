//! Verdicts, evidence and summary: the public JSON types of `check`.
//!
//! These types define `--output json` and `--output jsonl`; schemars generates their schema.

mod causes;
mod events;
mod read;
mod summary;

pub use agentnative_output::{Envelope, ErrorIssue, ErrorObject};
pub use causes::Undecided;
pub use events::{Ended, ReportEvent, RunEvent, StartEvent, SummaryEvent};
pub use summary::{ReportSummary, without_replaced_verdicts};

use agentnative_core::model::{
    CheckResult, ConfigInfo, Confinement, Edition, ExplorationCoverage, Level, TargetInfo,
};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// Version of this program.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// All verdicts of one invocation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Report {
    /// Version of the program that judged.
    pub version: String,
    /// Start of the runs (RFC 3339, UTC); absent if unknown.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub time: Option<String>,
    /// The configuration that was used; absent if there was none.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub config: Option<ConfigInfo>,
    /// The edition of the agent-native CLI standard that was checked.
    #[serde(default)]
    pub edition: Edition,
    /// The target.
    pub target: TargetInfo,
    /// Version of the target, as `--version` printed it; absent if unknown.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub target_version: Option<String>,
    /// Why the target, one of several, could not be checked; absent if it was checked.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub error: Option<ErrorObject>,
    /// No MUST failed, and the target could be checked.
    pub conformant: bool,
    /// No MUST is unverified.
    pub verified: bool,
    /// Levels whose warnings count as failures: `should`, or none.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub deny: Vec<Level>,
    /// A signal interrupted the runs.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub interrupted: bool,
    /// Weakest confinement of the runs; absent if unknown.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub isolation: Option<Confinement>,
    /// The commands and options that exploration found and tried; absent if the target was not explored.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub coverage: Option<ExplorationCoverage>,
    /// Number of runs that the verdicts are based on.
    pub runs: usize,
    /// Number of verdicts of each kind.
    pub summary: ReportSummary,
    /// The verdicts, in the order of the table of checks.
    pub results: Vec<CheckResult>,
    /// Additional information: unused or expired waivers, limits that were not enforced.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub notes: Vec<String>,
}

/// The `data` of `check --output json`: one report, or the merged reports of several targets.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Reports {
    /// The report of one target.
    One(Box<Report>),
    /// The reports of several targets.
    Merged(MergedReport),
}

/// A schema with `if`: the key `targets` selects the single or the merged report, so that a validator reports errors at
/// their place in the selected one.
impl JsonSchema for Reports {
    fn schema_name() -> Cow<'static, str> {
        "Reports".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let merged = generator.subschema_for::<MergedReport>();
        let one = generator.subschema_for::<Report>();
        json_schema!({ "if": { "required": ["targets"] }, "then": merged, "else": one })
    }
}

/// The reports of several targets.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MergedReport {
    /// The report of each target.
    pub targets: Vec<Report>,
    /// Number of verdicts of each kind, over all targets.
    pub summary: ReportSummary,
    /// Which parts of a check of several targets the report covers; absent for merged reports of single targets.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub fleet: Option<FleetInfo>,
}

/// Identifies the parts of a check, split with `--partition`, that a report covers. `report merge` combines parts with
/// equal digests.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FleetInfo {
    /// Digest of what all parts have in common: the version of the program, the checks, the options that change
    /// verdicts, the targets and their configurations, and the number of parts. `xxh128:` and 32 hexadecimal digits.
    pub digest: String,
    /// Number of targets in all parts.
    pub targets: usize,
    /// Numbers of the parts in this report, from 1, in ascending order.
    pub parts: Vec<u32>,
    /// Total number of parts of the check.
    pub of: u32,
}
