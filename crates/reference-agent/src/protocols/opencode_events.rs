//! opencode-events: an event a line, as things happen, in the origin's dialect.
//!
//! The whole run is one assistant message, as the origin's mapping wants it: its times are those of
//! the run and its tokens the sum over all turns.

use super::own;
use super::protocol::{Encoder, EncoderSettings, Protocol};
use crate::clock::{id, now_ms};
use crate::event::{Event, Outcome};
use crate::modes::Profile;
use crate::run_summary::RunSummary;
use crate::tool_record::{FileChange, ToolRecord};
use agentnative_contract::error::Result;
use agentnative_output::{Output, OutputFormat};
use serde::Serialize;
use serde_json::{Value, json};
use std::path::PathBuf;

pub(super) const PROTOCOL: Protocol = Protocol {
    contract: Some("opencode-events"),
    format: Some(OutputFormat::Jsonl),
    takes_empty_answer: true,
    encoder: |settings| Box::new(OpencodeEvents::new(settings)),
    ..own::PROTOCOL
};

/// One event.
#[derive(Serialize)]
struct EventLine<'a> {
    #[serde(rename = "type")]
    name: &'a str,
    properties: &'a Value,
}

struct OpencodeEvents {
    session: String,
    user: String,
    assistant: String,
    agent: Profile,
    workspace: PathBuf,
    created: u64,
    begun: bool,
    text: Option<TextPart>,
    /// The part of the tool call that is open.
    tool_part: String,
}

/// A part that grows. It is written anew when it has grown by half, so that a long answer in small
/// pieces does not cost its square.
struct TextPart {
    id: String,
    text: String,
    started: u64,
    written: usize,
}

impl OpencodeEvents {
    fn new(settings: &EncoderSettings) -> Self {
        let workspace = &settings.workspace;
        Self {
            session: id("ses_"),
            user: id("msg_"),
            assistant: id("msg_"),
            agent: settings.profile,
            workspace: workspace.canonicalize().unwrap_or_else(|_| workspace.clone()),
            created: now_ms(),
            begun: false,
            text: None,
            tool_part: String::new(),
        }
    }

    fn emit(&self, output: &mut Output, name: &str, properties: &Value) -> Result<()> {
        output.record(&EventLine { name, properties })
    }

    fn part(&self, output: &mut Output, message: &str, id: &str, mut part: Value) -> Result<()> {
        part["id"] = id.into();
        part["sessionID"] = self.session.as_str().into();
        part["messageID"] = message.into();
        self.emit(output, "message.part.updated", &json!({"part": part}))
    }

    fn status(&self, output: &mut Output, status: &Value) -> Result<()> {
        self.emit(output, "session.status", &json!({"sessionID": self.session, "status": status}))
    }

    fn session(&self, summary: &RunSummary, updated: u64) -> Value {
        let title: String = summary.query.chars().take(60).collect();
        json!({"info": {
            "id": self.session,
            "projectID": "global",
            "directory": self.workspace.display().to_string(),
            "title": title,
            "version": env!("CARGO_PKG_VERSION"),
            "time": {"created": self.created, "updated": updated},
        }})
    }

    fn message(&self, summary: &RunSummary, outcome: Option<&Outcome>) -> Value {
        let usage = summary.usage.unwrap_or_default();
        let path = self.workspace.display().to_string();
        let mut info = json!({
            "id": self.assistant,
            "sessionID": self.session,
            "role": "assistant",
            "time": {"created": self.created},
            "parentID": self.user,
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

    fn begin(&mut self, summary: &RunSummary, output: &mut Output) -> Result<()> {
        self.begun = true;
        self.emit(output, "session.created", &self.session(summary, self.created))?;
        let user = json!({"info": {
            "id": self.user,
            "sessionID": self.session,
            "role": "user",
            "time": {"created": self.created},
            "agent": self.agent,
            "model": {"providerID": summary.provider, "modelID": summary.model},
        }});
        self.emit(output, "message.updated", &user)?;
        let text = json!({"type": "text", "text": summary.query, "time": {"start": self.created, "end": self.created}});
        self.part(output, &self.user, &id("prt_"), text)?;
        for attached in &summary.attachments {
            let path = std::path::absolute(&attached.path).unwrap_or_else(|_| attached.path.clone().into());
            let file = json!({
                "type": "file",
                "mime": attached.mime,
                "filename": path.file_name().map(|name| name.display().to_string()).unwrap_or_default(),
                "url": format!("file://{}", path.display()),
            });
            self.part(output, &self.user, &id("prt_"), file)?;
        }
        self.status(output, &json!({"type": "busy"}))?;
        self.emit(output, "message.updated", &self.message(summary, None))
    }

    fn append_text(&mut self, words: &str, output: &mut Output) -> Result<()> {
        let new = || TextPart { id: id("prt_"), text: String::new(), started: now_ms(), written: 0 };
        let mut part = self.text.take().unwrap_or_else(new);
        part.text.push_str(words);
        let result = if part.written == 0 || part.text.len() >= part.written + part.written / 2 {
            part.written = part.text.len();
            let text = json!({"type": "text", "text": part.text, "time": {"start": part.started}});
            self.part(output, &self.assistant, &part.id, text)
        } else {
            Ok(())
        };
        self.text = Some(part);
        result
    }

    /// The text of a turn is complete.
    fn finish_text(&mut self, output: &mut Output) -> Result<()> {
        let Some(part) = self.text.take() else { return Ok(()) };
        let time = json!({"start": part.started, "end": now_ms().max(part.started)});
        self.part(output, &self.assistant, &part.id, json!({"type": "text", "text": part.text, "time": time}))
    }

    fn tool(&self, output: &mut Output, call: &str, tool: &str, state: &Value) -> Result<()> {
        let part = json!({"type": "tool", "callID": call, "tool": tool, "state": state});
        self.part(output, &self.assistant, &self.tool_part, part)
    }

    fn tool_result(&self, record: &ToolRecord, output: &mut Output) -> Result<()> {
        let time = json!({"start": record.started, "end": record.started + record.duration_ms});
        let exit_code = record.exit_code();
        let metadata = match (&record.change, exit_code) {
            // Consumers tell a new file from a changed one by it.
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
        self.tool(output, &record.id, &record.tool, &state)?;
        if let Some(FileChange { path, before, after }) = &record.change {
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

    fn permission(&self, call: &str, tool: &str, granted: bool, output: &mut Output) -> Result<()> {
        let permission = id("per_");
        let request = json!({
            "id": permission, "type": tool, "pattern": "*", "sessionID": self.session,
            "messageID": self.assistant, "callID": call, "title": format!("Run {tool}"),
            "metadata": {}, "time": {"created": now_ms()},
        });
        self.emit(output, "permission.updated", &request)?;
        let response = if granted { "once" } else { "reject" };
        let reply = json!({"sessionID": self.session, "permissionID": permission, "response": response});
        self.emit(output, "permission.replied", &reply)
    }
}

impl Encoder for OpencodeEvents {
    fn event(&mut self, event: &Event, summary: &RunSummary, output: &mut Output) -> Result<()> {
        match event {
            Event::Start { .. } => self.begin(summary, output),
            Event::Retry { attempt, message, wait_ms, .. } => {
                let status = json!({
                    "type": "retry", "attempt": attempt, "message": message,
                    "next": now_ms().saturating_add(*wait_ms),
                });
                self.status(output, &status)?;
                self.status(output, &json!({"type": "busy"}))
            }
            Event::Text { text: words, .. } => self.append_text(words, output),
            Event::TurnEnded(_) => {
                self.finish_text(output)?;
                self.emit(output, "message.updated", &self.message(summary, None))
            }
            Event::ToolCall(call) => {
                self.tool_part = id("prt_");
                let pending = json!({"status": "pending", "input": call.input, "raw": call.raw});
                self.tool(output, &call.id, &call.tool, &pending)?;
                let running = json!({
                    "status": "running", "input": call.input, "title": call.tool, "metadata": {},
                    "time": {"start": call.started},
                });
                self.tool(output, &call.id, &call.tool, &running)
            }
            Event::Permission { id, tool, granted } => self.permission(id, tool, *granted, output),
            Event::ToolResult(record) => self.tool_result(record, output),
            Event::Query { .. } | Event::ToolsRefused | Event::Turn { .. } | Event::End(_) => Ok(()),
        }
    }

    fn end(&mut self, outcome: &Outcome, summary: &RunSummary, output: &mut Output) -> Result<u8> {
        if self.begun {
            self.finish_text(output)?;
            if let Err(failure) = outcome {
                let error = json!({"name": failure.code.name(), "message": failure.message});
                self.emit(output, "session.error", &json!({"sessionID": self.session, "error": error}))?;
            }
            self.emit(output, "message.updated", &self.message(summary, Some(outcome)))?;
            self.emit(output, "session.updated", &self.session(summary, now_ms().max(self.created)))?;
            self.status(output, &json!({"type": "idle"}))?;
            self.emit(output, "session.idle", &json!({"sessionID": self.session}))?;
        }
        let Err(failure) = outcome else { return Ok(0) };
        output.error(&failure.to_error());
        Ok(failure.exit_code())
    }
}

/// Lines added and deleted, where the beginning and the end that are the same do not count.
fn changed_lines(before: &str, after: &str) -> (usize, usize) {
    let (mut old, mut new): (Vec<_>, Vec<_>) = (before.lines().collect(), after.lines().collect());
    let same = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    old.drain(..same);
    new.drain(..same);
    let same = old.iter().rev().zip(new.iter().rev()).take_while(|(a, b)| a == b).count();
    (new.len() - same, old.len() - same)
}
