//! The summary of a run, which accumulates its events. Each protocol writes its final output from the summary. The
//! native protocol serializes it, so that the doc comments are the descriptions in its JSON Schema.

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
    pub status: SessionStatus,
    /// The query.
    pub query: String,
    /// The final answer; null if there is none.
    pub answer: Option<String>,
    /// Code of the failure; null if the run completed.
    pub code: Option<&'static str>,
    /// The provider.
    pub provider: String,
    /// The model.
    pub model: String,
    /// Turns of the model.
    pub turns: Turns,
    /// Retries and tool calls of the run.
    pub health: Health,
    /// Tokens of all turns; absent if the provider counts none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// The attachments of the query.
    pub attachments: Vec<Attached>,
    /// Path of the scratchpad; null if it could not be written.
    pub scratchpad: Option<String>,
    /// Duration in milliseconds.
    pub timing_ms: u64,
    /// Whether the agent loop has started.
    #[serde(skip)]
    pub started: bool,
    /// Whether tools are offered to the model.
    #[serde(skip)]
    pub tools: bool,
    /// Whether the model rejected tools and the run continued without them.
    #[serde(skip)]
    pub tools_fallback: bool,
    /// Number of turns for which the provider counted tokens.
    #[serde(skip)]
    pub turns_with_usage: u64,
    /// Tool calls that have ended.
    #[serde(skip)]
    pub calls: Vec<ToolRecord>,
    /// Tool call that has not ended.
    #[serde(skip)]
    pub open_call: Option<ToolStart>,
    #[serde(skip)]
    pub phase: Phase,
}

/// How a run ended.
#[derive(Debug, Clone, Copy, Default, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SessionStatus {
    /// The run ended with an answer.
    #[default]
    Completed,
    /// The run ended without an answer.
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

/// Retries and tool calls of a run.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct Health {
    /// Number of retries.
    pub retries: u64,
    /// Number of tool calls.
    pub tool_calls: usize,
    /// Number of tool calls that failed.
    pub tool_calls_failed: usize,
    /// Share of calls that failed; 0 without calls.
    pub tool_call_failure_rate: f64,
}

/// What a run is waiting for at the moment.
#[derive(Debug, Clone, Copy, Default)]
pub enum Phase {
    /// The query, the attachments or the settings of the provider are being read.
    #[default]
    Preparing,
    Model,
    /// The model has answered. A tool may be running.
    Tools,
}
