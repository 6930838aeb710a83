//! Types of the conversation between the agent and a model.

use super::failure::Result;
use super::tool_record::ToolRecord;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

/// Token counts.
#[derive(Debug, Clone, Copy, Default, Serialize, JsonSchema)]
#[schemars(rename = "Tokens")]
pub struct Usage {
    /// Sent tokens.
    pub input: u64,
    /// Received tokens.
    pub output: u64,
    /// Sent and received tokens.
    pub total: u64,
}

impl Usage {
    pub const fn new(input: u64, output: u64) -> Self {
        Self { input, output, total: input.saturating_add(output) }
    }

    pub const fn plus(self, other: Self) -> Self {
        Self::new(self.input.saturating_add(other.input), self.output.saturating_add(other.output))
    }
}

/// A tool call that the model requests.
#[derive(Debug, Clone, Default)]
pub struct ToolCall {
    /// ID of the call that the provider assigned.
    pub id: String,
    pub name: String,
    /// Arguments as the model wrote them. They should be a JSON object, but may be any text.
    pub arguments: String,
}

/// An image that is attached to the query.
#[derive(Debug, Clone)]
pub struct Image {
    /// Media type, such as `image/png`.
    pub mime: &'static str,
    /// Content of the image in Base64.
    pub base64: String,
}

/// One message of the conversation.
#[derive(Debug, Clone)]
pub enum Message {
    /// The system prompt.
    System(String),
    /// The query with its attachments.
    User {
        /// The query, followed by the attached text files.
        text: String,
        images: Vec<Image>,
    },
    /// A turn of the model.
    Assistant(Turn),
    /// The result of a tool call.
    Tool(ToolRecord),
}

/// A tool as it is described to the model.
#[derive(Debug, Clone)]
pub struct ToolSpec {
    pub name: &'static str,
    pub description: &'static str,
    /// JSON Schema of the arguments of the tool.
    pub parameters: Value,
}

/// A turn: the response of a model to one request, with text or tool calls.
#[derive(Debug, Clone, Default)]
pub struct Turn {
    pub text: String,
    /// Tool calls that the model requests, in order.
    pub calls: Vec<ToolCall>,
    /// Token counts of the turn; `None` if the provider does not count them.
    pub usage: Option<Usage>,
}

/// A model provider, which answers requests to a model.
pub trait Provider: Send {
    fn supports_images(&self) -> bool {
        true
    }
    /// Removes secrets, such as the provider's API key, from a text.
    fn redact(&self, text: &str) -> String {
        text.to_owned()
    }
    /// Requests one turn from the model. `emit` receives parts of the text when they arrive. A failure is not retryable
    /// if text was emitted before it. A request that fails with `ToolsNotSupported` may succeed without tools.
    fn turn(&mut self, messages: &[Message], tools: &[ToolSpec], emit: &mut dyn FnMut(&str)) -> Result<Turn>;
}
