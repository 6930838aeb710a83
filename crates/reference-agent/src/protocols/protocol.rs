//! The interface of an output protocol: its properties, and the encoder that writes a run.

use crate::event::{AgentEvent, TurnOutcome};
use crate::modes::{ApprovalMode, Profile, ToolsMode};
use crate::run_summary::RunSummary;
use agentnative_contract::error::Result;
use agentnative_output::{Output, OutputConfig, OutputFormat};
use std::path::PathBuf;

/// An output protocol: the form in which the agent reports a run, such as the one of another agent.
#[derive(Debug)]
pub struct Protocol {
    /// Name of the protocol and of the bundled contract that it implements, such as `agent-js`. `None` for the native
    /// protocol.
    pub contract: Option<&'static str>,
    /// Text about the exit codes of the protocol for the help. Empty if they are those of the native protocol.
    pub exit_codes: &'static str,
    /// The only format that the protocol supports; `None` if it supports all formats.
    pub format: Option<OutputFormat>,
    /// Whether stderr is text for users in all formats. This is so if the protocol reports errors on stdout.
    pub stderr_is_text: bool,
    /// Folder in the workspace for the log of a run (the scratchpad), if the contract requires one.
    pub scratchpad: Option<&'static str>,
    /// Whether a run with an empty answer is a success.
    pub allows_empty_answer: bool,
    /// Signals after which the protocol still reports the outcome of the run. After other signals, it prints nothing.
    pub reported_signals: &'static [i32],
    /// Function that creates the encoder for a run.
    pub encoder: fn(&EncoderSettings) -> Box<dyn Encoder>,
}

/// The settings of a run that encoders need.
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

/// Writes the events and the outcome of a run in the form of a protocol.
pub trait Encoder {
    /// Writes an event. `_summary` already includes it.
    fn write_event(
        &mut self,
        _event: &AgentEvent,
        _summary: &RunSummary,
        _output: &mut Output,
    ) -> Result<()> {
        Ok(())
    }

    /// Writes the outcome of the run and returns the exit code. `summary` is empty if the run failed before it started,
    /// for example because of invalid arguments.
    fn write_outcome(
        &mut self,
        outcome: &TurnOutcome,
        summary: &RunSummary,
        output: &mut Output,
    ) -> Result<u8>;
}

impl Protocol {
    /// Returns the settings of the output. Their format is text if the protocol prints text to stderr.
    pub fn output_config(&self, config: OutputConfig) -> OutputConfig {
        let format = if self.stderr_is_text { OutputFormat::Text } else { config.format };
        OutputConfig { format, ..config }
    }
}
