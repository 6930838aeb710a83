//! The protocol opencode-run: the lines of `opencode run --format json`. Each turn of the model is a step. Each part of
//! a step is printed when it is complete.

use super::native;
use super::protocol::{Encoder, Protocol};
use crate::clock::{now_ms, random_id};
use crate::event::{AgentEvent, TurnOutcome};
use crate::failure::Failure;
use crate::model::Usage;
use crate::run_summary::RunSummary;
use crate::tool_record::ToolRecord;
use agentnative_contract::error::{ErrorKind, Result};
use agentnative_output::{Output, OutputFormat};
use serde_json::{Value, json};

pub(super) const PROTOCOL: Protocol = Protocol {
    contract: Some("opencode-run"),
    exit_codes: "0  success
                 1  any failure",
    format: Some(OutputFormat::Jsonl),
    stderr_is_text: true,
    allows_empty_answer: true,
    reported_signals: &[],
    encoder: |_| Box::new(OpencodeRun { session_id: random_id("ses_"), ..OpencodeRun::default() }),
    ..native::PROTOCOL
};

#[derive(Default)]
struct OpencodeRun {
    session_id: String,
    step: Option<Step>,
    text: String,
    text_started: u64,
}

/// A step: one turn of the model, and the tool calls that it requests.
struct Step {
    message_id: String,
    usage: Usage,
    reason: &'static str,
}

impl OpencodeRun {
    fn write_line(&self, output: &mut Output, name: &str, key: &str, value: &Value) -> Result<()> {
        output.record(&json!({"type": name, "timestamp": now_ms(), "sessionID": self.session_id, key: value}))
    }

    /// Writes a part of the current step. The first part of a turn starts a new step.
    fn write_part(&mut self, output: &mut Output, name: &str, mut part: Value) -> Result<()> {
        if self.step.is_none() {
            self.step = Some(Step { message_id: random_id("msg_"), usage: Usage::default(), reason: "stop" });
            self.write_part(output, "step_start", json!({"type": "step-start"}))?;
        }
        part["id"] = random_id("prt_").into();
        part["sessionID"] = self.session_id.as_str().into();
        part["messageID"] = self.step.as_ref().map(|step| step.message_id.as_str()).into();
        self.write_line(output, name, "part", &part)
    }

    fn flush_text(&mut self, output: &mut Output) -> Result<()> {
        let text = std::mem::take(&mut self.text);
        if text.trim().is_empty() {
            return Ok(());
        }
        let time = json!({"start": self.text_started, "end": now_ms().max(self.text_started)});
        self.write_part(output, "text", json!({"type": "text", "text": text, "time": time}))
    }

    /// Handles the end of a turn: writes its text and keeps its token counts. The step continues until its tool calls
    /// have ended.
    fn turn_ended(&mut self, usage: Usage, output: &mut Output) -> Result<()> {
        self.flush_text(output)?;
        if self.step.is_none() {
            self.step = Some(Step { message_id: random_id("msg_"), usage, reason: "stop" });
            return self.write_part(output, "step_start", json!({"type": "step-start"}));
        }
        self.step.iter_mut().for_each(|step| step.usage = usage);
        Ok(())
    }

    fn finish_step(&mut self, output: &mut Output) -> Result<()> {
        let Some(Step { usage, reason, .. }) = &self.step else { return Ok(()) };
        let tokens = json!({
            "total": usage.total, "input": usage.input, "output": usage.output, "reasoning": 0,
            "cache": {"read": 0, "write": 0},
        });
        let part = json!({"type": "step-finish", "reason": reason, "tokens": tokens, "cost": 0});
        self.write_part(output, "step_finish", part)?;
        self.step = None;
        Ok(())
    }
}

impl Encoder for OpencodeRun {
    fn write_event(&mut self, event: &AgentEvent, _summary: &RunSummary, output: &mut Output) -> Result<()> {
        match event {
            AgentEvent::Turn { .. } => return self.finish_step(output),
            AgentEvent::Text { text, .. } => {
                if self.text.is_empty() {
                    self.text_started = now_ms();
                }
                self.text.push_str(text);
            }
            // The turn starts again.
            AgentEvent::Retry { .. } => self.text.clear(),
            AgentEvent::TurnEnded(usage) => return self.turn_ended(usage.unwrap_or_default(), output),
            AgentEvent::ToolCall(_) => self.step.iter_mut().for_each(|step| step.reason = "tool-calls"),
            AgentEvent::ToolResult(record) => return self.write_part(output, "tool_use", tool_part(record)),
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
        let failure = match outcome {
            Ok(_) => return self.finish_step(output).map(|()| 0),
            Err(failure) => failure,
        };
        if !summary.started && failure.code.kind() == ErrorKind::Usage {
            output.error(&failure.to_error());
            return Ok(1);
        }
        self.flush_text(output)?;
        // A step ends when its tools have ended.
        if self.step.as_ref().is_some_and(|step| step.reason == "tool-calls") {
            self.finish_step(output)?;
        }
        self.write_line(output, "error", "error", &error_object(failure)).map(|()| 1)
    }
}

fn tool_part(record: &ToolRecord) -> Value {
    let ToolRecord { id, tool, input, started, duration_ms, .. } = record;
    let time = json!({"start": started, "end": started + duration_ms});
    let state = match &record.error {
        None => json!({
            "status": "completed", "input": input, "output": record.text(), "title": record.title(),
            "metadata": record.exit_code().map_or_else(|| json!({}), |code| json!({"exit": code})), "time": time,
        }),
        Some(error) => json!({
            "status": "error", "input": input, "error": error.message, "metadata": {"code": error.code}, "time": time,
        }),
    };
    json!({"type": "tool", "tool": tool, "callID": id, "state": state})
}

fn error_object(failure: &Failure) -> Value {
    let name = match failure.code {
        code if code.kind() == ErrorKind::Auth => "ProviderAuthError",
        code if code.is_provider_failure() => "APIError",
        _ => "UnknownError",
    };
    let mut data = json!({"message": failure.message, "isRetryable": failure.retryable});
    if let Some(status) = failure.status {
        data["statusCode"] = status.into();
    }
    json!({"name": name, "data": data})
}
