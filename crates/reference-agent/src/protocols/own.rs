//! The agent's own shapes, after principle 2 (seed 003): an envelope in json, a typed event a line in
//! jsonl as things happen, the bare answer in text; errors on standard error.

use super::{Encoder, Protocol};
use crate::attach::Attached;
use crate::clock::millis;
use crate::event::{Event, Outcome, ToolRecord};
use crate::failure::Code;
use crate::options::Options;
use crate::run_summary::RunSummary;
use agentnative_contract::error::Result;
use agentnative_output::{Output, OutputFormat};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

pub(super) const PROTOCOL: Protocol = Protocol {
    contract: None,
    summary: "",
    exit_codes: "",
    format: None,
    stderr_is_text: false,
    scratchpad: None,
    takes_empty_answer: false,
    reports_signals: true,
    encoder: |options| Box::new(Own::new(options)),
};

/// The `command` of the envelope.
const COMMAND: &str = "run";

/// `data` of the json envelope.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Data {
    /// What the run came to.
    #[serde(flatten)]
    result: RunResult,
    /// Everything that happened: the same records as in jsonl.
    steps: Vec<Step>,
}

/// What a run came to.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct RunResult {
    /// `completed` or `failed`.
    status: Status,
    /// The query.
    query: String,
    /// The final answer; null when there is none.
    answer: Option<String>,
    /// Why it failed; null when it did not.
    code: Option<String>,
    /// The provider.
    provider: String,
    /// The model.
    model: String,
    /// How many turns the model had.
    turns: Turns,
    /// How well it went.
    health: Health,
    /// Tokens over all turns; absent when the provider counts none.
    #[serde(skip_serializing_if = "Option::is_none")]
    usage: Option<Tokens>,
    /// What went along with the query.
    attachments: Vec<Attached>,
    /// Where the scratchpad lies; null when it could not be written.
    scratchpad: Option<String>,
    /// How long it took, in milliseconds.
    timing_ms: u64,
}

/// How a run ended.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// With an answer.
    Completed,
    /// Without.
    Failed,
}

/// Turns of the model.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Turns {
    /// Those it had.
    used: u64,
    /// Those it was allowed.
    max: u32,
}

/// How well a run went.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Health {
    /// How often the model was asked again.
    retries: u64,
    /// All tool calls.
    tool_calls: usize,
    /// Those that failed.
    tool_calls_failed: usize,
    /// Failed by all; 0 without calls.
    tool_call_failure_rate: f64,
}

/// Tokens.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Tokens {
    /// Sent.
    input: u64,
    /// Received.
    output: u64,
    /// Both.
    total: u64,
}

/// Something that happened: one line of jsonl.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub enum Step {
    /// The loop begins.
    Start {
        /// The query.
        query: String,
        /// The provider.
        provider: String,
        /// The model.
        model: String,
        /// Whether the model is told of tools.
        tools: bool,
    },
    /// The model takes no tools; it goes on without.
    ToolsRefused,
    /// The model is asked.
    Turn {
        /// Which turn, from 1.
        turn: u64,
    },
    /// The model is asked again after a wait.
    Retry {
        /// Which turn, from 1.
        turn: u64,
        /// How often it was asked again in this turn, from 1.
        attempt: u32,
        /// What went wrong.
        message: String,
        /// The wait, in milliseconds.
        wait_ms: u64,
    },
    /// The model says something.
    Text {
        /// Which turn, from 1.
        turn: u64,
        /// The next words.
        text: String,
    },
    /// A tool is about to run.
    ToolCall {
        /// The provider's name for the call.
        id: String,
        /// The tool.
        tool: String,
        /// Its arguments.
        input: Map<String, Value>,
    },
    /// Somebody was asked whether a tool may run.
    Permission {
        /// The call.
        id: String,
        /// The tool.
        tool: String,
        /// Whether it may.
        granted: bool,
    },
    /// A tool has ended.
    ToolResult(ToolResult),
    /// The run has ended.
    End(RunResult),
}

/// The end of a tool call.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ToolResult {
    /// The provider's name for the call.
    id: String,
    /// The tool.
    tool: String,
    /// Whether it succeeded.
    ok: bool,
    /// What it gave; null when it failed.
    result: Option<Map<String, Value>>,
    /// Why it failed; null when it did not.
    error: Option<Problem>,
    /// How long it took, in milliseconds.
    duration_ms: u64,
}

/// Why a tool call failed.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Problem {
    /// One of the seven codes.
    code: String,
    /// What went wrong.
    message: String,
}

struct Own {
    raw: bool,
    max_tool_turns: u32,
    steps: Vec<Step>,
}

impl Own {
    fn new(options: &Options) -> Self {
        Self { raw: options.raw, max_tool_turns: options.max_tool_turns, steps: Vec::new() }
    }

    fn step(&mut self, step: Step, output: &mut Output) -> Result<()> {
        match output.config().format {
            OutputFormat::Text => Ok(()),
            OutputFormat::Jsonl => output.record(&step),
            OutputFormat::Json => {
                self.steps.push(step);
                Ok(())
            }
        }
    }

    fn result(&self, outcome: &Outcome, summary: &RunSummary) -> RunResult {
        let (answer, code) = match outcome {
            Ok(answer) => (Some(answer.clone()), None),
            Err(failure) => (None, Some(failure.code.name().to_owned())),
        };
        RunResult {
            status: if code.is_none() { Status::Completed } else { Status::Failed },
            query: summary.query.clone(),
            answer,
            code,
            provider: summary.provider.clone(),
            model: summary.model.clone(),
            turns: Turns { used: summary.turns, max: self.max_tool_turns },
            health: Health {
                retries: summary.retries,
                tool_calls: summary.calls.len(),
                tool_calls_failed: summary.failed_calls(),
                tool_call_failure_rate: summary.failure_rate(),
            },
            usage: summary.usage.map(|usage| Tokens {
                input: usage.input,
                output: usage.output,
                total: usage.total(),
            }),
            attachments: summary.attached.clone(),
            scratchpad: Some(summary.scratchpad.clone()).filter(|name| !name.is_empty()),
            timing_ms: summary.elapsed_ms(),
        }
    }
}

impl Encoder for Own {
    fn event(&mut self, event: &Event, summary: &RunSummary, output: &mut Output) -> Result<()> {
        let turn = summary.turns;
        let step = match event {
            Event::Query { .. } | Event::TurnEnded { .. } => return Ok(()),
            Event::Started { provider, model, tools } => Step::Start {
                query: summary.query.clone(),
                provider: provider.clone(),
                model: model.clone(),
                tools: *tools,
            },
            Event::ToolsRefused => {
                output.diagnostic("the model takes no tools: going on without");
                Step::ToolsRefused
            }
            Event::TurnStarted => Step::Turn { turn },
            Event::Retry { attempt, message, wait } => {
                output.diagnostic(&format!("retry {attempt} in {} ms: {message}", wait.as_millis()));
                Step::Retry { turn, attempt: *attempt, message: message.clone(), wait_ms: millis(*wait) }
            }
            Event::Text(text) => Step::Text { turn, text: text.clone() },
            Event::ToolStarted(call) => {
                output.diagnostic(&format!("[tool] {}", call.tool));
                Step::ToolCall { id: call.id.clone(), tool: call.tool.clone(), input: call.input.clone() }
            }
            Event::Permission { id, tool, granted } => {
                Step::Permission { id: id.clone(), tool: tool.clone(), granted: *granted }
            }
            Event::ToolFinished(record) => Step::ToolResult(tool_result(record)),
        };
        self.step(step, output)
    }

    fn end(&mut self, outcome: &Outcome, summary: &RunSummary, output: &mut Output) -> Result<u8> {
        let result = self.result(outcome, summary);
        // Before the loop began there is nothing to tell but the error.
        if summary.started {
            self.step(Step::End(result.clone()), output)?;
            if output.config().format == OutputFormat::Json {
                let ok = outcome.is_ok();
                output.document(COMMAND, ok, &Data { result, steps: std::mem::take(&mut self.steps) })?;
            }
        }
        match outcome {
            Ok(answer) if output.config().format == OutputFormat::Text => {
                if self.raw { output.raw(answer) } else { output.text(answer) }.map(|()| 0)
            }
            Ok(_) => Ok(0),
            Err(failure) => {
                output.error(&failure.to_error());
                if failure.code == Code::MaxToolTurnsNoFinal {
                    output.diagnostic(&format!("{} tool calls were made", summary.calls.len()));
                }
                Ok(failure.exit_code())
            }
        }
    }
}

fn tool_result(record: &ToolRecord) -> ToolResult {
    let (result, error) = match &record.outcome {
        Ok(result) => (Some(result.clone()), None),
        Err(error) => {
            (None, Some(Problem { code: error.code.name().to_owned(), message: error.message.clone() }))
        }
    };
    ToolResult {
        id: record.id.clone(),
        tool: record.tool.clone(),
        ok: error.is_none(),
        result,
        error,
        duration_ms: record.duration,
    }
}
