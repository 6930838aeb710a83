//! What comes back, when it comes as one document; and what it is made of in both forms.

use crate::clock;
use crate::model::{ToolCall, Turn, Usage};
use serde::de::{Error as _, IgnoredAny, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use std::fmt;
use std::io::{self, Read};
use std::marker::PhantomData;
use std::time::Duration;

/// Most tool calls of one answer.
const MAX_CALLS: usize = 1_000;
/// Most bytes of the arguments of all its tool calls.
const MAX_ARGUMENTS: usize = 1 << 20;
/// The words of a longer answer that is an error are not looked for.
const MAX_ERROR: usize = 64 << 10;

/// Why an answer could not be read.
pub(super) enum AnswerError {
    /// The connection.
    Io(io::Error),
    /// It is not what it should be.
    Malformed(String),
    /// It is an error of the server, in its words.
    Server(String),
}

impl AnswerError {
    fn malformed(what: &str) -> Self {
        Self::Malformed(what.to_owned())
    }
}

/// A whole answer, or one piece of a stream.
#[derive(Deserialize)]
pub(super) struct Completion {
    /// The one answer is in the first.
    #[serde(default, deserialize_with = "bounded")]
    pub choices: Vec<Choice>,
    /// In a stream in the last piece, if at all.
    pub usage: Option<TokenCounts>,
    /// In the place of an answer.
    error: Option<IgnoredAny>,
}

#[derive(Deserialize)]
pub(super) struct Choice {
    /// The words of a whole answer, or the next words of a stream.
    #[serde(alias = "delta")]
    pub message: Option<ChatMessage>,
    /// None while it has not ended.
    pub finish_reason: Option<String>,
}

/// A message of the model, or a piece of one.
#[derive(Deserialize)]
pub(super) struct ChatMessage {
    pub content: Option<String>,
    #[serde(default, deserialize_with = "bounded")]
    pub tool_calls: Vec<CallPiece>,
}

/// A list, or null, with no more elements than there may be tool calls: a few bytes of JSON are many of memory.
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

/// A tool call, or a piece of one.
#[derive(Deserialize)]
pub(super) struct CallPiece {
    /// Which one it is a piece of.
    pub index: Option<usize>,
    pub id: Option<String>,
    pub function: Option<Function>,
}

#[derive(Deserialize)]
pub(super) struct Function {
    pub name: Option<String>,
    /// JSON, as text.
    pub arguments: Option<String>,
}

/// Tokens as the server counts them.
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

/// Reads an answer that is one document.
pub(super) fn read(mut reader: impl Read, emit: &mut dyn FnMut(&str)) -> Result<Turn, AnswerError> {
    let mut bytes = Vec::new();
    reader.read_to_end(&mut bytes).map_err(AnswerError::Io)?;
    let completion = parse(&bytes)?;
    let choice = completion.choices.into_iter().next();
    let choice = choice.ok_or_else(|| AnswerError::malformed("it has no choices"))?;
    let message = choice.message.ok_or_else(|| AnswerError::malformed("it has no message"))?;
    let call = |piece: CallPiece| {
        let function = piece.function.ok_or_else(|| AnswerError::malformed("a tool call has no function"))?;
        complete(ToolCall {
            id: piece.id.unwrap_or_default(),
            name: function.name.unwrap_or_default(),
            arguments: function.arguments.unwrap_or_default(),
        })
    };
    let calls = message.tool_calls.into_iter().map(call).collect::<Result<Vec<_>, _>>()?;
    within_bounds(&calls)?;
    let text = message.content.unwrap_or_default();
    emit(&text);
    Ok(Turn { text, calls, usage: completion.usage.map(Usage::from) })
}

/// A piece of JSON that is a completion and no error.
pub(super) fn parse(bytes: &[u8]) -> Result<Completion, AnswerError> {
    let completion: Completion =
        serde_json::from_slice(bytes).map_err(|error| AnswerError::Malformed(error.to_string()))?;
    if completion.error.is_none() {
        return Ok(completion);
    }
    let whole = if bytes.len() <= MAX_ERROR { serde_json::from_slice::<Value>(bytes).ok() } else { None };
    let words = whole.as_ref().and_then(|whole| whole.get("error")).map(error_message);
    Err(AnswerError::Server(match words {
        Some(words) => format!("the server failed: {words}"),
        None => "the server failed".to_owned(),
    }))
}

/// An answer asks for no more than this.
pub(super) fn within_bounds<'c>(calls: impl IntoIterator<Item = &'c ToolCall>) -> Result<(), AnswerError> {
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
    Err(AnswerError::Malformed(what))
}

/// A tool call with an ID, where the server gave none; one without a name is none.
pub(super) fn complete(call: ToolCall) -> Result<ToolCall, AnswerError> {
    if call.name.is_empty() {
        return Err(AnswerError::malformed("a tool call has no name"));
    }
    let id = if call.id.is_empty() { clock::id("call_") } else { call.id };
    Ok(ToolCall { id, ..call })
}

/// The words of an error's body, in one line, at most 500 characters.
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

/// The seconds of a Retry-After header. A date is taken as no wish: it needs both clocks to agree.
pub(super) fn retry_after(text: &str) -> Option<Duration> {
    let seconds: f64 = text.trim().parse().ok()?;
    (0.0..=1e9).contains(&seconds).then(|| Duration::from_secs_f64(seconds))
}
