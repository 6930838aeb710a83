//! What comes back, when it comes as one document; and what it is made of in both forms.

use crate::clock;
use crate::model::{ToolCall, Turn, Usage};
use serde::Deserialize;
use std::io::{self, Read};
use std::time::Duration;

/// Where the words of an answer go as they come.
pub(super) struct TextSink<'a> {
    /// Some have gone there.
    pub used: bool,
    /// Gets them.
    pub emit: &'a mut dyn FnMut(String),
}

impl TextSink<'_> {
    /// Passes words on.
    pub fn push(&mut self, words: &str) {
        if !words.is_empty() {
            self.used = true;
            (self.emit)(words.to_owned());
        }
    }
}

/// Why an answer could not be read.
pub(super) enum AnswerError {
    /// The connection.
    Io(io::Error),
    /// It is not what it should be.
    Malformed(String),
    /// It is an error of the server, in its words.
    Server(String),
}

/// A whole answer, or one piece of a stream.
#[derive(Deserialize)]
pub(super) struct Completion {
    /// The one answer is in the first.
    #[serde(default)]
    pub choices: Vec<Choice>,
    /// Tokens; in a stream in the last piece, if at all.
    pub usage: Option<TokenCounts>,
    /// An error in the place of an answer.
    pub error: Option<serde_json::Value>,
}

/// One of the answers.
#[derive(Deserialize)]
pub(super) struct Choice {
    /// The words of a whole answer, or the next words of a stream.
    #[serde(alias = "delta")]
    pub message: Option<ChatMessage>,
    /// Why it ended; none while it has not.
    pub finish_reason: Option<String>,
}

/// A message of the model, or a piece of one.
#[derive(Deserialize)]
pub(super) struct ChatMessage {
    /// Words.
    pub content: Option<String>,
    /// Tool calls, or pieces of them.
    #[serde(default, deserialize_with = "null_is_default")]
    pub tool_calls: Vec<CallPiece>,
}

/// A tool call, or a piece of one.
#[derive(Deserialize)]
pub(super) struct CallPiece {
    /// Which one it is a piece of.
    pub index: Option<usize>,
    /// Its name for the call.
    pub id: Option<String>,
    /// The call.
    pub function: Option<Function>,
}

/// The function of a tool call, or a piece of it.
#[derive(Deserialize)]
pub(super) struct Function {
    /// The tool.
    pub name: Option<String>,
    /// The arguments, as text.
    pub arguments: Option<String>,
}

/// Tokens as the server counts them.
#[derive(Deserialize, Clone, Copy)]
pub(super) struct TokenCounts {
    #[serde(default)]
    prompt_tokens: u64,
    #[serde(default)]
    completion_tokens: u64,
}

fn null_is_default<'de, D: serde::Deserializer<'de>, T: Deserialize<'de> + Default>(
    d: D,
) -> Result<T, D::Error> {
    Ok(Option::deserialize(d)?.unwrap_or_default())
}

impl From<TokenCounts> for Usage {
    fn from(tokens: TokenCounts) -> Self {
        Self { input: tokens.prompt_tokens, output: tokens.completion_tokens }
    }
}

/// Reads an answer that is one document.
pub(super) fn read(mut reader: impl Read, sink: &mut TextSink<'_>) -> Result<Turn, AnswerError> {
    let mut bytes = Vec::new();
    reader.read_to_end(&mut bytes).map_err(AnswerError::Io)?;
    let completion: Completion = parse(&bytes)?;
    let none = || AnswerError::Malformed("it has no choices".into());
    let choice = completion.choices.into_iter().next().ok_or_else(none)?;
    let message = choice.message.ok_or_else(|| AnswerError::Malformed("it has no message".into()))?;
    let text = message.content.unwrap_or_default();
    let calls: Result<_, _> =
        message.tool_calls.into_iter().map(|piece| call(piece.id, piece.function)).collect();
    let calls = calls?;
    sink.push(&text);
    Ok(Turn { text, calls, usage: completion.usage.map(Usage::from) })
}

/// A piece of JSON that is a completion and no error.
pub(super) fn parse(bytes: &[u8]) -> Result<Completion, AnswerError> {
    let completion: Completion =
        serde_json::from_slice(bytes).map_err(|error| AnswerError::Malformed(error.to_string()))?;
    match &completion.error {
        None | Some(serde_json::Value::Null) => Ok(completion),
        Some(error) => Err(AnswerError::Server(format!("the server failed: {}", error_message(error)))),
    }
}

/// A tool call from its parts; one without a name is none.
pub(super) fn call(id: Option<String>, function: Option<Function>) -> Result<ToolCall, AnswerError> {
    let function = function.ok_or_else(|| AnswerError::Malformed("a tool call has no function".into()))?;
    let name = function.name.filter(|name| !name.is_empty());
    Ok(ToolCall {
        id: id.filter(|id| !id.is_empty()).unwrap_or_else(|| clock::id("call_")),
        name: name.ok_or_else(|| AnswerError::Malformed("a tool call has no name".into()))?,
        arguments: function.arguments.unwrap_or_default(),
    })
}

/// The words of an error's body, in one line, at most 500 characters.
pub(super) fn error_text(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body);
    let message = match serde_json::from_slice::<serde_json::Value>(body) {
        Ok(value) => error_message(value.get("error").unwrap_or(&value)),
        Err(_) => text.into_owned(),
    };
    message.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(500).collect()
}

fn error_message(error: &serde_json::Value) -> String {
    let message = error.get("message").unwrap_or(error);
    message.as_str().map_or_else(|| message.to_string(), str::to_owned)
}

/// The seconds of a Retry-After header. A date is taken as no wish: it needs both clocks to agree.
pub(super) fn retry_after(text: &str) -> Option<Duration> {
    let seconds: f64 = text.trim().parse().ok()?;
    (0.0..=1e9).contains(&seconds).then(|| Duration::from_secs_f64(seconds))
}
