//! The protocol codex-exec: the lines of `codex exec --json`. Commands and file changes have their own item types. All
//! other tools are reported as tools of an MCP server.
//!
//! After SIGINT, the event `turn.failed` is printed, where the original prints no event. The exit code is the same.

use super::native;
use super::protocol::{Encoder, Protocol};
use crate::clock::random_uuid;
use crate::event::{AgentEvent, TurnOutcome};
use crate::failure::Code;
use crate::run_summary::RunSummary;
use crate::tool_record::ToolRecord;
use agentnative_contract::error::{ErrorKind, Result};
use agentnative_output::{Output, OutputFormat};
use serde_json::{Map, Value, json};
use signal_hook::consts::SIGINT;

pub(super) const PROTOCOL: Protocol = Protocol {
    contract: Some("codex-exec"),
    exit_codes: "0  success
                 1  any other failure
                 2  wrong arguments",
    format: Some(OutputFormat::Jsonl),
    stderr_is_text: true,
    allows_empty_answer: true,
    reported_signals: &[SIGINT],
    encoder: |_| Box::new(CodexExec::default()),
    ..native::PROTOCOL
};

#[derive(Default)]
struct CodexExec {
    text: String,
    item_count: u64,
}

impl CodexExec {
    /// Returns a new ID, such as `item_3`, for the next item.
    fn next_id(&mut self) -> String {
        self.item_count += 1;
        self.current_id()
    }

    /// Returns the ID of the last item, which is the running tool call. Only one tool runs at a time.
    fn current_id(&self) -> String {
        format!("item_{}", self.item_count.saturating_sub(1))
    }

    fn flush_text(&mut self, output: &mut Output) -> Result<()> {
        let text = std::mem::take(&mut self.text);
        if text.trim().is_empty() {
            return Ok(());
        }
        let item = json!({"id": self.next_id(), "type": "agent_message", "text": text});
        output.record(&json!({"type": "item.completed", "item": item}))
    }
}

impl Encoder for CodexExec {
    fn write_event(&mut self, event: &AgentEvent, _summary: &RunSummary, output: &mut Output) -> Result<()> {
        match event {
            AgentEvent::Start { .. } => {
                output.record(&json!({"type": "thread.started", "thread_id": random_uuid()}))?;
                output.record(&json!({"type": "turn.started"}))
            }
            AgentEvent::Text { text, .. } => {
                self.text.push_str(text);
                Ok(())
            }
            AgentEvent::Retry { attempt, message, .. } => {
                // The turn starts again.
                self.text.clear();
                output.record(&json!({"type": "error", "message": format!("retry {attempt}: {message}")}))
            }
            AgentEvent::TurnEnded(_) => self.flush_text(output),
            AgentEvent::ToolCall(call) => {
                let item = item(self.next_id(), &call.tool, &call.input, None);
                output.record(&json!({"type": "item.started", "item": item}))
            }
            AgentEvent::ToolResult(record) => {
                let item = item(self.current_id(), &record.tool, &record.input, Some(record));
                output.record(&json!({"type": "item.completed", "item": item}))
            }
            _ => Ok(()),
        }
    }

    fn write_outcome(
        &mut self,
        outcome: &TurnOutcome,
        summary: &RunSummary,
        output: &mut Output,
    ) -> Result<u8> {
        let failure = match outcome {
            Ok(_) => {
                let usage = summary.usage.unwrap_or_default();
                let usage = json!({
                    "input_tokens": usage.input, "cached_input_tokens": 0, "cache_write_input_tokens": 0,
                    "output_tokens": usage.output, "reasoning_output_tokens": 0,
                });
                return output.record(&json!({"type": "turn.completed", "usage": usage})).map(|()| 0);
            }
            Err(failure) => failure,
        };
        if !summary.started {
            output.error(&failure.to_error());
            let usage = failure.code.kind() == ErrorKind::Usage && failure.code != Code::NoQuery;
            return Ok(if usage { 2 } else { 1 });
        }
        self.flush_text(output)?;
        let message = &failure.message;
        output.record(&json!({"type": "error", "message": message}))?;
        output.record(&json!({"type": "turn.failed", "error": {"message": message}})).map(|()| 1)
    }
}

/// Creates the item that describes a tool call. `record` is the result; it is `None` while the call is in progress.
fn item(id: String, tool: &str, input: &Map<String, Value>, record: Option<&ToolRecord>) -> Value {
    let exit_code = record.and_then(ToolRecord::exit_code);
    let status = match record {
        None => "in_progress",
        Some(record) if record.ok && exit_code.is_none_or(|code| *code == 0) => "completed",
        Some(_) => "failed",
    };
    let mut item = match tool {
        "run_command" => json!({
            "type": "command_execution", "command": input.get("command").and_then(Value::as_str).unwrap_or_default(),
            "aggregated_output": record.map(command_output).unwrap_or_default(), "exit_code": exit_code,
        }),
        "write_file" | "edit_file" => {
            let change = record.and_then(|record| record.change.as_ref());
            let new = change.is_some_and(|change| change.before.is_empty());
            let kind = if new { "add" } else { "update" };
            json!({"type": "file_change", "changes": [{"path": input.get("path"), "kind": kind}]})
        }
        _ => {
            let error = record.and_then(|record| record.error.as_ref());
            let result = record.and_then(|record| record.result.as_ref());
            json!({
                "type": "mcp_tool_call", "server": "reference-agent", "tool": tool, "arguments": input,
                "result": result.map(|result| json!({
                    "content": [{"type": "text", "text": Value::from(result.clone()).to_string()}],
                    "structured_content": result,
                })),
                "error": error.map(|error| json!({"message": error.message})),
            })
        }
    };
    item["id"] = id.into();
    item["status"] = status.into();
    item
}

/// Returns stdout and stderr of a command as one text, or the error message if the command could not run.
fn command_output(record: &ToolRecord) -> String {
    let Some(result) = &record.result else { return record.text() };
    ["stdout", "stderr"].iter().filter_map(|key| result.get(*key)?.as_str()).collect()
}
