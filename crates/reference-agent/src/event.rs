//! The events of a run, and its outcome. The serialized events are the lines of the agent's native jsonl; their doc
//! comments are the descriptions in its JSON Schema.

use super::attach::Attached;
use super::failure::Failure;
use super::model::Usage;
use super::run_summary::RunSummary;
use super::tool_record::{ToolRecord, ToolStart};
use schemars::JsonSchema;
use serde::Serialize;

/// An event: one line of jsonl.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "kebab-case")]
#[schemars(rename = "Step")]
pub enum AgentEvent {
    /// The query was read. The event is emitted a second time when the attachments were read, too.
    #[serde(skip)]
    Query { text: String, attached: Vec<Attached> },
    /// The agent loop begins.
    Start {
        /// The query.
        query: String,
        /// The provider.
        provider: String,
        /// The model.
        model: String,
        /// Whether tools are offered to the model.
        tools: bool,
    },
    /// The model does not support tools; the run continues without them.
    ToolsRefused,
    /// A request is sent to the model.
    Turn {
        /// Number of the turn, from 1.
        turn: u64,
    },
    /// The request to the model is retried after a delay.
    Retry {
        /// Number of the turn, from 1.
        turn: u64,
        /// Number of the retry in this turn, from 1.
        attempt: u32,
        /// Error message.
        message: String,
        /// Delay in milliseconds.
        wait_ms: u64,
    },
    /// The model prints text.
    Text {
        /// Number of the turn, from 1.
        turn: u64,
        /// The next part of the text.
        text: String,
    },
    /// A turn of the model has ended. Contains its token counts if the provider counts tokens.
    #[serde(skip)]
    TurnEnded(Option<Usage>),
    /// A tool is about to run.
    ToolCall(ToolStart),
    /// An approval for a tool was requested.
    Permission {
        /// ID of the call.
        id: String,
        /// Name of the tool.
        tool: String,
        /// Whether the call is allowed.
        granted: bool,
    },
    /// A tool has ended.
    ToolResult(ToolRecord),
    /// The run has ended.
    End(Box<RunSummary>),
}

/// How a run ended: the final answer, which may be empty, or a failure.
pub type TurnOutcome = Result<String, Failure>;
