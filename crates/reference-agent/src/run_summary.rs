//! What is known of a run so far: the sum of its events, from which each protocol writes its end. The agent's
//! own writes it as it is, so its JSON Schema has the comments here as descriptions.

use super::attach::Attached;
use super::clock::millis;
use super::event::{Event, Outcome, ToolRecord, ToolStart};
use super::model::Usage;
use super::options::Options;
use schemars::JsonSchema;
use serde::Serialize;
use std::time::Duration;

/// Outcome of a run.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
#[schemars(rename = "RunResult")]
pub struct RunSummary {
    /// `completed` or `failed`.
    pub status: Status,
    /// The query.
    pub query: String,
    /// The final answer; null if there is none.
    pub answer: Option<String>,
    /// Why it failed; null if it did not.
    pub code: Option<&'static str>,
    /// The provider.
    pub provider: String,
    /// The model.
    pub model: String,
    /// How many turns the model had.
    pub turns: Turns,
    /// Its outcome.
    pub health: Health,
    /// Tokens over all turns; absent when the provider counts none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// The attachments of the query.
    pub attachments: Vec<Attached>,
    /// Path of the scratchpad; null if it could not be written.
    pub scratchpad: Option<String>,
    /// How long it took, in milliseconds.
    pub timing_ms: u64,
    /// The loop has begun.
    #[serde(skip)]
    pub started: bool,
    /// The model was told of tools.
    #[serde(skip)]
    pub tools: bool,
    /// The model refused them, and it went on without.
    #[serde(skip)]
    pub fallback: bool,
    /// Turns that had usage.
    #[serde(skip)]
    pub turns_with_usage: u64,
    /// The tool calls that have ended.
    #[serde(skip)]
    pub calls: Vec<ToolRecord>,
    /// The tool call that has not.
    #[serde(skip)]
    pub open: Option<ToolStart>,
    /// What the run is waiting for.
    #[serde(skip)]
    pub phase: Phase,
}

/// How a run ended.
#[derive(Debug, Clone, Copy, Default, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// With an answer.
    #[default]
    Completed,
    /// Without.
    Failed,
}

/// Turns of the model.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct Turns {
    /// Number of turns used.
    pub used: u64,
    /// Number of turns allowed.
    pub max: u32,
}

/// Outcome of a run.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct Health {
    /// Number of retries.
    pub retries: u64,
    /// All tool calls.
    pub tool_calls: usize,
    /// Those that failed.
    pub tool_calls_failed: usize,
    /// Share of calls that failed; 0 without calls.
    pub tool_call_failure_rate: f64,
}

/// What a run is waiting for.
#[derive(Debug, Clone, Copy, Default)]
pub enum Phase {
    /// The query, the attachments, the provider's settings.
    #[default]
    Preparing,
    /// The model.
    Model,
    /// A tool, or nothing.
    Tools,
}

impl RunSummary {
    /// That of a run of which nothing has happened yet.
    pub fn new(options: &Options) -> Self {
        let (provider, model) = options.provider_and_model();
        Self {
            provider: provider.to_owned(),
            model: model.to_owned(),
            turns: Turns { used: 0, max: options.max_tool_turns },
            ..Self::default()
        }
    }

    /// Adds what happened.
    pub fn add(&mut self, event: &Event) {
        match event {
            Event::Query { text, attached } => {
                self.query.clone_from(text);
                self.attachments.clone_from(attached);
            }
            Event::Start { tools, .. } => (self.started, self.tools) = (true, *tools),
            Event::ToolsRefused => (self.tools, self.fallback) = (false, true),
            Event::Turn { turn } => {
                self.turns.used = *turn;
                self.phase = Phase::Model;
            }
            Event::Retry { .. } => self.health.retries += 1,
            Event::TurnEnded(usage) => {
                self.phase = Phase::Tools;
                if let Some(usage) = usage {
                    self.usage = Some(self.usage.unwrap_or_default().plus(*usage));
                    self.turns_with_usage += 1;
                }
            }
            Event::ToolCall(start) => self.open = Some(start.clone()),
            Event::ToolResult(record) => {
                self.open = None;
                self.calls.push(record.clone());
                let health = &mut self.health;
                health.tool_calls += 1;
                health.tool_calls_failed += usize::from(!record.ok);
                health.tool_call_failure_rate = health.tool_calls_failed as f64 / health.tool_calls as f64;
            }
            Event::Text { .. } | Event::Permission { .. } | Event::End(_) => {}
        }
    }

    /// Adds how it ended.
    pub fn finish(&mut self, outcome: &Outcome, elapsed: Duration) {
        self.timing_ms = millis(elapsed);
        match outcome {
            Ok(answer) => self.answer = Some(answer.clone()),
            Err(failure) => (self.status, self.code) = (Status::Failed, Some(failure.code.name())),
        }
    }
}
