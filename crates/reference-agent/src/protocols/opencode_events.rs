//! The protocol opencode-events: one event of OpenCode per line. Each event is printed when it happens.
//!
//! A run is one assistant message, as the mapping of OpenCode requires. The message has the start and end time of the
//! run, and the sum of the tokens of all turns.

use super::native;
use super::protocol::{Encoder, EncoderSettings, Protocol};
use crate::clock::{now_ms, random_id};
use crate::event::{AgentEvent, TurnOutcome};
use crate::modes::Profile;
use crate::run_summary::RunSummary;
use crate::tool_record::{RecordedFileChange, ToolRecord};
use agentnative_contract::error::Result;
use agentnative_output::{Output, OutputFormat};
use serde::Serialize;
use serde_json::{Value, json};
use std::path::PathBuf;

pub(super) const PROTOCOL: Protocol = Protocol {
    contract: Some("opencode-events"),
    format: Some(OutputFormat::Jsonl),
    allows_empty_answer: true,
    encoder: |settings| Box::new(OpencodeEvents::new(settings)),
    ..native::PROTOCOL
};

#[derive(Serialize)]
struct EventLine<'a> {
    #[serde(rename = "type")]
    name: &'a str,
    properties: &'a Value,
}

struct OpencodeEvents {
    session_id: String,
    user_message_id: String,
    assistant_message_id: String,
    agent: Profile,
    workspace: PathBuf,
    created: u64,
    started: bool,
    text: Option<TextPart>,
    /// ID of the message part that describes the running tool call.
    tool_part_id: String,
}

/// A text of the model that is still growing. It is printed again only when it has grown by half. Otherwise the output
/// for a long answer would be quadratic.
struct TextPart {
    id: String,
    text: String,
    started: u64,
    written_bytes: usize,
}

impl OpencodeEvents {
    fn new(settings: &EncoderSettings) -> Self {
        let workspace = &settings.workspace;
        Self {
            session_id: random_id("ses_"),
            user_message_id: random_id("msg_"),
            assistant_message_id: random_id("msg_"),
            agent: settings.profile,
            workspace: workspace.canonicalize().unwrap_or_else(|_| workspace.clone()),
            created: now_ms(),
            started: false,
            text: None,
            tool_part_id: String::new(),
        }
    }

    fn emit(&self, output: &mut Output, name: &str, properties: &Value) -> Result<()> {
        output.record(&EventLine { name, properties })
    }

    fn write_part(&self, output: &mut Output, message: &str, id: &str, mut part: Value) -> Result<()> {
        part["id"] = id.into();
        part["sessionID"] = self.session_id.as_str().into();
        part["messageID"] = message.into();
        self.emit(output, "message.part.updated", &json!({"part": part}))
    }

    fn write_status(&self, output: &mut Output, status: &Value) -> Result<()> {
        self.emit(output, "session.status", &json!({"sessionID": self.session_id, "status": status}))
    }

    fn session(&self, summary: &RunSummary, updated: u64) -> Value {
        let title: String = summary.query.chars().take(60).collect();
        json!({"info": {
            "id": self.session_id,
            "projectID": "global",
            "directory": self.workspace.display().to_string(),
            "title": title,
            "version": env!("CARGO_PKG_VERSION"),
            "time": {"created": self.created, "updated": updated},
        }})
    }

    fn message(&self, summary: &RunSummary, outcome: Option<&TurnOutcome>) -> Value {
        let usage = summary.usage.unwrap_or_default();
        let path = self.workspace.display().to_string();
        let mut info = json!({
            "id": self.assistant_message_id,
            "sessionID": self.session_id,
            "role": "assistant",
            "time": {"created": self.created},
            "parentID": self.user_message_id,
            "modelID": summary.model,
            "providerID": summary.provider,
            "mode": self.agent,
            "path": {"cwd": path, "root": path},
            "cost": 0,
            "tokens": {
                "input": usage.input,
                "output": usage.output,
                "reasoning": 0,
                "cache": {"read": 0, "write": 0},
            },
        });
        if let Some(outcome) = outcome {
            info["time"]["completed"] = now_ms().max(self.created).into();
            info["finish"] = if outcome.is_ok() { "stop" } else { "error" }.into();
        }
        if let Some(Err(failure)) = outcome {
            let data = json!({"message": failure.message, "isRetryable": false});
            info["error"] = json!({"name": failure.code.name(), "data": data});
            if let Some(status) = failure.status {
                info["error"]["data"]["statusCode"] = status.into();
            }
        }
        json!({"info": info})
    }

    fn start(&mut self, summary: &RunSummary, output: &mut Output) -> Result<()> {
        self.started = true;
        self.emit(output, "session.created", &self.session(summary, self.created))?;
        let user = json!({"info": {
            "id": self.user_message_id,
            "sessionID": self.session_id,
            "role": "user",
            "time": {"created": self.created},
            "agent": self.agent,
            "model": {"providerID": summary.provider, "modelID": summary.model},
        }});
        self.emit(output, "message.updated", &user)?;
        let text = json!({"type": "text", "text": summary.query, "time": {"start": self.created, "end": self.created}});
        self.write_part(output, &self.user_message_id, &random_id("prt_"), text)?;
        for attached in &summary.attachments {
            let path = std::path::absolute(&attached.path).unwrap_or_else(|_| attached.path.clone().into());
            let file = json!({
                "type": "file",
                "mime": attached.mime,
                "filename": path.file_name().map(|name| name.display().to_string()).unwrap_or_default(),
                "url": format!("file://{}", path.display()),
            });
            self.write_part(output, &self.user_message_id, &random_id("prt_"), file)?;
        }
        self.write_status(output, &json!({"type": "busy"}))?;
        self.emit(output, "message.updated", &self.message(summary, None))
    }

    fn append_text(&mut self, text: &str, output: &mut Output) -> Result<()> {
        let new =
            || TextPart { id: random_id("prt_"), text: String::new(), started: now_ms(), written_bytes: 0 };
        let mut part = self.text.take().unwrap_or_else(new);
        part.text.push_str(text);
        let result =
            if part.written_bytes == 0 || part.text.len() >= part.written_bytes + part.written_bytes / 2 {
                part.written_bytes = part.text.len();
                let value = json!({"type": "text", "text": part.text, "time": {"start": part.started}});
                self.write_part(output, &self.assistant_message_id, &part.id, value)
            } else {
                Ok(())
            };
        self.text = Some(part);
        result
    }

    /// Writes the complete text of the current turn and ends its text part.
    fn finish_text(&mut self, output: &mut Output) -> Result<()> {
        let Some(part) = self.text.take() else { return Ok(()) };
        let time = json!({"start": part.started, "end": now_ms().max(part.started)});
        self.write_part(
            output,
            &self.assistant_message_id,
            &part.id,
            json!({"type": "text", "text": part.text, "time": time}),
        )
    }

    fn write_tool(&self, output: &mut Output, call: &str, tool: &str, state: &Value) -> Result<()> {
        let part = json!({"type": "tool", "callID": call, "tool": tool, "state": state});
        self.write_part(output, &self.assistant_message_id, &self.tool_part_id, part)
    }

    fn tool_result(&self, record: &ToolRecord, output: &mut Output) -> Result<()> {
        let time = json!({"start": record.started, "end": record.started + record.duration_ms});
        let exit_code = record.exit_code();
        let metadata = match (&record.change, exit_code) {
            // Consumers distinguish a new file from a changed one by it.
            (Some(change), _) => json!({"exists": !change.before.is_empty()}),
            (None, Some(exit_code)) => json!({"exit": exit_code}),
            (None, None) => json!({}),
        };
        let state = match &record.error {
            None => json!({
                "status": "completed", "input": record.input, "output": record.text(), "title": record.title(),
                "metadata": metadata, "time": time,
            }),
            Some(error) => json!({
                "status": "error", "input": record.input, "error": error.message,
                "metadata": {"code": error.code}, "time": time,
            }),
        };
        self.write_tool(output, &record.id, &record.tool, &state)?;
        if let Some(RecordedFileChange { path, before, after }) = &record.change {
            let (additions, deletions) = changed_lines(before, after);
            let diff = json!({
                "file": path, "before": before, "after": after,
                "additions": additions, "deletions": deletions,
            });
            let path = self.workspace.join(path).display().to_string();
            self.emit(output, "file.edited", &json!({"path": path, "diff": diff}))?;
        }
        if let (Some(ran), Some(exit_code)) = (&record.result, exit_code) {
            let properties = json!({
                "command": ran["command"], "exitCode": exit_code,
                "stdout": ran["stdout"], "stderr": ran["stderr"], "time": time,
            });
            self.emit(output, "command.executed", &properties)?;
        }
        Ok(())
    }

    fn permission_events(&self, call: &str, tool: &str, granted: bool, output: &mut Output) -> Result<()> {
        let permission_id = random_id("per_");
        let request = json!({
            "id": permission_id, "type": tool, "pattern": "*", "sessionID": self.session_id,
            "messageID": self.assistant_message_id, "callID": call, "title": format!("Run {tool}"),
            "metadata": {}, "time": {"created": now_ms()},
        });
        self.emit(output, "permission.updated", &request)?;
        let response = if granted { "once" } else { "reject" };
        let reply =
            json!({"sessionID": self.session_id, "permissionID": permission_id, "response": response});
        self.emit(output, "permission.replied", &reply)
    }
}

impl Encoder for OpencodeEvents {
    fn write_event(&mut self, event: &AgentEvent, summary: &RunSummary, output: &mut Output) -> Result<()> {
        match event {
            AgentEvent::Start { .. } => self.start(summary, output),
            AgentEvent::Retry { attempt, message, wait_ms, .. } => {
                let status = json!({
                    "type": "retry", "attempt": attempt, "message": message,
                    "next": now_ms().saturating_add(*wait_ms),
                });
                self.write_status(output, &status)?;
                self.write_status(output, &json!({"type": "busy"}))
            }
            AgentEvent::Text { text, .. } => self.append_text(text, output),
            AgentEvent::TurnEnded(_) => {
                self.finish_text(output)?;
                self.emit(output, "message.updated", &self.message(summary, None))
            }
            AgentEvent::ToolCall(call) => {
                self.tool_part_id = random_id("prt_");
                let pending = json!({"status": "pending", "input": call.input, "raw": call.raw});
                self.write_tool(output, &call.id, &call.tool, &pending)?;
                let running = json!({
                    "status": "running", "input": call.input, "title": call.tool, "metadata": {},
                    "time": {"start": call.started},
                });
                self.write_tool(output, &call.id, &call.tool, &running)
            }
            AgentEvent::Permission { id, tool, granted } => {
                self.permission_events(id, tool, *granted, output)
            }
            AgentEvent::ToolResult(record) => self.tool_result(record, output),
            AgentEvent::Query { .. }
            | AgentEvent::ToolsRefused
            | AgentEvent::Turn { .. }
            | AgentEvent::End(_) => Ok(()),
        }
    }

    fn write_outcome(
        &mut self,
        outcome: &TurnOutcome,
        summary: &RunSummary,
        output: &mut Output,
    ) -> Result<u8> {
        if self.started {
            self.finish_text(output)?;
            if let Err(failure) = outcome {
                let error = json!({"name": failure.code.name(), "message": failure.message});
                self.emit(output, "session.error", &json!({"sessionID": self.session_id, "error": error}))?;
            }
            self.emit(output, "message.updated", &self.message(summary, Some(outcome)))?;
            self.emit(output, "session.updated", &self.session(summary, now_ms().max(self.created)))?;
            self.write_status(output, &json!({"type": "idle"}))?;
            self.emit(output, "session.idle", &json!({"sessionID": self.session_id}))?;
        }
        let Err(failure) = outcome else { return Ok(0) };
        output.error(&failure.to_error());
        Ok(failure.exit_code())
    }
}

/// Returns the number of added lines and the number of deleted lines, in this order. Lines that are equal at the
/// beginning and at the end of both texts do not count.
fn changed_lines(before: &str, after: &str) -> (usize, usize) {
    let (mut old, mut new): (Vec<_>, Vec<_>) = (before.lines().collect(), after.lines().collect());
    let same = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    old.drain(..same);
    new.drain(..same);
    let same = old.iter().rev().zip(new.iter().rev()).take_while(|(a, b)| a == b).count();
    (new.len() - same, old.len() - same)
}
