//! The command line: clap types, and one thin file a subcommand.

mod bound;
mod check;
mod code;
mod completions;
mod contract;
mod contract_tree;
mod diff;
mod explain;
mod follow;
mod infer;
mod init;
mod inputs;
mod list;
mod live;
mod lock;
mod outcome;
mod runs;
mod schema;
mod sides;
mod subject;
mod validate;
mod verdicts;

use agentnative_contract::error::{Error, Result};
use agentnative_output::{ColorChoice, Output, OutputConfig, OutputFormat};
use clap::error::ErrorKind;
use clap::{Args, Parser, Subcommand};
use std::ffi::OsString;
use std::path::Path;

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
///
/// `executable` is this program itself, which starts each target.
pub fn main(args: &[OsString], executable: &Path) -> u8 {
    let cli = match Cli::try_parse_from(args) {
        Ok(cli) => cli,
        Err(error) => return refused(&error, args),
    };
    let mut output = Output::new(cli.output.config());
    let done = match cli.command {
        Command::Check(args) => check::run(*args, &mut output, executable),
        Command::List(args) => list::run(&args, &mut output),
        Command::Validate(args) => validate::run(&args, &mut output),
        Command::Contract(args) => contract::run(&args, &mut output, executable),
        Command::Explain(args) => explain::run(&args, &mut output),
        Command::Init(args) => init::run(args, &mut output, executable),
        Command::Outcome(args) => outcome::run(args, &mut output),
        Command::Schema(args) => schema::run(&args, &mut output),
        Command::Completions(args) => completions::run(&args, &mut output),
    };
    match done {
        Ok(code) => code,
        Err(error) => {
            output.error(&error);
            error.kind.exit_code()
        }
    }
}

/// Help and version are answers; all else that clap does not take is a usage error.
fn refused(error: &clap::Error, args: &[OsString]) -> u8 {
    let mut output = Output::new(OutputConfig::detect(asked_format(args), ColorChoice::Auto, false));
    let text = error.render().to_string();
    if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) {
        return output.text(&text).map_or_else(|error| error.kind.exit_code(), |()| 0);
    }
    let error = usage_error(&text);
    output.error(&error);
    error.kind.exit_code()
}

/// clap's words as an error of ours: the first paragraph is the message; the tips, else the usage, are
/// the hint.
fn usage_error(text: &str) -> Error {
    let flat = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut paragraphs = text.split("\n\n").map(flat).filter(|paragraph| !paragraph.is_empty());
    let message = paragraphs.next().unwrap_or_default();
    let error = Error::usage(message.strip_prefix("error: ").unwrap_or(&message));
    let rest: Vec<String> = paragraphs.collect();
    let tips: Vec<&str> = rest.iter().filter_map(|paragraph| paragraph.strip_prefix("tip: ")).collect();
    let usage = || rest.iter().find(|paragraph| paragraph.starts_with("Usage: ")).cloned();
    match &tips[..] {
        [] => error.hint(usage().unwrap_or_else(|| "--help shows what is expected".to_owned())),
        tips => error.hint(tips.join("; ")),
    }
}

/// The format that arguments ask for which could not be parsed as a whole: an error is told in it.
fn asked_format(args: &[OsString]) -> OutputFormat {
    let words = || args.iter().skip(1).take_while(|arg| *arg != "--").filter_map(|arg| arg.to_str());
    let values = words().zip(words().skip(1)).filter(|(flag, _)| *flag == "--output").map(|(_, value)| value);
    let joined = words().filter_map(|word| word.strip_prefix("--output="));
    let asked = |format: OutputFormat| {
        let alias = format!("--{}", format.name());
        values.clone().chain(joined.clone()).any(|value| value == format.name())
            || format.is_json() && words().any(|word| word == alias)
    };
    OutputFormat::ALL.into_iter().rev().find(|format| asked(*format)).unwrap_or_default()
}

/// The checks of these principles and layers, of these IDs, without those.
///
/// # Errors
/// Usage, when an ID does not exist or nothing is left.
fn select(
    principles: &[u8],
    layers: &[crate::report::Layer],
    ids: &[String],
    skipped: &[String],
) -> Result<Vec<&'static crate::report::catalogue::Check>> {
    use crate::report::catalogue;
    for id in ids.iter().chain(skipped) {
        known_check(id)?;
    }
    let selected: Vec<_> = catalogue::checks()
        .iter()
        .filter(|check| principles.is_empty() || principles.contains(&check.principle))
        .filter(|check| layers.is_empty() || layers.contains(&check.layer))
        .filter(|check| ids.is_empty() || ids.iter().any(|id| id == check.id.as_str()))
        .filter(|check| !skipped.iter().any(|id| id == check.id.as_str()))
        .collect();
    if selected.is_empty() {
        return Err(
            Error::usage("no check is left to be made by these options").hint("see `agentnative list`")
        );
    }
    Ok(selected)
}

/// The check of this ID.
fn known_check(id: &str) -> Result<&'static crate::report::catalogue::Check> {
    use crate::report::catalogue;
    catalogue::check(id).ok_or_else(|| {
        let ids = catalogue::checks().iter().map(|check| check.id.as_str());
        let hint = match agentnative_contract::spanned_toml::nearest(id, ids) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "see `agentnative list`".to_owned(),
        };
        Error::usage(format!("there is no check `{id}`")).hint(hint)
    })
}
