//! Types that all modules share: formats, streams, variants, levels, layers, verdicts and their evidence.

mod check_id;
mod combined;
mod condition;
mod docs;
mod edition;
mod info;
mod language;
mod probe_id;
mod toolkit;

pub use agentnative_contract::{OutputFormat, Stream};
pub use agentnative_helper::{Confinement, Variant};
pub use check_id::{CheckId, matches_pattern, nearest_pattern, unknown_id_error};
pub use combined::{COMBINED, Condition, combined_condition, single_conditions};
pub use condition::{condition_assignments, condition_name, condition_phrase};
pub use docs::{DOCS_URL, Topic};
pub use edition::Edition;
pub use info::{ConfigInfo, TargetInfo};
pub use language::{HelpLanguage, Language};
pub use probe_id::{Case, DerivedKind, ProbeId};
pub use toolkit::{ArgumentParser, HelpAudience, Toolkit};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Level of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// A requirement: a violation is a `fail`.
    Must,
    /// A recommendation: a violation is a `warn`.
    Should,
    /// Optional: `pass` if the target offers it, else `not-applicable`.
    May,
}

impl Level {
    /// Returns the name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Must => "must",
            Self::Should => "should",
            Self::May => "may",
        }
    }
}

/// The kind of evidence that a check judges.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Layer {
    /// Runs of the target.
    Behavioral,
    /// Source code of the target.
    Source,
    /// Files of the project around the target.
    Project,
}

impl Layer {
    /// Returns the name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Behavioral => "behavioral",
            Self::Source => "source",
            Self::Project => "project",
        }
    }
}

/// The verdict of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// The evidence is complete, and the requirement is met.
    Pass,
    /// A violated MUST.
    Fail,
    /// A violated SHOULD.
    Warn,
    /// The evidence is missing or incomplete.
    Unverified,
    /// The check does not apply to this target.
    NotApplicable,
    /// The check failed, and a waiver accepts its problems.
    Waived,
}

impl Status {
    /// Returns the name, as in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::Warn => "warn",
            Self::Unverified => "unverified",
            Self::NotApplicable => "not-applicable",
            Self::Waived => "waived",
        }
    }
}

/// The place of a problem: a run, with the place in one of its streams if there is one; or a file, with the span in it
/// if there is one.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Evidence {
    /// The kind of problem: a stable word, one of those that `agentnative explain` lists for the check.
    pub kind: String,
    /// Name of the probe, for a run.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub probe: Option<String>,
    /// Format of the run.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub format: Option<OutputFormat>,
    /// Condition of the run.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub variant: Option<Variant>,
    /// Index of the repetition or environment under this condition, from 0.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub nth: Option<u8>,
    /// The command line of the run, quoted for a shell.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub argv: Option<String>,
    /// Path of the file, relative to the project of the target, for a place in a file.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub file: Option<String>,
    /// The stream, if the evidence is in one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub stream: Option<Stream>,
    /// Byte offset in the stream or file, from 0.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub offset: Option<u64>,
    /// 1-based line.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub line: Option<u64>,
    /// 1-based column in characters.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub column: Option<u64>,
    /// 1-based line of the last character of a span in a file.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub end_line: Option<u64>,
    /// 1-based column after the last character of a span in a file.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub end_column: Option<u64>,
    /// The line of the place, as the target printed it or the file contains it; control characters are escaped.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub excerpt: Option<String>,
    /// 0-based index of the character of the place in `excerpt`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub caret: Option<usize>,
    /// The problem, or what was expected.
    pub detail: String,
}

/// The result of a check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CheckResult {
    /// ID of the check, such as `p2-output-json`.
    pub id: CheckId,
    /// Number of its principle.
    pub principle: u8,
    /// Level of the requirement.
    pub level: Level,
    /// Kind of evidence that it judges.
    pub layer: Layer,
    /// IDs of the requirements of the standard that it decides, completely or in part, such as `p2-must-output-flag`.
    #[serde(default)]
    pub standard: Vec<String>,
    /// The verdict.
    pub status: Status,
    /// The requirement of the check, in one line.
    pub title: String,
    /// The reason for the verdict: what was found and what was expected; for `unverified`, what is missing.
    pub message: String,
    /// The evidence, distinct problems first: each probe with a problem is listed before a problem is repeated under
    /// another condition.
    pub evidence: Vec<Evidence>,
    /// Number of places that are not in `evidence`.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub evidence_left_out: usize,
    /// The verdicts on which this one depends: their problems prevent a decision.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub blocked_by: Vec<BlockedBy>,
    /// Whether the check is unverified only because it needs a run and the selected layers run nothing. `--strict`
    /// accepts that.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub needs_runs: bool,
    /// How to fix it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub help: Option<String>,
    /// The documentation of the check: a URL or a command.
    pub docs: String,
}

impl CheckResult {
    /// Returns the message or, if it is empty, the title of the check.
    pub fn text(&self) -> &str {
        if self.message.is_empty() { &self.title } else { &self.message }
    }
}

const fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// A verdict on which another one depends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BlockedBy {
    /// ID of the check that reports the cause.
    pub id: CheckId,
    /// Name of the probe that has the problem, if it concerns a single probe.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub probe: Option<String>,
    /// Format that has the problem, if it concerns a single format.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub format: Option<OutputFormat>,
}
