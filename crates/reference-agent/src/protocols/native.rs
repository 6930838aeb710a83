//! The native protocol of the agent. It prints one document in json, one event per line in jsonl, one event per row in
//! csv, and the answer in text. Errors are printed to stderr.

use super::csv;
use super::protocol::{Encoder, Protocol};
use crate::event::{AgentEvent, TurnOutcome};
use crate::failure::Code;
use crate::run_summary::RunSummary;
use agentnative_contract::error::Result;
use agentnative_output::{Output, OutputFormat};
use schemars::JsonSchema;
use serde::Serialize;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

pub(super) const PROTOCOL: Protocol = Protocol {
    contract: None,
    exit_codes: "",
    format: None,
    stderr_is_text: false,
    scratchpad: None,
    allows_empty_answer: false,
    reported_signals: &[SIGHUP, SIGINT, SIGTERM],
    encoder: |settings| Box::new(Native { raw: settings.raw, csv: settings.csv, steps: Vec::new() }),
};

/// The value of `data` in the json document.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Data<'a> {
    /// Outcome of the run.
    #[serde(flatten)]
    result: &'a RunSummary,
    /// All events: the same records as in jsonl.
    steps: &'a [AgentEvent],
}

struct Native {
    raw: bool,
    csv: bool,
    steps: Vec<AgentEvent>,
}

impl Native {
    fn write_step(&mut self, step: &AgentEvent, output: &mut Output) -> Result<()> {
        match output.config().format {
            OutputFormat::Text if self.csv => output.write_for_tools(&csv::rows(step)),
            OutputFormat::Text => Ok(()),
            OutputFormat::Jsonl => output.record(step),
            OutputFormat::Json => {
                self.steps.push(step.clone());
                Ok(())
            }
        }
    }
}

impl Encoder for Native {
    fn write_event(&mut self, event: &AgentEvent, _summary: &RunSummary, output: &mut Output) -> Result<()> {
        match event {
            AgentEvent::Query { .. } | AgentEvent::TurnEnded(_) => return Ok(()),
            AgentEvent::ToolsRefused => {
                output.diagnostic("the model does not support tools; continuing without tools")
            }
            AgentEvent::Retry { attempt, message, wait_ms, .. } => {
                output.diagnostic(&format!("retry {attempt} in {wait_ms} ms: {message}"));
            }
            AgentEvent::ToolCall(call) => output.diagnostic(&format!("[tool] {}", call.tool)),
            _ => {}
        }
        self.write_step(event, output)
    }

    fn write_outcome(
        &mut self,
        outcome: &TurnOutcome,
        summary: &RunSummary,
        output: &mut Output,
    ) -> Result<u8> {
        // A run that failed before the agent loop started has an error only.
        if summary.started {
            self.write_step(&AgentEvent::End(Box::new(summary.clone())), output)?;
            if output.config().format == OutputFormat::Json {
                output.document("run", outcome.is_ok(), &Data { result: summary, steps: &self.steps })?;
            }
        }
        match outcome {
            Ok(answer) if output.config().format == OutputFormat::Text && !self.csv => {
                if self.raw { output.write_for_tools(answer) } else { output.text(answer) }.map(|()| 0)
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
