//! codex-exec: the lines of `codex exec --json`. The agent's tools are those of an MCP server, except for
//! commands and changes of files, which have items of their own.
//!
//! After SIGINT the turn fails, where the origin breaks off with the same exit code.

use super::own;
use super::protocol::{Encoder, Protocol};
use crate::clock::uuid;
use crate::event::{Event, Outcome};
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
    takes_empty_answer: true,
    reported_signals: &[SIGINT],
    encoder: |_| Box::new(CodexExec::default()),
    ..own::PROTOCOL
};

#[derive(Default)]
struct CodexExec {
    text: String,
    /// How many items there are.
    items: u64,
}

impl CodexExec {
    /// The item that is new.
    fn start(&mut self) -> String {
        self.items += 1;
        self.id()
    }

    /// The item that is open: there is one tool at a time.
    fn id(&self) -> String {
        format!("item_{}", self.items.saturating_sub(1))
    }

    fn flush_text(&mut self, output: &mut Output) -> Result<()> {
        let text = std::mem::take(&mut self.text);
        if text.trim().is_empty() {
            return Ok(());
        }
        let item = json!({"id": self.start(), "type": "agent_message", "text": text});
        output.record(&json!({"type": "item.completed", "item": item}))
    }
}

impl Encoder for CodexExec {
    fn event(&mut self, event: &Event, _summary: &RunSummary, output: &mut Output) -> Result<()> {
        match event {
            Event::Start { .. } => {
                output.record(&json!({"type": "thread.started", "thread_id": uuid()}))?;
                output.record(&json!({"type": "turn.started"}))
            }
            Event::Text { text, .. } => {
                self.text.push_str(text);
                Ok(())
            }
            Event::Retry { attempt, message, .. } => {
                // The turn begins anew.
                self.text.clear();
                output.record(&json!({"type": "error", "message": format!("retry {attempt}: {message}")}))
            }
            Event::TurnEnded(_) => self.flush_text(output),
            Event::ToolCall(call) => {
                let item = item(self.start(), &call.tool, &call.input, None);
                output.record(&json!({"type": "item.started", "item": item}))
            }
            Event::ToolResult(record) => {
                let item = item(self.id(), &record.tool, &record.input, Some(record));
                output.record(&json!({"type": "item.completed", "item": item}))
            }
            _ => Ok(()),
        }
    }

    fn end(&mut self, outcome: &Outcome, summary: &RunSummary, output: &mut Output) -> Result<u8> {
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

/// A tool call as an item; without its record it has just started.
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

/// What a command printed, or why it could not run.
fn command_output(record: &ToolRecord) -> String {
    let Some(result) = &record.result else { return record.text() };
    ["stdout", "stderr"].iter().filter_map(|key| result.get(*key)?.as_str()).collect()
}
