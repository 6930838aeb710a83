//! The contracts that the agent speaks: one file each.

mod agent_js;
mod dexter_flat;
mod dexter_nested;
mod opencode;
pub(super) mod own;

use super::event::{Ending, Event};
use super::failure::Failure;
use super::ledger::Ledger;
use super::options::Options;
use agentnative_contract::error::Result;
use agentnative_output::{Output, OutputConfig, OutputFormat};
use clap::ValueEnum;
use std::ffi::OsString;

/// A contract that the agent speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum Contract {
    /// Principle 2, in the agent's own shapes.
    #[default]
    #[value(skip)]
    Own,
    /// Seed 000: one document, `success` tells.
    DexterFlat,
    /// Seed 002: one document on one line, `status` tells.
    DexterNested,
    /// Seed 001: one document, `ok` tells.
    AgentJs,
    /// Seed 004: an event a line.
    OpencodeEvents,
}

/// What turns the events of a run into a contract's output.
pub trait Speaker {
    /// Tells what happened; `ledger` holds it already.
    ///
    /// # Errors
    /// When it cannot be written.
    fn event(&mut self, event: &Event, ledger: &Ledger, output: &mut Output) -> Result<()>;

    /// Tells how the run ended, and gives the exit code.
    ///
    /// # Errors
    /// When it cannot be written.
    fn end(&mut self, ending: &Ending, ledger: &Ledger, output: &mut Output) -> Result<u8>;

    /// Whether an answer without a word is an answer.
    fn takes_empty_answer(&self) -> bool {
        false
    }

    /// Whether anything is told after a signal.
    fn tells_of_signals(&self) -> bool {
        false
    }
}

impl Contract {
    /// The one format that it is spoken in; none when all are.
    pub const fn format(self) -> Option<OutputFormat> {
        match self {
            Self::Own => None,
            Self::DexterFlat | Self::DexterNested | Self::AgentJs => Some(OutputFormat::Json),
            Self::OpencodeEvents => Some(OutputFormat::Jsonl),
        }
    }

    /// Whether its scratchpad lies in the workspace.
    pub const fn is_dexter(self) -> bool {
        matches!(self, Self::DexterFlat | Self::DexterNested)
    }

    /// The bundled contract's name; none for the agent's own shapes.
    pub const fn name(self) -> Option<&'static str> {
        match self {
            Self::Own => None,
            Self::DexterFlat => Some("dexter-flat"),
            Self::DexterNested => Some("dexter-nested"),
            Self::AgentJs => Some("agent-js"),
            Self::OpencodeEvents => Some("opencode-events"),
        }
    }

    /// How output is written: where errors go to standard output, what is on standard error is for
    /// people, in any format.
    pub const fn output(self, config: OutputConfig) -> OutputConfig {
        match self {
            Self::DexterNested => OutputConfig { format: OutputFormat::Text, ..config },
            _ => config,
        }
    }

    /// What speaks it.
    pub fn speaker(self, options: &Options) -> Box<dyn Speaker> {
        match self {
            Self::Own => Box::new(own::Own::new(options)),
            Self::DexterFlat => Box::new(dexter_flat::DexterFlat),
            Self::DexterNested => Box::new(dexter_nested::DexterNested),
            Self::AgentJs => Box::new(agent_js::AgentJs::new(options)),
            Self::OpencodeEvents => Box::new(opencode::Opencode::new(options)),
        }
    }

    /// Tells of a failure before anything began: wrong arguments, a bad configuration.
    pub fn refuse(self, failure: &Failure, output: &mut Output) -> u8 {
        let written = match self {
            Self::Own | Self::OpencodeEvents => {
                output.error(&failure.to_error());
                return failure.exit_code();
            }
            Self::DexterFlat => output.record(&dexter_flat::error("", failure)),
            Self::DexterNested => dexter_nested::refuse(failure, output),
            Self::AgentJs => output.record(&agent_js::error(failure)),
        };
        if let Err(error) = written {
            output.error(&error);
        }
        match self {
            Self::DexterFlat => dexter_flat::exit(failure),
            Self::DexterNested => 1,
            _ => failure.code.agent_js_exit(),
        }
    }
}

/// What contract and format arguments ask for which could not be parsed as a whole: an error is
/// told in it. A contract that is not known counts as none.
pub fn asked(args: &[OsString]) -> (Contract, OutputFormat) {
    let words: Vec<&str> =
        args.iter().skip(1).take_while(|arg| *arg != "--").filter_map(|arg| arg.to_str()).collect();
    let value = |flag: &str| {
        let joined = words.iter().find_map(|word| word.strip_prefix(flag)?.strip_prefix('='));
        joined.or_else(|| words.windows(2).find(|pair| pair[0] == flag).map(|pair| pair[1]))
    };
    let contract =
        value("--contract").and_then(|name| Contract::from_str(name, false).ok()).unwrap_or_default();
    let named = value("--output").and_then(|name| OutputFormat::from_str(name, false).ok());
    let alias = [OutputFormat::Jsonl, OutputFormat::Json]
        .into_iter()
        .find(|format| words.contains(&format!("--{}", format.name()).as_str()));
    (contract, contract.format().or(alias).or(named).unwrap_or_default())
}
