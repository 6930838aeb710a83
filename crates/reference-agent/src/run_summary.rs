//! What is known of a run so far: the sum of its events, from which each protocol writes its end.

use super::attach::Attached;
use super::clock::millis;
use super::event::{Event, ToolRecord, ToolStart};
use super::model::Usage;
use std::time::Duration;

/// What the run is waiting for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Phase {
    /// The query, the attachments, the provider's settings.
    #[default]
    Preparing,
    /// The model.
    Model,
    /// A tool, or nothing.
    Tools,
}

/// The sum of a run's events.
#[derive(Debug, Default)]
pub struct RunSummary {
    /// The query; empty before it is known.
    pub query: String,
    /// What is attached to it.
    pub attached: Vec<Attached>,
    /// The provider; before it is known, what was asked for.
    pub provider: String,
    /// The model; before it is known, what was asked for.
    pub model: String,
    /// The loop has begun.
    pub started: bool,
    /// The model was told of tools.
    pub tools: bool,
    /// The model refused them, and it went on without.
    pub fallback: bool,
    /// How often the model was asked, not counting retries.
    pub turns: u64,
    /// How often it was asked again.
    pub retries: u64,
    /// Tokens, summed; none when no turn had any.
    pub usage: Option<Usage>,
    /// Turns that had usage.
    pub turns_with_usage: u64,
    /// The tool calls that have ended.
    pub calls: Vec<ToolRecord>,
    /// The tool call that has not.
    pub open: Option<ToolStart>,
    /// What the run is waiting for.
    pub phase: Phase,
    /// The scratchpad as the contracts name it; empty when there is none.
    pub scratchpad: String,
    /// How long the run took, once it has ended.
    pub elapsed: Duration,
}

impl RunSummary {
    /// Adds what happened.
    pub fn add(&mut self, event: &Event) {
        match event {
            Event::Query { text, attached } => {
                self.query.clone_from(text);
                self.attached.clone_from(attached);
            }
            Event::Started { provider, model, tools } => {
                self.provider.clone_from(provider);
                self.model.clone_from(model);
                self.tools = *tools;
                self.started = true;
            }
            Event::ToolsRefused => {
                self.tools = false;
                self.fallback = true;
            }
            Event::TurnStarted => {
                self.turns += 1;
                self.phase = Phase::Model;
            }
            Event::Retry { .. } => self.retries += 1,
            Event::TurnEnded { usage } => {
                self.phase = Phase::Tools;
                if let Some(usage) = usage {
                    let sum = self.usage.get_or_insert_default();
                    sum.input = sum.input.saturating_add(usage.input);
                    sum.output = sum.output.saturating_add(usage.output);
                    self.turns_with_usage += 1;
                }
            }
            Event::ToolStarted(start) => self.open = Some(start.clone()),
            Event::ToolFinished(record) => {
                self.open = None;
                self.calls.push(record.clone());
            }
            Event::Text(_) | Event::Permission { .. } => {}
        }
    }

    /// How long the run took, in milliseconds.
    pub fn elapsed_ms(&self) -> u64 {
        millis(self.elapsed)
    }

    /// How many tool calls failed.
    pub fn failed_calls(&self) -> usize {
        self.calls.iter().filter(|call| call.outcome.is_err()).count()
    }

    /// Failed calls by all calls; 0 without calls.
    pub fn failure_rate(&self) -> f64 {
        match self.calls.len() {
            0 => 0.0,
            total => self.failed_calls() as f64 / total as f64,
        }
    }
}
