//! `agentnative completions SHELL`

use super::command;
use agentnative_contract::error::Result;
use agentnative_output::Output;
use clap_complete::Shell;
use schemars::JsonSchema;
use serde::Serialize;

#[derive(clap::Args)]
#[command(after_help = "Examples:
  agentnative completions bash")]
pub(super) struct CompletionsArgs {
    /// Shell.
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
    clap_complete::generate(args.shell, &mut command(), "agentnative", &mut script);
    let script = String::from_utf8_lossy(&script).into_owned();
    let data = Completions { shell: args.shell.to_string(), script };
    output.emit("completions", true, &data, |page| page.verbatim(&data.script))?;
    Ok(0)
}
