//! The conversation between the agent and a model.

use super::failure::Result;
use super::tool_record::ToolRecord;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

/// Tokens.
#[derive(Debug, Clone, Copy, Default, Serialize, JsonSchema)]
#[schemars(rename = "Tokens")]
pub struct Usage {
    /// Sent.
    pub input: u64,
    /// Received.
    pub output: u64,
    /// Both.
    pub total: u64,
}

impl Usage {
    /// Tokens that were sent and received.
    pub const fn new(input: u64, output: u64) -> Self {
        Self { input, output, total: input.saturating_add(output) }
    }

    /// The sum of two.
    pub const fn plus(self, other: Self) -> Self {
        Self::new(self.input.saturating_add(other.input), self.output.saturating_add(other.output))
    }
}

/// A tool call that the model asks for.
#[derive(Debug, Clone, Default)]
pub struct ToolCall {
    /// The provider's name for it.
    pub id: String,
    pub name: String,
    /// The arguments as the model wrote them: meant to be a JSON object.
    pub arguments: String,
}

/// An image that goes along with the query.
#[derive(Debug, Clone)]
pub struct Image {
    /// Such as `image/png`.
    pub mime: &'static str,
    /// Base64 of its bytes.
    pub base64: String,
}

/// One message of the conversation.
#[derive(Debug, Clone)]
pub enum Message {
    /// What the agent tells the model about itself.
    System(String),
    /// The query, with what is attached to it.
    User {
        /// The words, with the attached text files.
        text: String,
        images: Vec<Image>,
    },
    /// A turn of the model.
    Assistant(Turn),
    /// What a tool gave.
    Tool(ToolRecord),
}

/// A tool as the model is told of it.
#[derive(Debug, Clone)]
pub struct ToolSpec {
    pub name: &'static str,
    pub description: &'static str,
    /// JSON Schema of its arguments.
    pub parameters: Value,
}

/// What a model gave in one turn.
#[derive(Debug, Clone, Default)]
pub struct Turn {
    pub text: String,
    /// The tool calls that it asks for, in order.
    pub calls: Vec<ToolCall>,
    /// Tokens, when the provider counts them.
    pub usage: Option<Usage>,
}

/// Where the conversation goes on.
pub trait Provider: Send {
    /// Whether the model takes images.
    fn sees_images(&self) -> bool {
        true
    }
    /// A text without what nobody may see: the provider's key.
    fn hide(&self, text: &str) -> String {
        text.to_owned()
    }
    /// Takes one turn, and passes words to `emit` as they come. After that, no failure is retryable; one
    /// with the code `ToolsNotSupported` may be none without tools.
    fn turn(&mut self, messages: &[Message], tools: &[ToolSpec], emit: &mut dyn FnMut(&str)) -> Result<Turn>;
}
