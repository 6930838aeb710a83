//! What is known of a run so far: the sum of its events, from which each protocol writes its end. The agent's
//! own writes it as it is, so its JSON Schema has the comments here as descriptions.

use super::attach::Attached;
use super::model::Usage;
use super::tool_record::{ToolRecord, ToolStart};
use schemars::JsonSchema;
use serde::Serialize;

/// Outcome of a run.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
#[schemars(rename = "RunResult")]
pub struct RunSummary {
    /// `completed` or `failed`.
    pub status: Status,
    /// The query.
    pub query: String,
    /// The final answer; null if there is none.
    pub answer: Option<String>,
    /// Why it failed; null if it did not.
    pub code: Option<&'static str>,
    /// The provider.
    pub provider: String,
    /// The model.
    pub model: String,
    /// How many turns the model had.
    pub turns: Turns,
    /// Its outcome.
    pub health: Health,
    /// Tokens over all turns; absent when the provider counts none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// The attachments of the query.
    pub attachments: Vec<Attached>,
    /// Path of the scratchpad; null if it could not be written.
    pub scratchpad: Option<String>,
    /// How long it took, in milliseconds.
    pub timing_ms: u64,
    /// The loop has begun.
    #[serde(skip)]
    pub started: bool,
    /// The model was told of tools.
    #[serde(skip)]
    pub tools: bool,
    /// The model refused them, and it went on without.
    #[serde(skip)]
    pub fallback: bool,
    /// Turns that had usage.
    #[serde(skip)]
    pub turns_with_usage: u64,
    /// The tool calls that have ended.
    #[serde(skip)]
    pub calls: Vec<ToolRecord>,
    /// The tool call that has not.
    #[serde(skip)]
    pub open: Option<ToolStart>,
    /// What the run is waiting for.
    #[serde(skip)]
    pub phase: Phase,
}

/// How a run ended.
#[derive(Debug, Clone, Copy, Default, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// With an answer.
    #[default]
    Completed,
    /// Without.
    Failed,
}

/// Turns of the model.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct Turns {
    /// Number of turns used.
    pub used: u64,
    /// Number of turns allowed.
    pub max: u32,
}

/// Outcome of a run.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct Health {
    /// Number of retries.
    pub retries: u64,
    /// All tool calls.
    pub tool_calls: usize,
    /// Those that failed.
    pub tool_calls_failed: usize,
    /// Share of calls that failed; 0 without calls.
    pub tool_call_failure_rate: f64,
}

/// What a run is waiting for.
#[derive(Debug, Clone, Copy, Default)]
pub enum Phase {
    /// The query, the attachments, the provider's settings.
    #[default]
    Preparing,
    /// The model.
    Model,
    /// A tool, or nothing.
    Tools,
}
