//! What a `contract.toml` says.

use super::json_ref::Pointer;
use super::rule::{Pattern, Rule};
use crate::Stream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How data is put on a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "lowercase")]
pub enum Framing {
    /// One JSON document.
    #[default]
    Document,
    /// JSON lines: one object a line.
    Lines,
}

impl Framing {
    /// The name that `contract.toml` and flags use.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Document => "document",
            Self::Lines => "lines",
        }
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
    pub events: Option<Events>,
    pub rules: Vec<Rule>,
    pub conditions: Vec<Condition>,
    pub findings: Vec<String>,
}

/// The types of events in a stream.
#[derive(Debug, Clone)]
pub(crate) struct Events {
    /// Where an event has its type.
    pub discriminator: Pointer,
    /// Each type with the reference to its schema, in the order of the file.
    pub schemas: Vec<(String, String)>,
    /// Other types are let through and counted.
    pub allow_unknown: bool,
    /// The types that a stream may begin with; none for any.
    pub first: Option<Vec<String>>,
    /// The types that a stream may end with; none for any.
    pub last: Option<Vec<String>>,
}

/// What standard output holds when a run is in some condition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Payload {
    /// The document, or the whole stream.
    #[default]
    Whole,
    /// Any number of whole records: the stream may end anywhere.
    Part,
    /// Nothing.
    Nothing,
    /// What it holds is not said.
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

/// A condition that a run can end in: its exit codes, and what it printed.
#[derive(Debug, Clone)]
pub(crate) struct Condition {
    pub name: String,
    pub what: String,
    /// The exit codes; a run that died of signal n has 128 + n.
    pub exit: Vec<i32>,
    pub payload: Payload,
    /// For each of these patterns there is an event (or the document matches).
    pub some: Vec<Pattern>,
    /// No event matches any of these.
    pub none: Vec<Pattern>,
    /// It holds only for runs that are said to be in it.
    pub declared: bool,
}
