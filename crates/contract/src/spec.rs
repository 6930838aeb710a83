//! What a `contract.toml` says.

use super::finding::Finding;
use super::pointer::Pointer;
use super::rule::{Pattern, Rule};
use super::version::ContractVersion;
use super::violation::{Against, Tally, Violation};
use crate::{OutputFormat, Stream};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Framing of the data on a stream.
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
    /// The name that `contract.toml` and flags use.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Document => "document",
            Self::Lines => "lines",
            Self::Array => "array",
        }
    }

    /// The output format of a target that prints its data so.
    pub const fn format(self) -> OutputFormat {
        match self {
            Self::Document | Self::Array => OutputFormat::Json,
            Self::Lines => OutputFormat::Jsonl,
        }
    }

    /// Whether the data consists of events.
    pub const fn has_events(self) -> bool {
        !matches!(self, Self::Document)
    }
}

/// A valid `contract.toml`, or what stands for one where there is just a schema.
#[derive(Debug, Clone, Default)]
pub(crate) struct Spec {
    pub name: String,
    pub title: String,
    pub version: String,
    pub origin: String,
    pub framing: Framing,
    /// Reference to the schema of the document or of each record, as in `x.json#/$defs/y`.
    pub schema: Option<String>,
    /// Arguments that ask a target for the format.
    pub ask: Option<Vec<String>>,
    pub errors: Option<Stream>,
    pub events: Option<EventTypes>,
    pub rules: Vec<Rule>,
    pub conditions: Vec<Condition>,
    pub findings: Vec<Finding>,
    pub program: Option<ContractProgram>,
    /// Its versions, as its file lists them.
    pub versions: Vec<ContractVersion>,
}

impl Spec {
    /// The types of events that it knows.
    pub fn event_types(&self) -> impl Iterator<Item = &String> {
        self.events.iter().flat_map(|events| &events.schemas).map(|(name, _)| name)
    }

    /// The finding with this ID.
    pub fn finding(&self, id: &str) -> Option<&Finding> {
        self.findings.iter().find(|finding| finding.id.as_deref() == Some(id))
    }

    /// What a rule over the values of one event belongs to.
    pub fn rules_are_against(&self) -> Against {
        match self.framing {
            Framing::Document => Against::Schema,
            Framing::Lines | Framing::Array => Against::Stream,
        }
    }

    /// What violations of a rule are counted as.
    pub fn tally(&self, rule: &Rule) -> Tally {
        if rule.finding.is_some() { Tally::Known } else { Tally::Errors(self.rules_are_against()) }
    }

    /// A violation of a rule: an error, or the known finding that the rule names.
    pub fn violation(&self, rule: &Rule, pointer: &str, message: String) -> Violation {
        let message = format!("{message}: {}", rule.what);
        let violation = Violation::of_rule(self.rules_are_against(), &rule.id, pointer, message);
        let finding = rule.finding.as_ref().and_then(|id| self.finding(id)).cloned();
        Violation { finding, ..violation }
    }

    /// The exit codes of its conditions.
    pub fn exit_codes(&self) -> BTreeSet<i32> {
        self.conditions.iter().flat_map(|condition| &condition.exit).copied().collect()
    }
}

/// The program whose output a contract is taken from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ContractProgram {
    /// Its name, as it is called.
    pub name: String,
    /// What its `--version` prints beside the version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prints: Option<String>,
    /// A time limit that suits its runs, in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout: Option<u64>,
    /// Variables that keep its runs from downloading updates and sending telemetry.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
}

/// The type of events that have none, in a contract that allows those.
pub const UNTYPED: &str = "(none)";

/// The types of events in a stream.
#[derive(Debug, Clone)]
pub(crate) struct EventTypes {
    /// Where an event has its type.
    pub discriminator: Pointer,
    /// What tells apart events of one type: with it, the type is `TYPE/SUBTYPE`, if there is such a type.
    pub subtype: Option<Pointer>,
    /// Each type with the reference to its schema, in the order of the file.
    pub schemas: Vec<(String, String)>,
    /// Other types are let through and counted.
    pub allow_unknown: bool,
    /// The types that a stream may begin with; none for any.
    pub first: Option<Vec<String>>,
    /// The types that a stream may end with; none for any.
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
    /// Its contents are unknown.
    Any,
}

impl Payload {
    /// The name that `contract.toml` uses.
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
    /// The name that `contract.toml` uses.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Nothing => "nothing",
            Self::Text => "text",
            Self::Json => "json",
        }
    }
}

/// A condition that a run can end in.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "ConditionSummary")]
pub struct Condition {
    /// Its name.
    pub name: String,
    /// What it is, in a sentence.
    pub what: String,
    /// Its exit codes.
    pub exit: Vec<i32>,
    /// The contents of stdout in this condition.
    pub stdout: Payload,
    /// The contents of stderr in this condition; absent where they are unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stderr: Option<ErrorOutput>,
    /// The schema of the JSON object on stderr.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stderr_schema: Option<String>,
    /// The data has each of these.
    #[schemars(with = "Vec<String>")]
    pub some: Vec<Pattern>,
    /// The data has none of these.
    #[schemars(with = "Vec<String>")]
    pub none: Vec<Pattern>,
    /// It applies only to runs that are declared to be in it.
    pub declared: bool,
    /// The ID of the finding that a run in this condition shows: a known fault of the program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finding: Option<String>,
}
