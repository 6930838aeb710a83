//! Adds the events of a run to its summary.

use super::clock::millis;
use super::event::{AgentEvent, TurnOutcome};
use super::options::Options;
use super::run_summary::{Phase, RunSummary, SessionStatus, Turns};
use std::time::Duration;

impl RunSummary {
    /// Creates the summary of a run that has no events yet.
    pub fn new(options: &Options) -> Self {
        let (provider, model) = options.provider_and_model();
        Self {
            provider: provider.to_owned(),
            model: model.to_owned(),
            turns: Turns { used: 0, max: options.max_tool_turns },
            ..Self::default()
        }
    }

    pub fn add_event(&mut self, event: &AgentEvent) {
        match event {
            AgentEvent::Query { text, attached } => {
                self.query.clone_from(text);
                self.attachments.clone_from(attached);
            }
            AgentEvent::Start { tools, .. } => (self.started, self.tools) = (true, *tools),
            AgentEvent::ToolsRefused => (self.tools, self.tools_fallback) = (false, true),
            AgentEvent::Turn { turn } => {
                self.turns.used = *turn;
                self.phase = Phase::Model;
            }
            AgentEvent::Retry { .. } => self.health.retries += 1,
            AgentEvent::TurnEnded(usage) => {
                self.phase = Phase::Tools;
                if let Some(usage) = usage {
                    self.usage = Some(self.usage.unwrap_or_default().plus(*usage));
                    self.turns_with_usage += 1;
                }
            }
            AgentEvent::ToolCall(start) => self.open_call = Some(start.clone()),
            AgentEvent::ToolResult(record) => {
                self.open_call = None;
                self.calls.push(record.clone());
                let health = &mut self.health;
                health.tool_calls += 1;
                health.tool_calls_failed += usize::from(!record.ok);
                health.tool_call_failure_rate = health.tool_calls_failed as f64 / health.tool_calls as f64;
            }
            AgentEvent::Text { .. } | AgentEvent::Permission { .. } | AgentEvent::End(_) => {}
        }
    }

    /// Sets the outcome and the duration of the run.
    pub fn finish(&mut self, outcome: &TurnOutcome, elapsed: Duration) {
        self.timing_ms = millis(elapsed);
        match outcome {
            Ok(answer) => self.answer = Some(answer.clone()),
            Err(failure) => (self.status, self.code) = (SessionStatus::Failed, Some(failure.code.name())),
        }
    }
}
