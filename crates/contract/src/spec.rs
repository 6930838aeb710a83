//! The parsed contents of a `contract.toml`.

use super::finding::Finding;
use super::pointer::Pointer;
use super::rule::{Pattern, Rule};
use super::version::ContractVersion;
use super::violation::{Against, Category, Violation};
use crate::{OutputFormat, Stream};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// How the data of an output is divided into documents or records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "lowercase")]
pub enum Framing {
    /// One JSON document.
    #[default]
    Document,
    /// JSON Lines: one object per line.
    Lines,
    /// One JSON document that is an array of events.
    Array,
}

impl Framing {
    /// Returns the name of the framing in `contract.toml` and in options, such as `lines`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Document => "document",
            Self::Lines => "lines",
            Self::Array => "array",
        }
    }

    /// Returns the output format in which a target prints data with this framing.
    pub const fn format(self) -> OutputFormat {
        match self {
            Self::Document | Self::Array => OutputFormat::Json,
            Self::Lines => OutputFormat::Jsonl,
        }
    }

    /// Returns whether the data consists of events.
    pub const fn has_events(self) -> bool {
        !matches!(self, Self::Document)
    }
}

/// A valid `contract.toml`, or its equivalent for a single schema file.
#[derive(Debug, Clone, Default)]
pub(crate) struct Spec {
    pub name: String,
    pub title: String,
    pub version: String,
    pub origin: String,
    pub framing: Framing,
    /// Reference to the schema of the document or of each record, such as `x.json#/$defs/y`.
    pub schema: Option<String>,
    /// The arguments that select the format, such as `--json`.
    pub ask: Option<Vec<String>>,
    pub errors: Option<Stream>,
    pub events: Option<EventTypes>,
    pub rules: Vec<Rule>,
    pub conditions: Vec<Condition>,
    pub findings: Vec<Finding>,
    pub program: Option<ContractProgram>,
    /// The versions of the contract, in the order of the file.
    pub versions: Vec<ContractVersion>,
}

impl Spec {
    /// Returns the names of the event types that the contract defines.
    pub fn event_types(&self) -> impl Iterator<Item = &String> {
        self.events.iter().flat_map(|events| &events.schemas).map(|(name, _)| name)
    }

    pub fn finding(&self, id: &str) -> Option<&Finding> {
        self.findings.iter().find(|finding| finding.id.as_deref() == Some(id))
    }

    /// Returns the kind of requirement that a violation of a `[[rule]]` is reported as.
    pub fn rules_are_against(&self) -> Against {
        match self.framing {
            Framing::Document => Against::Schema,
            Framing::Lines | Framing::Array => Against::Stream,
        }
    }

    /// Returns the category in which violations of a rule are counted.
    pub fn category(&self, rule: &Rule) -> Category {
        if rule.finding.is_some() { Category::Known } else { Category::Errors(self.rules_are_against()) }
    }

    /// Creates a violation of a rule: an error, or a warning if the rule names a known finding.
    pub fn violation(&self, rule: &Rule, pointer: &str, message: String) -> Violation {
        let message = format!("{message}: {}", rule.what);
        let violation = Violation::new(self.rules_are_against(), &rule.id, pointer, message);
        let finding = rule.finding.as_ref().and_then(|id| self.finding(id)).cloned();
        Violation { finding, ..violation }
    }

    /// Returns the exit codes of all conditions.
    pub fn exit_codes(&self) -> BTreeSet<i32> {
        self.conditions.iter().flat_map(|condition| &condition.exit).copied().collect()
    }
}

/// The program whose output a contract describes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ContractProgram {
    /// Names of the executable. Several are different programs with the same output.
    pub name: Vec<String>,
    /// Text that `--version` of the program prints in addition to the version number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prints: Option<String>,
    /// Suitable time limit for a run, in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout: Option<u64>,
    /// Environment variables that switch off telemetry and downloads of updates.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
}

/// The name in a contract of the event type for events that have no type.
pub const UNTYPED: &str = "(none)";

/// The types of events that a contract defines, and where an event has its type.
#[derive(Debug, Clone)]
pub(crate) struct EventTypes {
    /// The pointer to the type of an event.
    pub discriminator: Pointer,
    /// The pointer to the subtype of an event. The event type is `TYPE/SUBTYPE` if the contract defines it, or else
    /// `TYPE`.
    pub subtype: Option<Pointer>,
    /// The pointer to the version of the program, in events that contain it.
    pub version: Option<Pointer>,
    /// The name of each event type with the reference to its schema, in the order of the file.
    pub schemas: Vec<(String, String)>,
    /// Whether events of types that are not in `schemas` are allowed; they are counted.
    pub allow_unknown: bool,
    /// The types that a stream may begin with; `None` for any.
    pub first: Option<Vec<String>>,
    /// The types that a stream may end with; `None` for any.
    pub last: Option<Vec<String>>,
}

/// The contents of stdout under a condition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Payload {
    /// The document, or the complete stream.
    #[default]
    Whole,
    /// Any number of complete records: the stream may end anywhere.
    Part,
    /// Nothing.
    Nothing,
    /// Anything: the contents are unknown.
    Any,
}

impl Payload {
    /// Returns the name in `contract.toml`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Whole => "whole",
            Self::Part => "part",
            Self::Nothing => "nothing",
            Self::Any => "any",
        }
    }
}

/// The contents of stderr under a condition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ErrorOutput {
    /// Nothing.
    Nothing,
    /// Text.
    Text,
    /// A JSON object that begins a line, alone or among text.
    Json,
}

impl ErrorOutput {
    /// Returns the name in `contract.toml`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Nothing => "nothing",
            Self::Text => "text",
            Self::Json => "json",
        }
    }
}

/// A condition in which a run can end.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "ConditionSummary")]
pub struct Condition {
    /// Name of the condition.
    pub name: String,
    /// Description, in one sentence.
    pub what: String,
    /// Exit codes of a run in this condition.
    pub exit: Vec<i32>,
    /// The contents of stdout in this condition.
    pub stdout: Payload,
    /// The contents of stderr in this condition; absent if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stderr: Option<ErrorOutput>,
    /// The schema of the JSON object on stderr.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stderr_schema: Option<String>,
    /// Patterns that must each match a record.
    #[schemars(with = "Vec<String>")]
    pub some: Vec<Pattern>,
    /// Patterns that no record may match.
    #[schemars(with = "Vec<String>")]
    pub none: Vec<Pattern>,
    /// Whether the condition applies only to runs that declare it.
    pub declared: bool,
    /// The ID of the finding that a run in this condition shows: a known problem of the program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finding: Option<String>,
}
