//! Reads a chat completion that is one document, and defines the types that it shares with a streamed one.

use crate::clock;
use crate::model::{ToolCall, Turn, Usage};
use serde::de::{Error as _, IgnoredAny, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use std::fmt;
use std::io::{self, Read};
use std::marker::PhantomData;
use std::time::Duration;

/// Maximum number of tool calls in a response.
const MAX_CALLS: usize = 1_000;
/// Maximum size of the arguments of all tool calls in a response together, in bytes.
const MAX_ARGUMENTS: usize = 1 << 20;
/// Maximum size of a response, in bytes, from which an error message is read.
const MAX_ERROR_SIZE: usize = 64 << 10;

/// Why a response could not be read.
pub(super) enum ResponseError {
    /// The connection failed while the response was read.
    Io(io::Error),
    /// The response is not a valid chat completion.
    Malformed(String),
    /// The server returned an error with this message.
    Server(String),
}

impl ResponseError {
    fn malformed(what: &str) -> Self {
        Self::Malformed(what.to_owned())
    }
}

/// A complete response of the server, or one chunk of a streamed response.
#[derive(Deserialize)]
pub(super) struct Completion {
    /// Answers of the model. Only the first one is used.
    #[serde(default, deserialize_with = "bounded")]
    pub choices: Vec<Choice>,
    /// Token counts. In a stream, only the last chunk has them.
    pub usage: Option<TokenCounts>,
    /// Error that the server returns instead of an answer.
    error: Option<IgnoredAny>,
}

#[derive(Deserialize)]
pub(super) struct Choice {
    /// The complete message, or its next part in a stream.
    #[serde(alias = "delta")]
    pub message: Option<ChatMessage>,
    /// Why the model stopped. `None` in each chunk of a stream but the last.
    pub finish_reason: Option<String>,
}

/// A complete message of the model, or its next part in a stream.
#[derive(Deserialize)]
pub(super) struct ChatMessage {
    pub content: Option<String>,
    #[serde(default, deserialize_with = "bounded")]
    pub tool_calls: Vec<CallPiece>,
}

/// Deserializes a list; null is an empty list. At most [`MAX_CALLS`] elements are accepted, because a few bytes of JSON
/// can take much memory.
fn bounded<'de, T: Deserialize<'de>, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<T>, D::Error> {
    struct Bounded<T>(PhantomData<T>);
    impl<'de, T: Deserialize<'de>> Visitor<'de> for Bounded<T> {
        type Value = Vec<T>;
        fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
            formatter.write_str("a list")
        }
        fn visit_unit<E>(self) -> Result<Vec<T>, E> {
            Ok(Vec::new())
        }
        fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Vec<T>, A::Error> {
            let mut list = Vec::new();
            while let Some(element) = elements.next_element()? {
                if list.len() == MAX_CALLS {
                    return Err(A::Error::custom(format!("expected at most {MAX_CALLS} elements in a list")));
                }
                list.push(element);
            }
            Ok(list)
        }
    }
    deserializer.deserialize_any(Bounded(PhantomData))
}

/// A complete tool call, or its next part in a stream.
#[derive(Deserialize)]
pub(super) struct CallPiece {
    /// Index of the tool call that the part belongs to.
    pub index: Option<usize>,
    pub id: Option<String>,
    pub function: Option<Function>,
}

#[derive(Deserialize)]
pub(super) struct Function {
    pub name: Option<String>,
    /// Arguments as JSON text, or the next part of that text.
    pub arguments: Option<String>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct TokenCounts {
    prompt_tokens: u64,
    completion_tokens: u64,
}

impl From<TokenCounts> for Usage {
    fn from(tokens: TokenCounts) -> Self {
        Self::new(tokens.prompt_tokens, tokens.completion_tokens)
    }
}

/// Reads a response that is one JSON document, and passes its text to `emit`.
pub(super) fn read_document(
    mut reader: impl Read,
    emit: &mut dyn FnMut(&str),
) -> Result<Turn, ResponseError> {
    let mut bytes = Vec::new();
    reader.read_to_end(&mut bytes).map_err(ResponseError::Io)?;
    let completion = parse(&bytes)?;
    let choice = completion.choices.into_iter().next();
    let choice = choice.ok_or_else(|| ResponseError::malformed("it has no choices"))?;
    let message = choice.message.ok_or_else(|| ResponseError::malformed("it has no message"))?;
    let call = |piece: CallPiece| {
        let function =
            piece.function.ok_or_else(|| ResponseError::malformed("a tool call has no function"))?;
        validate_call(ToolCall {
            id: piece.id.unwrap_or_default(),
            name: function.name.unwrap_or_default(),
            arguments: function.arguments.unwrap_or_default(),
        })
    };
    let calls = message.tool_calls.into_iter().map(call).collect::<Result<Vec<_>, _>>()?;
    check_limits(&calls)?;
    let text = message.content.unwrap_or_default();
    emit(&text);
    Ok(Turn { text, calls, usage: completion.usage.map(Usage::from) })
}

/// Parses a complete response or a chunk of a stream. Fails if it contains an error of the server.
pub(super) fn parse(bytes: &[u8]) -> Result<Completion, ResponseError> {
    let completion: Completion =
        serde_json::from_slice(bytes).map_err(|error| ResponseError::Malformed(error.to_string()))?;
    if completion.error.is_none() {
        return Ok(completion);
    }
    let document =
        if bytes.len() <= MAX_ERROR_SIZE { serde_json::from_slice::<Value>(bytes).ok() } else { None };
    let message = document.as_ref().and_then(|document| document.get("error")).map(error_message);
    Err(ResponseError::Server(match message {
        Some(message) => format!("the server failed: {message}"),
        None => "the server failed".to_owned(),
    }))
}

/// Fails if there are too many tool calls, or if their arguments are too large.
pub(super) fn check_limits<'c>(calls: impl IntoIterator<Item = &'c ToolCall>) -> Result<(), ResponseError> {
    let (mut count, mut bytes) = (0, 0);
    for call in calls {
        count += 1;
        bytes += call.arguments.len();
    }
    let what = match (count > MAX_CALLS, bytes > MAX_ARGUMENTS) {
        (true, _) => format!("expected at most {MAX_CALLS} tool calls"),
        (_, true) => format!("expected at most {MAX_ARGUMENTS} bytes in the arguments of the tool calls"),
        _ => return Ok(()),
    };
    Err(ResponseError::Malformed(what))
}

/// Returns the tool call, with a generated ID if it has none. Fails if the name of the tool is missing.
pub(super) fn validate_call(call: ToolCall) -> Result<ToolCall, ResponseError> {
    if call.name.is_empty() {
        return Err(ResponseError::malformed("a tool call has no name"));
    }
    let id = if call.id.is_empty() { clock::random_id("call_") } else { call.id };
    Ok(ToolCall { id, ..call })
}

/// Returns the error message in the body of an error response. It is one line of at most 500 characters.
pub(super) fn error_text(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body);
    let message = match serde_json::from_slice::<Value>(body) {
        Ok(value) => error_message(value.get("error").unwrap_or(&value)),
        Err(_) => text.into_owned(),
    };
    message.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(500).collect()
}

fn error_message(error: &Value) -> String {
    let message = error.get("message").unwrap_or(error);
    message.as_str().map_or_else(|| message.to_string(), str::to_owned)
}

/// Parses the value of a `Retry-After` header, a number of seconds. `None` if it is a date, which would require
/// synchronized clocks.
pub(super) fn parse_retry_after(text: &str) -> Option<Duration> {
    let seconds: f64 = text.trim().parse().ok()?;
    (0.0..=1e9).contains(&seconds).then(|| Duration::from_secs_f64(seconds))
}
