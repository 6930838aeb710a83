//! What is known of a run so far: the sum of its events, from which each contract writes its end.

use super::attach::Attached;
use super::event::{Event, ToolError, ToolRecord};
use super::model::Usage;
use serde_json::{Map, Value};
use std::time::Instant;

/// What the run is waiting for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// The query, the attachments, the provider's settings.
    Preparing,
    /// The model.
    Model,
    /// A tool, or nothing.
    Tools,
}

/// A tool call that has not ended.
#[derive(Debug, Clone)]
pub struct OpenCall {
    /// The provider's name for the call.
    pub id: String,
    /// The tool.
    pub tool: String,
    /// The arguments.
    pub input: Map<String, Value>,
    /// In milliseconds since 1970.
    pub started: u64,
}

/// The sum of a run's events.
#[derive(Debug)]
pub struct Ledger {
    /// When the run began.
    pub began: Instant,
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
    pub open: Option<OpenCall>,
    /// What the run is waiting for.
    pub phase: Phase,
    /// The scratchpad as the contracts name it; empty when there is none.
    pub scratchpad: String,
}

impl Ledger {
    /// Nothing has happened yet.
    pub fn new(provider: &str, model: &str) -> Self {
        Self {
            began: Instant::now(),
            query: String::new(),
            attached: Vec::new(),
            provider: provider.to_owned(),
            model: model.to_owned(),
            started: false,
            tools: false,
            fallback: false,
            turns: 0,
            retries: 0,
            usage: None,
            turns_with_usage: 0,
            calls: Vec::new(),
            open: None,
            phase: Phase::Preparing,
            scratchpad: String::new(),
        }
    }

    /// Takes in what happened.
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
            Event::ToolStarted { id, tool, input, started, .. } => {
                self.open = Some(OpenCall {
                    id: id.clone(),
                    tool: tool.clone(),
                    input: input.clone(),
                    started: *started,
                });
            }
            Event::ToolFinished(record) => {
                self.open = None;
                self.calls.push(record.clone());
            }
            Event::Text(_) | Event::Permission { .. } => {}
        }
    }

    /// The end of a tool call that was cut off, when one is open.
    pub fn cut_off(&self, why: &str) -> Option<ToolRecord> {
        let open = self.open.clone()?;
        Some(ToolRecord {
            id: open.id,
            tool: open.tool,
            input: open.input,
            outcome: Err(ToolError::execution(why)),
            started: open.started,
            duration: super::clock::now_ms().saturating_sub(open.started),
            effect: None,
        })
    }

    /// Milliseconds since the run began.
    pub fn elapsed_ms(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX)
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
