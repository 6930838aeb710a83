//! The protocols in which a run is written to standard output: a file and a row of [`PROTOCOLS`] each.

mod agent_js;
mod claude_stream;
mod codex_exec;
mod dexter_flat;
mod dexter_nested;
mod opencode_events;
mod opencode_run;
pub(super) mod own;
mod table;

use super::event::{Event, Outcome};
use super::options::Options;
use super::run_summary::RunSummary;
use agentnative_contract::error::Result;
use agentnative_output::{Output, OutputConfig, OutputFormat, asked_format, asked_values};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use std::ffi::OsString;

/// All protocols, in the order of the help.
const PROTOCOLS: [&Protocol; 8] = [
    &own::PROTOCOL,
    &dexter_flat::PROTOCOL,
    &dexter_nested::PROTOCOL,
    &agent_js::PROTOCOL,
    &opencode_events::PROTOCOL,
    &opencode_run::PROTOCOL,
    &codex_exec::PROTOCOL,
    &claude_stream::PROTOCOL,
];

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
    pub encoder: fn(&Options) -> Box<dyn Encoder>,
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

impl Default for &Protocol {
    fn default() -> Self {
        &own::PROTOCOL
    }
}

/// The protocol of this name.
fn find(name: &str) -> Option<&'static Protocol> {
    PROTOCOLS.into_iter().find(|protocol| protocol.contract == Some(name))
}

/// Reads the value of `--contract`.
pub fn parser() -> impl TypedValueParser<Value = &'static Protocol> {
    let value = |protocol: &Protocol| Some(PossibleValue::new(protocol.contract?));
    let values = PossibleValuesParser::new(PROTOCOLS.into_iter().filter_map(value));
    // Other names do not come so far.
    values.map(|name| find(&name).unwrap_or_default())
}

/// The exit codes of the protocols that have their own, for the help.
pub fn exit_codes() -> String {
    let own = PROTOCOLS.into_iter().filter(|protocol| !protocol.exit_codes.is_empty());
    let lines = own
        .map(|protocol| format!("\n  {:15}{}", protocol.contract.unwrap_or_default(), protocol.exit_codes));
    lines.collect()
}

/// The protocol and the format that arguments ask for which could not be parsed as a whole: an error is
/// written in them. A protocol that is not known counts as none.
pub fn requested(args: &[OsString]) -> (&'static Protocol, OutputFormat) {
    let protocol = asked_values(args, "--contract").next().and_then(find).unwrap_or_default();
    (protocol, protocol.format.unwrap_or_else(|| asked_format(args)))
}
