//! The scripted provider: plays the turns of a script file.

use crate::failure::{Code, Failure, Result};
use crate::model::{Message, Provider, ToolCall, ToolSpec, Turn, Usage};
use serde::Deserialize;
use serde_json::Value;
use std::path::Path;
use std::time::Duration;

/// The contents of a script file. Each item of `turns` is the response to one request.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Script {
    turns: Vec<ScriptedTurn>,
    /// Whether the last turn answers all further requests.
    #[serde(default)]
    repeat: bool,
    /// Whether the scripted model supports images.
    #[serde(default = "default_true")]
    vision: bool,
    /// Whether the scripted model supports tools.
    #[serde(default = "default_true")]
    tools: bool,
}

/// The response to one request, or a failure.
#[derive(Deserialize, Clone, Default)]
#[serde(deny_unknown_fields, default)]
struct ScriptedTurn {
    /// Delay before the response, in milliseconds.
    delay_ms: u64,
    text: Pieces,
    calls: Vec<ScriptedCall>,
    usage: Option<ScriptedUsage>,
    /// Failure of the request. It replaces the response.
    fail: Option<Fail>,
}

/// Text of a response. In the script, it is one string, or a list of the parts in which it is streamed.
#[derive(Deserialize, Clone, Default)]
#[serde(from = "Value")]
struct Pieces(Vec<String>);

impl From<Value> for Pieces {
    fn from(value: Value) -> Self {
        match value {
            Value::String(text) => Self(vec![text]),
            Value::Array(items) => Self(items.iter().filter_map(Value::as_str).map(str::to_owned).collect()),
            _ => Self(Vec::new()),
        }
    }
}

/// A tool call in a script. `raw` replaces `args` for arguments that are not valid JSON.
#[derive(Deserialize, Clone)]
#[serde(deny_unknown_fields)]
struct ScriptedCall {
    tool: String,
    #[serde(default)]
    args: Value,
    raw: Option<String>,
}

#[derive(Deserialize, Clone, Copy)]
#[serde(deny_unknown_fields)]
struct ScriptedUsage {
    input: u64,
    output: u64,
}

/// A failure of a request, of a kind that also occurs with real providers.
#[derive(Deserialize, Clone)]
#[serde(deny_unknown_fields)]
struct Fail {
    kind: FailKind,
    #[serde(default)]
    message: String,
    /// Wait before a retry that the provider requests, in seconds.
    retry_after: Option<u64>,
}

#[derive(Deserialize, Clone, Copy, PartialEq)]
#[serde(rename_all = "kebab-case")]
enum FailKind {
    Auth,
    Request,
    RateLimit,
    Server,
    Connection,
    Timeout,
}

fn default_true() -> bool {
    true
}

pub(super) struct ScriptedProvider {
    model: String,
    script: Script,
    next: usize,
    calls: usize,
}

impl ScriptedProvider {
    pub(super) fn open(path: &Path, model: &str) -> Result<Self> {
        let text = std::fs::read_to_string(path).map_err(|error| {
            Failure::from_io(
                Code::AgentConfigError,
                &format!("cannot read the script {}", path.display()),
                &error,
            )
        })?;
        let script: Script = serde_json::from_str(&text).map_err(|error| {
            Failure::new(Code::AgentConfigInvalid, format!("the script {}: {error}", path.display()))
        })?;
        Ok(Self { model: model.to_owned(), script, next: 0, calls: 0 })
    }

    fn next_turn(&mut self) -> Option<ScriptedTurn> {
        let last = self.script.turns.len().saturating_sub(1);
        let index = if self.script.repeat { self.next.min(last) } else { self.next };
        self.next += 1;
        self.script.turns.get(index).cloned()
    }
}

impl Provider for ScriptedProvider {
    fn supports_images(&self) -> bool {
        self.script.vision
    }

    fn turn(
        &mut self,
        _messages: &[Message],
        tools: &[ToolSpec],
        emit: &mut dyn FnMut(&str),
    ) -> Result<Turn> {
        if !self.script.tools && !tools.is_empty() {
            let message = format!("scripted/{} does not support tools", self.model);
            return Err(Failure::new(Code::ToolsNotSupported, message));
        }
        let Some(turn) = self.next_turn() else {
            let message =
                format!("expected at most {} model requests, as in the script", self.script.turns.len());
            return Err(Failure::new(Code::ProviderError, message));
        };
        std::thread::sleep(Duration::from_millis(turn.delay_ms));
        if let Some(fail) = turn.fail {
            return Err(failure(fail));
        }
        for piece in turn.text.0.iter().filter(|piece| !piece.is_empty()) {
            emit(piece);
        }
        let calls = turn.calls.into_iter().map(|call| {
            self.calls += 1;
            let arguments = match (call.raw, call.args) {
                (Some(raw), _) => raw,
                (None, Value::Null) => "{}".to_owned(),
                (None, args) => args.to_string(),
            };
            ToolCall { id: format!("call_{}", self.calls), name: call.tool, arguments }
        });
        Ok(Turn {
            calls: calls.collect(),
            text: turn.text.0.concat(),
            usage: turn.usage.map(|usage| Usage::new(usage.input, usage.output)),
        })
    }
}

fn failure(fail: Fail) -> Failure {
    let (code, status, retryable, default_message) = match fail.kind {
        FailKind::Auth => (Code::AuthRefused, Some(401), false, "the provider rejected the key"),
        FailKind::Request => (Code::ProviderError, Some(400), false, "the provider rejected the request"),
        FailKind::RateLimit => (Code::ProviderError, Some(429), true, "too many requests"),
        FailKind::Server => (Code::ProviderError, Some(500), true, "the server failed"),
        FailKind::Connection => (Code::ProviderError, None, true, "connection failed"),
        FailKind::Timeout => (Code::FetchTimeout, None, true, "the provider timed out"),
    };
    let message = if fail.message.is_empty() { default_message.to_owned() } else { fail.message };
    let retry_after = fail.retry_after.map(Duration::from_secs);
    Failure { status, retryable, retry_after, ..Failure::new(code, message) }
}
