//! The command line: clap types, and one file per subcommand.

mod baseline;
mod check;
mod check_all;
mod check_args;
mod check_one;
mod complete;
mod completions;
mod confirm;
mod contract;
mod data_files_args;
mod diff;
mod embedded;
mod explain;
mod explain_config;
mod explore_args;
mod fleet_args;
mod group;
mod infer;
mod init;
mod list;
mod lock;
mod outcome;
mod outcome_words;
mod outcomes;
mod profiles;
mod progress;
mod report;
mod report_files;
mod schema;
mod selection_args;
mod shown_path;
mod skeletons;
mod skill;
mod target_args;
mod validate;
mod watch;

use agentnative_contract::budget::{self, Budget};
use agentnative_contract::error::Result;
use agentnative_core::run::{RunnerOptions, set_non_dumpable};
use agentnative_output::{ColorChoice, Output, OutputConfig, OutputFormat, clap_error, requested_format};
use clap::{Args, CommandFactory, Parser, Subcommand};
use clap_complete::CompleteEnv;
use std::ffi::OsString;

/// Checks whether scripts, CI jobs and AI agents can rely on a command-line tool.
#[derive(Parser)]
#[command(name = "agentnative", version, arg_required_else_help = false)]
#[command(after_help = "agentnative --help also lists exit codes and examples.", after_long_help = EXIT_CODES)]
struct Cli {
    #[command(flatten, next_help_heading = group::OUTPUT)]
    output: OutputArgs,
    #[command(subcommand)]
    command: Command,
}

/// The last section of the long help. Its lines fit on a narrow terminal, since clap would break longer ones in the middle
/// of a row.
const EXIT_CODES: &str = "Exit codes:
  0    success
  1    findings, or another error
  2    wrong arguments
  77   permission denied
  78   target or configuration invalid or missing
  130  interrupted (SIGINT)

Findings are a failed MUST, an invalid document or a breaking change.

Examples:
  agentnative check --command mycli
  agentnative explain p2-output-json
  agentnative contract diff --help";

/// The output options of all subcommands.
#[derive(Args, Clone, Copy)]
struct OutputArgs {
    /// Output format: text, json or jsonl.
    #[arg(
        long,
        value_enum,
        global = true,
        value_name = "FORMAT",
        default_value = "text",
        hide_possible_values = true
    )]
    output: OutputFormat,
    /// Same as --output json.
    #[arg(long, global = true, conflicts_with_all = ["jsonl", "output"])]
    json: bool,
    /// Same as --output jsonl.
    #[arg(long, global = true, conflicts_with = "output")]
    jsonl: bool,
    /// Colour in text: auto, always or never.
    #[arg(
        long,
        value_enum,
        global = true,
        value_name = "WHEN",
        default_value = "auto",
        hide_possible_values = true
    )]
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
        OutputConfig::from_environment(format, self.color, self.quiet)
    }
}

#[derive(Subcommand)]
enum Command {
    /// Run a command-line tool and report a verdict per check.
    Check(Box<check_args::CheckArgs>),
    /// Merge reports.
    Report(report::ReportArgs),
    /// List the checks.
    List(list::ListArgs),
    /// Validate JSON documents and JSON Lines against a contract.
    Validate(validate::ValidateArgs),
    /// List, show, infer, compare and lock contracts.
    Contract(contract::ContractArgs),
    /// Explain a check or a kind of change.
    Explain(explain::ExplainArgs),
    /// Write agentnative.toml from the help of a tool.
    Init(init::InitArgs),
    /// Summarize the event stream of an agent as one result.
    Outcome(outcome::OutcomeArgs),
    /// Print a JSON Schema of the output of this program.
    Schema(schema::SchemaArgs),
    /// Install the instructions for agents.
    Skill(skill::SkillArgs),
    /// Print a completion script for a shell.
    Completions(completions::CompletionsArgs),
}

/// Returns the clap command, for completions and documentation.
pub fn command() -> clap::Command {
    Cli::command()
}

/// Answers a completion request of a shell. Returns whether `args` and the environment are such a request; an invalid
/// request gets no answer.
fn answer_completion(args: &[OsString]) -> bool {
    let folder = std::env::current_dir().ok();
    let environment = CompleteEnv::with_factory(command).var(complete::VARIABLE);
    environment.try_complete(args, folder.as_deref()).unwrap_or(false)
}

/// Runs the program with these arguments (the first is its name) and returns its exit code.
pub fn main(args: &[OsString]) -> u8 {
    set_non_dumpable();
    if answer_completion(args) {
        return 0;
    }
    let parsed = Cli::try_parse_from(args);
    let config = match &parsed {
        Ok(cli) => cli.output.config(),
        Err(_) => OutputConfig::from_environment(requested_format(args), ColorChoice::Auto, false),
    };
    let mut output = Output::new(config);
    let runner = RunnerOptions { stop_on_signals: true, show: true, ..RunnerOptions::default() };
    let result = match parsed {
        Ok(cli) => cli.command.run(&mut output, &runner),
        Err(error) => clap_error(&error).and_then(|text| output.text(&text)).map(|()| 0),
    };
    result.unwrap_or_else(|error| {
        output.error(&error);
        error.exit_code()
    })
}

impl Command {
    fn run(self, output: &mut Output, runner: &RunnerOptions) -> Result<u8> {
        let result = match self {
            Self::Check(args) => return check::run(&args, output, runner),
            Self::Report(args) => return report::run(&args, output),
            Self::Validate(args) => {
                return within_budget(output, move |output| validate::run(&args, output));
            }
            Self::Contract(args) => {
                let runner = runner.clone();
                return within_budget(output, move |output| contract::run(&args, output, &runner));
            }
            Self::List(args) => list::run(args, output),
            Self::Explain(args) => explain::run(&args, output),
            Self::Init(args) => init::run(args, output, runner),
            Self::Outcome(args) => outcome::run(args, output),
            Self::Skill(args) => skill::run(&args, output),
            Self::Schema(args) => schema::run(&args, output),
            Self::Completions(args) => completions::run(&args, output),
        };
        result.map(|()| 0)
    }
}

/// Runs a command within a budget, since a schema or a document determines its cost. Fails if a step exceeds the
/// budget.
fn within_budget(
    output: &Output,
    work: impl FnOnce(&mut Output) -> Result<u8> + Send + 'static,
) -> Result<u8> {
    let config = *output.config();
    budget::run_within(Budget::COMMAND, move || work(&mut Output::new(config)))?
}
