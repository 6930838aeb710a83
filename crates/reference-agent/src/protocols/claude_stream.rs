//! The protocol claude-stream: the events of `claude -p --output-format stream-json --verbose`.
//!
//! The original reports two failures as a success; this protocol does not. After an error of the provider, the event
//! `result` has the subtype `error_during_execution`, where the original has `success`. After SIGINT, the event is the
//! same, where the original prints none and exits with 0.

use super::native;
use super::protocol::{Encoder, EncoderSettings, Protocol};
use crate::clock::{now_ms, random_id, random_uuid};
use crate::event::{AgentEvent, TurnOutcome};
use crate::failure::Code;
use crate::model::Usage;
use crate::modes::ApprovalMode;
use crate::run_summary::RunSummary;
use crate::tool_record::ToolRecord;
use crate::tools;
use agentnative_contract::error::Result;
use agentnative_output::{Output, OutputFormat};
use serde_json::{Value, json};
use signal_hook::consts::SIGINT;

pub(super) const PROTOCOL: Protocol = Protocol {
    contract: Some("claude-stream"),
    exit_codes: "0  success
                 1  any failure",
    format: Some(OutputFormat::Jsonl),
    stderr_is_text: true,
    allows_empty_answer: true,
    reported_signals: &[SIGINT],
    encoder: |settings| {
        let (settings, session_id) = (settings.clone(), random_uuid());
        Box::new(ClaudeStream { settings, session_id, ..ClaudeStream::default() })
    },
    ..native::PROTOCOL
};

#[derive(Default)]
struct ClaudeStream {
    settings: EncoderSettings,
    session_id: String,
    text: String,
    /// ID of the model's message in the current turn.
    message_id: String,
    usage: Option<Usage>,
    turn_started: u64,
    /// Time spent waiting for the model, in milliseconds.
    model_ms: u64,
    denials: Vec<Value>,
}

impl ClaudeStream {
    fn emit(&self, output: &mut Output, mut event: Value) -> Result<()> {
        event["session_id"] = self.session_id.as_str().into();
        event["uuid"] = random_uuid().into();
        output.record(&event)
    }

    fn start(&self, summary: &RunSummary, output: &mut Output) -> Result<()> {
        let workspace = &self.settings.workspace;
        let cwd = workspace.canonicalize().unwrap_or_else(|_| workspace.clone());
        let tools = if summary.tools { tools::names(self.settings.profile) } else { Vec::new() };
        let approved = self.settings.approval_mode == ApprovalMode::Auto;
        let init = json!({
            "type": "system", "subtype": "init", "cwd": cwd.display().to_string(), "tools": tools,
            "mcp_servers": [], "model": summary.model, "slash_commands": [],
            "permissionMode": if approved { "bypassPermissions" } else { "default" },
            "apiKeySource": if summary.provider == "openai" { "OPENAI_API_KEY" } else { "none" },
            "claude_code_version": env!("CARGO_PKG_VERSION"), "output_style": "default",
        });
        self.emit(output, init)
    }

    /// Emits one content block (text or tool call) of the model's message. As in the original, each block is in an
    /// event of its own.
    fn emit_block(&self, summary: &RunSummary, block: &Value, output: &mut Output) -> Result<()> {
        let message = json!({
            "id": self.message_id, "type": "message", "role": "assistant", "model": summary.model,
            "content": [block], "stop_reason": null, "stop_sequence": null,
            "usage": usage(self.usage.unwrap_or_default()),
        });
        self.emit(output, json!({"type": "assistant", "message": message, "parent_tool_use_id": null}))
    }

    fn flush_text(&mut self, summary: &RunSummary, output: &mut Output) -> Result<()> {
        let text = std::mem::take(&mut self.text);
        if text.trim().is_empty() {
            return Ok(());
        }
        self.emit_block(summary, &json!({"type": "text", "text": text}), output)
    }

    fn tool_result(&self, record: &ToolRecord, output: &mut Output) -> Result<()> {
        let block = json!({
            "type": "tool_result", "tool_use_id": record.id, "content": record.text(), "is_error": !record.ok,
        });
        let result = record.result.clone().map_or_else(|| record.text().into(), Value::from);
        self.emit(
            output,
            json!({
                "type": "user", "message": {"role": "user", "content": [block]}, "parent_tool_use_id": null,
                "tool_use_result": result,
            }),
        )
    }

    fn retry(&mut self, attempt: u32, message: &str, wait_ms: u64, output: &mut Output) -> Result<()> {
        // The turn starts again.
        self.text.clear();
        self.emit(output, json!({
            "type": "system", "subtype": "api_retry", "attempt": attempt, "error_status": null, "error": message,
            "max_retries": self.settings.max_retries, "retry_delay_ms": wait_ms,
        }))
    }
}

impl Encoder for ClaudeStream {
    fn write_event(&mut self, event: &AgentEvent, summary: &RunSummary, output: &mut Output) -> Result<()> {
        match event {
            AgentEvent::Start { .. } => return self.start(summary, output),
            AgentEvent::Turn { .. } => {
                (self.message_id, self.usage, self.turn_started) = (random_id("msg_"), None, now_ms());
            }
            AgentEvent::Text { text, .. } => self.text.push_str(text),
            AgentEvent::Retry { attempt, message, wait_ms, .. } => {
                return self.retry(*attempt, message, *wait_ms, output);
            }
            AgentEvent::TurnEnded(usage) => {
                self.usage = *usage;
                self.model_ms += now_ms().saturating_sub(self.turn_started);
                return self.flush_text(summary, output);
            }
            AgentEvent::ToolCall(call) => {
                let block =
                    json!({"type": "tool_use", "id": call.id, "name": call.tool, "input": call.input});
                return self.emit_block(summary, &block, output);
            }
            AgentEvent::Permission { id, tool, granted: false } => {
                let input = summary.open_call.as_ref().map(|call| &call.input);
                self.denials.push(json!({"tool_name": tool, "tool_use_id": id, "tool_input": input}));
            }
            AgentEvent::ToolResult(record) => return self.tool_result(record, output),
            _ => {}
        }
        Ok(())
    }

    fn write_outcome(
        &mut self,
        outcome: &TurnOutcome,
        summary: &RunSummary,
        output: &mut Output,
    ) -> Result<u8> {
        if let Err(failure) = outcome
            && !summary.started
        {
            output.error(&failure.to_error());
            return Ok(1);
        }
        self.flush_text(summary, output)?;
        let mut result = json!({
            "type": "result", "is_error": outcome.is_err(), "duration_ms": summary.timing_ms,
            "duration_api_ms": self.model_ms, "num_turns": summary.turns.used, "total_cost_usd": 0,
            "usage": usage(summary.usage.unwrap_or_default()), "permission_denials": self.denials,
        });
        match outcome {
            Ok(answer) => (result["subtype"], result["result"]) = ("success".into(), answer.as_str().into()),
            Err(failure) => {
                let limit = failure.code == Code::MaxToolTurnsNoFinal;
                let subtype = if limit { "error_max_turns" } else { "error_during_execution" };
                (result["subtype"], result["errors"]) = (subtype.into(), json!([failure.message]));
                result["api_error_status"] = failure.status.into();
            }
        }
        self.emit(output, result).map(|()| outcome.is_err().into())
    }
}

fn usage(usage: Usage) -> Value {
    json!({
        "input_tokens": usage.input, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0,
        "output_tokens": usage.output,
    })
}
