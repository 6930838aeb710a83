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
    /// Unmet, it is a `fail`.
    Must,
    /// Unmet, it is a `warn`.
    Should,
    /// Offered or not: `pass` or `not-applicable`.
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

/// What a check looks at.
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

/// The outcome of one check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// Everything that the check requires was observed and is met.
    Pass,
    /// An unmet MUST.
    Fail,
    /// An unmet SHOULD.
    Warn,
    /// Nothing was observed that could decide it, or only a part.
    Unverified,
    /// The check does not concern this target.
    NotApplicable,
    /// It failed, and a waiver gives a reason why this is accepted.
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

/// Where something was seen: a run, and where it applies the place in one of its streams; or a
/// file, and where it applies the span in it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Evidence {
    /// In which way the check is broken there: a stable word, one of those that `agentnative explain` lists
    /// for the check.
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
    /// Which of several runs alike under this condition, from 0: the repetition, or the environment.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub nth: Option<u8>,
    /// The command line of the run, quoted for a shell.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub argv: Option<String>,
    /// Path of the file, relative to the project of the target, for a place in a file.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub file: Option<String>,
    /// The stream, when the evidence is in one.
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
    /// The line around the place: what the target printed or the file says, sanitised (escapes are
    /// spelt out).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub excerpt: Option<String>,
    /// 0-based character of `excerpt` that the place is at.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub caret: Option<usize>,
    /// What is wrong there, or what was expected.
    pub detail: String,
}

/// The verdict on one check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CheckResult {
    /// ID of the check, such as `p2-output-json`.
    pub id: CheckId,
    /// The principle it belongs to.
    pub principle: u8,
    /// Its level.
    pub level: Level,
    /// What it looks at.
    pub layer: Layer,
    /// IDs of the requirements of the standard that it decides, wholly or in part, such as `p2-must-output-flag`.
    #[serde(default)]
    pub standard: Vec<String>,
    /// The verdict.
    pub status: Status,
    /// The requirement of the check, in one line.
    pub title: String,
    /// Why this verdict: what was seen and what was expected; for `unverified`, what is missing.
    pub message: String,
    /// Where it was seen: distinct faults first, so that each probe with a fault is named before a fault is
    /// repeated under another condition.
    pub evidence: Vec<Evidence>,
    /// Number of places that are not in `evidence`.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub evidence_left_out: usize,
    /// The verdicts on which this one depends: their problems prevent a decision.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub blocked_by: Vec<BlockedBy>,
    /// The check is unverified because a run would decide it, and the selected layers run nothing. `--strict` accepts
    /// that.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub needs_runs: bool,
    /// What to do.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub help: Option<String>,
    /// Where the check is explained: a page of the documentation, or a command.
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
