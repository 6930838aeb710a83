//! The conversation between the agent and a model.

use super::event::Event;
use super::failure::Failure;
use serde_json::Value;
use std::time::Duration;

/// Tokens of one turn.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// Of what was sent.
    pub input: u64,
    /// Of what came back.
    pub output: u64,
}

impl Usage {
    /// Of both.
    pub const fn total(self) -> u64 {
        self.input.saturating_add(self.output)
    }
}

/// A tool call that the model asks for.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolCall {
    /// The provider's name for it.
    pub id: String,
    /// The tool.
    pub name: String,
    /// The arguments as the model wrote them: meant to be a JSON object.
    pub arguments: String,
}

/// An image that goes along with the query.
#[derive(Debug, Clone)]
pub struct Image {
    /// Such as `image/png`.
    pub mime: String,
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
        /// The attached images.
        images: Vec<Image>,
    },
    /// A turn of the model.
    Assistant {
        /// Its words.
        text: String,
        /// What it asked for.
        calls: Vec<ToolCall>,
    },
    /// What a tool gave.
    Tool {
        /// The call that this answers.
        id: String,
        /// The result as text.
        content: String,
        /// Whether the call succeeded.
        ok: bool,
    },
}

/// A tool as the model is told of it.
#[derive(Debug, Clone)]
pub struct ToolSpec {
    /// Its name.
    pub name: &'static str,
    /// What it does.
    pub description: &'static str,
    /// JSON Schema of its arguments.
    pub parameters: Value,
}

/// What a model gave in one turn.
#[derive(Debug, Clone, Default)]
pub struct Turn {
    /// Its words, all of them.
    pub text: String,
    /// The tool calls that it asks for, in order.
    pub calls: Vec<ToolCall>,
    /// Tokens, when the provider counts them.
    pub usage: Option<Usage>,
}

/// Why a turn failed.
#[derive(Debug, Clone)]
pub enum TurnError {
    /// It may succeed the next time.
    Retryable {
        /// What happened.
        failure: Failure,
        /// How long the provider asks to wait.
        after: Option<Duration>,
    },
    /// It will not.
    Fatal(Failure),
    /// The model takes no tools.
    ToolsUnsupported(Failure),
}

/// Where the conversation goes on.
pub trait Provider: Send {
    /// The provider's name, such as `openai`.
    fn name(&self) -> &str;
    /// The model's name, without the provider.
    fn model(&self) -> &str;
    /// Whether the model takes images.
    fn sees_images(&self) -> bool {
        true
    }
    /// A text without what nobody may see: the provider's key.
    fn hide(&self, text: &str) -> String {
        text.to_owned()
    }
    /// Takes one turn. Words are passed to `emit` as they come, as [`Event::Text`].
    ///
    /// # Errors
    /// See [`TurnError`]. After words were emitted it is never [`TurnError::Retryable`].
    fn turn(
        &mut self,
        messages: &[Message],
        tools: &[ToolSpec],
        emit: &mut dyn FnMut(Event),
    ) -> Result<Turn, TurnError>;
}
