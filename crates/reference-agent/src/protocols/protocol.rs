//! The interface of a protocol: its properties and its encoder.

use crate::event::{AgentEvent, TurnOutcome};
use crate::modes::{ApprovalMode, Profile, ToolsMode};
use crate::run_summary::RunSummary;
use agentnative_contract::error::Result;
use agentnative_output::{Output, OutputConfig, OutputFormat};
use std::path::PathBuf;

/// An output protocol.
#[derive(Debug)]
pub struct Protocol {
    /// The bundled contract that it implements, also its name; `None` for the native protocol.
    pub contract: Option<&'static str>,
    /// Exit codes for the help; empty for those of principle 2.
    pub exit_codes: &'static str,
    /// The only format that it supports; `None` if it supports all.
    pub format: Option<OutputFormat>,
    /// Whether stderr is text for the user in any format, because errors go to stdout.
    pub stderr_is_text: bool,
    /// Folder of the scratchpads in the workspace, if the contract requires it.
    pub scratchpad: Option<&'static str>,
    /// Whether an empty answer is a success.
    pub allows_empty_answer: bool,
    /// Signals after which the outcome of the run is written.
    pub reported_signals: &'static [i32],
    /// Creates the encoder of a run.
    pub encoder: fn(&EncoderSettings) -> Box<dyn Encoder>,
}

/// The settings of a run that encoders use.
#[derive(Debug, Clone, Default)]
pub struct EncoderSettings {
    /// Whether only the answer is printed.
    pub raw: bool,
    /// Whether the output is csv.
    pub csv: bool,
    pub max_retries: u32,
    pub tools_mode: ToolsMode,
    pub approval_mode: ApprovalMode,
    pub profile: Profile,
    pub workspace: PathBuf,
}

/// Writes a run in a protocol.
pub trait Encoder {
    /// Writes an event, which `summary` already includes.
    fn write_event(
        &mut self,
        _event: &AgentEvent,
        _summary: &RunSummary,
        _output: &mut Output,
    ) -> Result<()> {
        Ok(())
    }

    /// Writes the outcome of the run and returns the exit code. The summary is empty if the run failed before it
    /// started, such as for invalid arguments or an invalid configuration.
    fn write_outcome(
        &mut self,
        outcome: &TurnOutcome,
        summary: &RunSummary,
        output: &mut Output,
    ) -> Result<u8>;
}

impl Protocol {
    /// Changes the format to text if stderr is text.
    pub fn output_config(&self, config: OutputConfig) -> OutputConfig {
        let format = if self.stderr_is_text { OutputFormat::Text } else { config.format };
        OutputConfig { format, ..config }
    }
}
