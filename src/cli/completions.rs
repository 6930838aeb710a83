//! `agentnative completions SHELL`

use super::Cli;
use agentnative_contract::error::Result;
use agentnative_output::{Output, OutputFormat};
use clap::CommandFactory;
use clap_complete::Shell;
use schemars::JsonSchema;
use serde::Serialize;

#[derive(clap::Args)]
pub(super) struct CompletionsArgs {
    /// The shell.
    #[arg(value_enum)]
    shell: Shell,
}

/// A completion script.
#[derive(Serialize, JsonSchema)]
pub(super) struct Completions {
    /// The shell that it is for.
    shell: String,
    /// The script.
    script: String,
}

pub(super) fn run(args: &CompletionsArgs, output: &mut Output) -> Result<u8> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "agentnative", &mut script);
    let data =
        Completions { shell: args.shell.to_string(), script: String::from_utf8_lossy(&script).into_owned() };
    match output.config().format {
        OutputFormat::Text => output.verbatim(&script)?,
        OutputFormat::Json => output.document("completions", true, &data)?,
        OutputFormat::Jsonl => output.record(&data)?,
    }
    Ok(0)
}
