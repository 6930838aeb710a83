//! The command line: clap types, and one thin file a subcommand.

mod check;
mod completions;
mod contract;
mod diff;
mod explain;
mod infer;
mod init;
mod list;
mod lock;
mod outcome;
mod progress;
mod schema;
mod target_args;
mod validate;

use crate::run::RunnerOptions;
use agentnative_contract::error::Result;
use agentnative_output::{ColorChoice, Output, OutputConfig, OutputFormat, asked_format, clap_error};
use clap::{Args, Parser, Subcommand};
use std::ffi::OsString;

/// Tells whether a command-line tool can be called by a program.
#[derive(Parser)]
#[command(name = "agentnative", version, arg_required_else_help = false, after_help = EXIT_CODES)]
struct Cli {
    #[command(flatten)]
    output: OutputArgs,
    #[command(subcommand)]
    command: Command,
}

const EXIT_CODES: &str = "Exit codes:
  0   success
  1   general error; for `check` a failed MUST (with --strict also an unverified one), for `validate` an
      invalid document, for `contract diff` and `contract lock --check` a breaking change
  2   usage error
  77  authentication or permission error, such as a target that may not be executed
  78  configuration error, such as a bad agentnative.toml or a target that is not there";

/// How every subcommand prints.
#[derive(Args, Clone, Copy)]
struct OutputArgs {
    /// Output format.
    #[arg(long, value_enum, global = true, value_name = "FORMAT", default_value = "text")]
    output: OutputFormat,
    /// Short for --output json.
    #[arg(long, global = true, conflicts_with_all = ["jsonl", "output"])]
    json: bool,
    /// Short for --output jsonl.
    #[arg(long, global = true, conflicts_with = "output")]
    jsonl: bool,
    /// When to use colour in text.
    #[arg(long, value_enum, global = true, value_name = "WHEN", default_value = "auto")]
    color: ColorChoice,
    /// Print problems and the summary only.
    #[arg(long, short, global = true)]
    quiet: bool,
}

impl OutputArgs {
    fn config(self) -> OutputConfig {
        let format = match self {
            Self { json: true, .. } => OutputFormat::Json,
            Self { jsonl: true, .. } => OutputFormat::Jsonl,
            Self { output, .. } => output,
        };
        OutputConfig::detect(format, self.color, self.quiet)
    }
}

#[derive(Subcommand)]
enum Command {
    /// Run a target and give a verdict for each check.
    Check(Box<check::CheckArgs>),
    /// List the checks.
    List(list::ListArgs),
    /// Hold documents and JSON lines to a contract.
    Validate(validate::ValidateArgs),
    /// Look at contracts.
    Contract(contract::ContractArgs),
    /// Explain a check or a kind of change: what, why, how to mend it, examples.
    Explain(explain::ExplainArgs),
    /// Write a skeleton of agentnative.toml from a target's help.
    Init(init::InitArgs),
    /// Turn an agent's event stream into one RunOutcome.
    Outcome(outcome::OutcomeArgs),
    /// Print the JSON Schema of this program's output.
    Schema(schema::SchemaArgs),
    /// Print a completion script.
    Completions(completions::CompletionsArgs),
}

/// Runs the program with these arguments (the first is its name) and gives its exit code.
pub fn main(args: &[OsString]) -> u8 {
    let parsed = Cli::try_parse_from(args);
    let config = match &parsed {
        Ok(cli) => cli.output.config(),
        Err(_) => OutputConfig::detect(asked_format(args), ColorChoice::Auto, false),
    };
    let mut output = Output::new(config);
    let runner = RunnerOptions { stop_on_signals: true, show: true, ..RunnerOptions::default() };
    let done = match parsed {
        Ok(cli) => cli.command.run(&mut output, &runner),
        Err(error) => clap_error(&error).and_then(|text| output.text(&text)).map(|()| 0),
    };
    done.unwrap_or_else(|error| {
        output.error(&error);
        error.kind.exit_code()
    })
}

impl Command {
    fn run(self, output: &mut Output, runner: &RunnerOptions) -> Result<u8> {
        match self {
            Self::Check(args) => check::run(*args, output, runner),
            Self::List(args) => list::run(args, output),
            Self::Validate(args) => validate::run(&args, output),
            Self::Contract(args) => contract::run(&args, output, runner),
            Self::Explain(args) => explain::run(&args, output),
            Self::Init(args) => init::run(args, output, runner),
            Self::Outcome(args) => outcome::run(args, output),
            Self::Schema(args) => schema::run(&args, output),
            Self::Completions(args) => completions::run(&args, output),
        }
    }
}

/// The exit code of a command that a signal told to stop.
fn exit_of_signal(signal: i32) -> u8 {
    u8::try_from(128 + signal).unwrap_or(1)
}
