//! `agentnative completions SHELL`

use super::complete::VARIABLE;
use agentnative_contract::error::{Error, Result};
use agentnative_output::Output;
use clap_complete::Shell;
use clap_complete::env::Shells;
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
    let (shell, name) = (args.shell.to_string(), "agentnative");
    let unwritten = |words: &str| Error::general(format!("cannot write the script for {shell}: {words}"));
    let shells = Shells::builtins();
    let completer = shells.completer(&shell).ok_or_else(|| unwritten("unknown shell"))?;
    let written = completer.write_registration(VARIABLE, name, name, name, &mut script);
    written.map_err(|error| unwritten(&error.to_string()))?;
    let script = String::from_utf8_lossy(&script).into_owned();
    let data = Completions { shell, script };
    output.emit("completions", true, &data, |page| page.verbatim(&data.script))?;
    Ok(0)
}
