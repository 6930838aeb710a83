//! Types that all modules share: formats, streams, variants, levels, layers, verdicts and their evidence.

mod check_id;
mod combined;
mod condition;
mod docs;
mod edition;
mod exploration;
mod info;
mod language;
mod probe_id;
mod toolkit;

pub use agentnative_contract::{OutputFormat, Stream};
pub use agentnative_helper::{
    ASCII_LOCALE, Confinement, GERMAN_LOCALE, NARROW_TERMINAL, TURKISH_LOCALE, Variant,
};
pub use check_id::{CheckId, matches_pattern, nearest_pattern, unknown_id_error};
pub use combined::{COMBINED, Condition, combined_conditions, single_conditions};
pub use condition::{condition_assignments, condition_name, condition_phrase, terminal_columns};
pub use docs::{DOCS_URL, Topic};
pub use edition::Edition;
pub use exploration::{
    CallCounts, CallGroup, CallOutcome, CommandCounts, CommandCoverage, Exploration, ExplorationCoverage,
    ExploredOrigin, FoundCommand, MissedCommand, OptionCounts,
};
pub use info::{ConfigInfo, TargetInfo};
pub use language::{HelpLanguage, Language};
pub use probe_id::{Case, DerivedKind, ProbeId};
pub use toolkit::{ArgumentParser, HelpAudience, Toolkit};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Level of a requirement in the standard.
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
    /// Returns the name of the level, such as `must`.
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
    /// Returns the name of the layer, such as `source`.
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
    /// Returns the name of the verdict in JSON, such as `not-applicable`.
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

/// The place of a problem: a run, with a position in one of its streams if there is one, or a file, with a span in it
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
    /// Condition of the run, such as a terminal or a closed pipe.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub variant: Option<Variant>,
    /// Index of the repetition or environment of the condition in `variant`, from 0.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub nth: Option<u8>,
    /// The command line of the run, quoted for a shell.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub argv: Option<String>,
    /// For a place in a file, its path relative to the project of the target.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub file: Option<String>,
    /// The stream, if the evidence is in one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub stream: Option<Stream>,
    /// 0-based byte offset of the problem in the stream or file.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub offset: Option<u64>,
    /// 1-based line in the stream or file.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub line: Option<u64>,
    /// 1-based column of the problem, in characters.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub column: Option<u64>,
    /// 1-based line of the last character of a span in a file.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub end_line: Option<u64>,
    /// 1-based column after the last character of a span in a file.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub end_column: Option<u64>,
    /// The line with the problem, as the target printed it or the file contains it; control characters are escaped.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub excerpt: Option<String>,
    /// 0-based index in `excerpt` of the character at which the problem is.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub caret: Option<usize>,
    /// Description of the problem, or of what was expected.
    pub detail: String,
}

/// The result of a check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CheckResult {
    /// ID of the check, such as `p2-output-json`.
    pub id: CheckId,
    /// Number of the principle of the standard that the check belongs to.
    pub principle: u8,
    /// Level of the check's requirement.
    pub level: Level,
    /// Kind of evidence that the check judges.
    pub layer: Layer,
    /// IDs of the requirements of the standard that the check decides, completely or in part, such as
    /// `p2-must-output-flag`.
    #[serde(default)]
    pub standard: Vec<String>,
    /// The verdict of the check.
    pub status: Status,
    /// The requirement of the check, in one line.
    pub title: String,
    /// The reason for the verdict: what was found and what was expected. For `unverified`, it names what is missing.
    pub message: String,
    /// The places of the problems. Distinct problems come first: each probe with a problem is listed before a problem
    /// is repeated under another condition.
    pub evidence: Vec<Evidence>,
    /// Number of further places that `evidence` does not contain.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub evidence_left_out: usize,
    /// The verdicts of other checks whose problems prevent a verdict of this check.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub blocked_by: Vec<BlockedBy>,
    /// Whether the check is unverified only because it needs a run and the selected layers run nothing. `--strict`
    /// accepts such a check.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub needs_runs: bool,
    /// How to fix the problem.
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

/// A verdict of another check whose problems prevent a verdict.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BlockedBy {
    /// ID of the other check, which reports the cause.
    pub id: CheckId,
    /// Name of the probe that has the problem, if it concerns a single probe.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub probe: Option<String>,
    /// Format that has the problem, if it concerns a single format.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub format: Option<OutputFormat>,
}
