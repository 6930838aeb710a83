//! The interface of a protocol: its facts, and the encoder of a run.

use crate::event::{Event, Outcome};
use crate::modes::{ApprovalMode, Profile, ToolsMode};
use crate::run_summary::RunSummary;
use agentnative_contract::error::Result;
use agentnative_output::{Output, OutputConfig, OutputFormat};
use std::path::PathBuf;

/// A protocol: its facts, and what encodes a run in it.
#[derive(Debug)]
pub struct Protocol {
    /// The bundled contract that it keeps, which is also its name; none for the agent's own shapes.
    pub contract: Option<&'static str>,
    /// Its exit codes, as the help lists them; empty for those of principle 2.
    pub exit_codes: &'static str,
    /// The one format that it has; none when it has all.
    pub format: Option<OutputFormat>,
    /// Errors go to standard output, so what is on standard error is for people, in any format.
    pub stderr_is_text: bool,
    /// The folder of its scratchpads in the workspace, where it promises one.
    pub scratchpad: Option<&'static str>,
    /// An answer without a word is an answer.
    pub takes_empty_answer: bool,
    /// The signals after which the end of the run is written, too.
    pub reported_signals: &'static [i32],
    /// Makes what encodes one run.
    pub encoder: fn(&EncoderSettings) -> Box<dyn Encoder>,
}

/// What an encoder needs to know of the settings of a run.
#[derive(Debug, Clone, Default)]
pub struct EncoderSettings {
    /// Only the answer is printed as text.
    pub raw: bool,
    /// A table is printed.
    pub table: bool,
    /// Number of retries of a failed request.
    pub max_retries: u32,
    pub tools_mode: ToolsMode,
    pub approval_mode: ApprovalMode,
    pub profile: Profile,
    /// The folder that the tools work in.
    pub workspace: PathBuf,
}

/// What encodes the events of a run in a protocol.
pub trait Encoder {
    /// Writes what happened; `summary` holds it already.
    fn event(&mut self, _event: &Event, _summary: &RunSummary, _output: &mut Output) -> Result<()> {
        Ok(())
    }

    /// Writes how the run ended, and gives the exit code. A run that failed before it began, by wrong
    /// arguments or a bad configuration, has an empty summary.
    fn end(&mut self, outcome: &Outcome, summary: &RunSummary, output: &mut Output) -> Result<u8>;
}

impl Protocol {
    /// How output is written.
    pub fn output(&self, config: OutputConfig) -> OutputConfig {
        let format = if self.stderr_is_text { OutputFormat::Text } else { config.format };
        OutputConfig { format, ..config }
    }
}
