//! opencode-run: the lines of `opencode run --format json`: each turn is a step, and each part is told once
//! it is whole.

use super::own;
use super::protocol::{Encoder, Protocol};
use crate::clock::{id, now_ms};
use crate::event::{Event, Outcome};
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
    takes_empty_answer: true,
    reported_signals: &[],
    encoder: |_| Box::new(OpencodeRun { session: id("ses_"), ..OpencodeRun::default() }),
    ..own::PROTOCOL
};

#[derive(Default)]
struct OpencodeRun {
    session: String,
    step: Option<Step>,
    text: String,
    text_started: u64,
}

/// A turn of the model, with the tools that it asks for.
struct Step {
    message: String,
    usage: Usage,
    reason: &'static str,
}

impl OpencodeRun {
    fn line(&self, output: &mut Output, name: &str, key: &str, value: &Value) -> Result<()> {
        output.record(&json!({"type": name, "timestamp": now_ms(), "sessionID": self.session, key: value}))
    }

    /// A part of the step, which begins with its first one.
    fn part(&mut self, output: &mut Output, name: &str, mut part: Value) -> Result<()> {
        if self.step.is_none() {
            self.step = Some(Step { message: id("msg_"), usage: Usage::default(), reason: "stop" });
            self.part(output, "step_start", json!({"type": "step-start"}))?;
        }
        part["id"] = id("prt_").into();
        part["sessionID"] = self.session.as_str().into();
        part["messageID"] = self.step.as_ref().map(|step| step.message.as_str()).into();
        self.line(output, name, "part", &part)
    }

    fn flush_text(&mut self, output: &mut Output) -> Result<()> {
        let text = std::mem::take(&mut self.text);
        if text.trim().is_empty() {
            return Ok(());
        }
        let time = json!({"start": self.text_started, "end": now_ms().max(self.text_started)});
        self.part(output, "text", json!({"type": "text", "text": text, "time": time}))
    }

    /// The model's turn has ended; the step lasts until its tools have.
    fn turn_ended(&mut self, usage: Usage, output: &mut Output) -> Result<()> {
        self.flush_text(output)?;
        if self.step.is_none() {
            self.step = Some(Step { message: id("msg_"), usage, reason: "stop" });
            return self.part(output, "step_start", json!({"type": "step-start"}));
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
        self.part(output, "step_finish", part)?;
        self.step = None;
        Ok(())
    }
}

impl Encoder for OpencodeRun {
    fn event(&mut self, event: &Event, _summary: &RunSummary, output: &mut Output) -> Result<()> {
        match event {
            Event::Turn { .. } => return self.finish_step(output),
            Event::Text { text, .. } => {
                if self.text.is_empty() {
                    self.text_started = now_ms();
                }
                self.text.push_str(text);
            }
            // The turn begins anew.
            Event::Retry { .. } => self.text.clear(),
            Event::TurnEnded(usage) => return self.turn_ended(usage.unwrap_or_default(), output),
            Event::ToolCall(_) => self.step.iter_mut().for_each(|step| step.reason = "tool-calls"),
            Event::ToolResult(record) => return self.part(output, "tool_use", tool_part(record)),
            _ => {}
        }
        Ok(())
    }

    fn end(&mut self, outcome: &Outcome, summary: &RunSummary, output: &mut Output) -> Result<u8> {
        let failure = match outcome {
            Ok(_) => return self.finish_step(output).map(|()| 0),
            Err(failure) => failure,
        };
        if !summary.started && failure.code.kind() == ErrorKind::Usage {
            output.error(&failure.to_error());
            return Ok(1);
        }
        self.flush_text(output)?;
        // The tools of the step have ended, too.
        if self.step.as_ref().is_some_and(|step| step.reason == "tool-calls") {
            self.finish_step(output)?;
        }
        self.line(output, "error", "error", &error(failure)).map(|()| 1)
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

fn error(failure: &Failure) -> Value {
    let name = match failure.code {
        code if code.kind() == ErrorKind::Auth => "ProviderAuthError",
        code if code.is_provider() => "APIError",
        _ => "UnknownError",
    };
    let mut data = json!({"message": failure.message, "isRetryable": failure.retryable});
    if let Some(status) = failure.status {
        data["statusCode"] = status.into();
    }
    json!({"name": name, "data": data})
}
