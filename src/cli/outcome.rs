//! The command `agentnative outcome [FILE|-]...`.

use super::data_files_args::DataFilesArgs;
use super::outcome_words::{duration, facts, unrecognised, verdict};
use super::outcomes;
use crate::follow::{Follow, stop_signal};
use agentnative_contract::DataFile;
use agentnative_contract::error::{Error, Result};
use agentnative_outcome::{CallStatus, Collector, Dialect, Operation, OutcomeOptions, RunOutcome, ToolCall};
use agentnative_output::{Output, OutputFormat, Page, StyledText, Tone, whole_number};
use clap::ValueEnum;
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

/// Maximum number of tool calls that are listed in text; the JSON formats list all.
const MAX_ROWS: usize = 20;

#[derive(clap::Args)]
#[command(
    after_help = "The exit code is 0 for the outcome of a failed run as well: read `success`. A stream of no known
agent is an error with exit code 1.

Examples:
  agentnative outcome run.jsonl
  agentnative outcome --from opencode --exit-code 1 --json run.jsonl
  agentnative outcome --from opencode --format atif run.jsonl > trajectory.json
  agentnative outcome --each run.jsonl"
)]
pub(super) struct OutcomeArgs {
    #[command(flatten)]
    data: DataFilesArgs,
    /// Summarize each file as a separate run; a folder or --files-from implies it. Otherwise, several files are one
    /// run, in this order.
    #[arg(long)]
    each: bool,
    /// Number of threads for --each [default: the number of processors, at most 8].
    #[arg(long, value_name = "N", value_parser = whole_number::<u8>(1..=64))]
    jobs: Option<u8>,
    #[arg(long, value_enum, default_value = "auto", value_name = "STREAM", hide_possible_values = true, help = from_help())]
    from: Dialect,
    /// Stderr of the agent, text and events; read after the other files.
    #[arg(long, value_name = "FILE")]
    stderr: Option<PathBuf>,
    /// Exit code of the agent; with any code other than 0, the run has failed.
    #[arg(long, value_name = "N", value_parser = whole_number::<i32>(..), allow_negative_numbers = true)]
    exit_code: Option<i32>,
    /// Keep the inputs and outputs of tool calls.
    #[arg(long)]
    full: bool,
    /// Document to print: outcome, or atif, the steps of the run in harbor's Agent Trajectory Interchange
    /// Format, as the only output on stdout. ATIF implies --full and keeps each step: memory grows with the run.
    #[arg(long, value_enum, default_value = "outcome", value_name = "FORMAT", hide_possible_values = true)]
    format: Format,
    /// Prompt of the run, for the metadata.
    #[arg(long, value_name = "TEXT")]
    initial_prompt: Option<String>,
    /// Number of the attempt, from 1, for the metadata.
    #[arg(long, value_name = "N", value_parser = whole_number::<u32>(1..))]
    attempt: Option<u32>,
    /// Keep reading the last file as it grows, until SIGINT; jsonl prints an outcome per change.
    #[arg(long)]
    follow: bool,
}

/// The document that is printed.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// The outcome, in the output format.
    Outcome,
    /// The trajectory, as JSON.
    Atif,
}

/// Returns the help of `--from`, which names all agents.
fn from_help() -> String {
    let agents = Dialect::value_variants().iter().filter(|dialect| **dialect != Dialect::Auto);
    let names: Vec<_> =
        agents.filter_map(|dialect| Some(dialect.to_possible_value()?.get_name().to_owned())).collect();
    format!("Agent that printed the output: {}, or auto, which recognises them.", names.join(", "))
}

pub(super) fn run(args: OutcomeArgs, output: &mut Output) -> Result<()> {
    let atif = args.format == Format::Atif;
    let each = args.each || args.data.may_be_many();
    let single_run_options = [
        ("--stderr", args.stderr.is_some()),
        ("--exit-code", args.exit_code.is_some()),
        ("--format atif", atif),
        ("--initial-prompt", args.initial_prompt.is_some()),
        ("--attempt", args.attempt.is_some()),
        ("--follow", args.follow),
    ];
    if let Some((option, _)) = single_run_options.into_iter().find(|(_, given)| each && *given) {
        return Err(Error::usage(format!("{option} applies to one run; found several")));
    }
    let options = OutcomeOptions {
        dialect: args.from,
        full: args.full || atif,
        steps: atif,
        exit_code: args.exit_code,
        initial_prompt: args.initial_prompt,
        attempt: args.attempt,
    };
    if each {
        return outcomes::run(args.data.paths()?, args.jobs, &options, output);
    }
    let collector = Collector::new(options);
    let files = args.data.files();
    let named = files.len() > 1 || args.stderr.is_some();
    let (last, others) = files.split_last().expect("there is at least standard input");
    for file in others {
        read(&collector, file, named)?;
    }
    let mut printed = None;
    if args.follow {
        let jsonl = output.config().format == OutputFormat::Jsonl && !atif;
        let before_waiting = || {
            // Before the first known event, there is no outcome.
            let outcome = collector.outcome().ok().filter(|_| jsonl);
            if let Some(outcome) = outcome.filter(|outcome| printed.as_ref() != Some(outcome)) {
                // An error closes the output, which ends the reading.
                let _ = output.record(&outcome);
                printed = Some(outcome);
            }
            !output.is_closed()
        };
        let source = Follow { source: open_growing(last)?, stop: stop_signal()?, before_waiting };
        collector
            .read(source, &name_in_warnings(last, named))
            .map_err(|error| Error::data_file(last, &error))?;
    } else {
        read(&collector, last, named)?;
    }
    if let Some(stderr) = &args.stderr {
        collector
            .read_stderr(DataFile::open(stderr)?.reader)
            .map_err(|error| Error::data_file(stderr, &error))?;
    }
    let skipped = collector.line_warnings();
    skipped.iter().for_each(|warning| output.diagnostic(&format!("warning: {warning}")));
    if atif {
        let trajectory = collector.atif().map_err(|error| unrecognised(&error))?;
        let document = match output.config().format {
            OutputFormat::Jsonl => agentnative_output::to_string(&trajectory)?,
            OutputFormat::Text | OutputFormat::Json => agentnative_output::pretty(&trajectory)?,
        };
        return output.write_for_tools(&document);
    }
    let outcome = collector.outcome().map_err(|error| unrecognised(&error))?;
    // The last change was already printed.
    let record = (printed.as_ref() != Some(&outcome)).then_some(&outcome);
    output.emit_records("outcome", true, &outcome, record, |page| show(&outcome, skipped.len(), page))
}

fn read(collector: &Collector, file: &Path, named: bool) -> Result<()> {
    let reader = DataFile::open(file)?.reader;
    collector.read(reader, &name_in_warnings(file, named)).map_err(|error| Error::data_file(file, &error))
}

/// Opens a growing file without decompression; `-` is stdin.
fn open_growing(file: &Path) -> Result<File> {
    let opened = if file.as_os_str() == OsStr::new("-") {
        io::stdin().as_fd().try_clone_to_owned().map(File::from)
    } else {
        File::open(file)
    };
    opened.map_err(|error| Error::data_file(file, &error))
}

/// Returns the name by which warnings refer to a file; empty if `named` is false, since there is only one file.
fn name_in_warnings(file: &Path, named: bool) -> String {
    if named { file.display().to_string() } else { String::new() }
}

/// Shows the outcome as text, without the last `shown` warnings: these concern single lines and were printed before.
fn show(outcome: &RunOutcome, shown: usize, page: &mut Page) {
    let (word, tone) = verdict(outcome);
    match &outcome.error {
        Some(error) => page.labelled(0, &StyledText::new(tone, format!("{word}: ")), error),
        None => page.line(0, &[StyledText::new(tone, word)]),
    }
    if outcome.incomplete {
        page.line(0, &[StyledText::new(Tone::Warn, "incomplete: the beginning of the stream is missing")]);
    }
    let facts = facts(outcome);
    if !facts.is_empty() {
        page.line(0, &[StyledText::dim(facts.join(" · "))]);
    }
    if let Some(message) = &outcome.message {
        page.heading("Message");
        page.paragraph(2, message);
    }
    if !outcome.tool_calls.is_empty() {
        page.heading(&format!("Tools ({})", outcome.tool_calls.len()));
        page.table(2, outcome.tool_calls.iter().take(MAX_ROWS).map(tool_row));
        if let Some(more) = outcome.tool_calls.len().checked_sub(MAX_ROWS).filter(|more| *more > 0) {
            page.line(2, &[StyledText::dim(format!("and {more} more"))]);
        }
    }
    if !outcome.artifacts.is_empty() {
        page.heading(&format!("Files ({})", outcome.artifacts.len()));
        let row = |artifact: &agentnative_outcome::Artifact| {
            let (word, tone) = match artifact.operation {
                Some(Operation::Created) => ("created", Tone::Success),
                Some(Operation::Modified) => ("modified", Tone::Warn),
                Some(Operation::Deleted) => ("deleted", Tone::Error),
                None => ("changed", Tone::Warn),
            };
            let size = artifact.size.map_or_else(String::new, |size| format!("{size} B"));
            vec![StyledText::new(tone, word), StyledText::dim(size), StyledText::plain(&artifact.path)]
        };
        page.table(2, outcome.artifacts.iter().map(row));
    }
    let warnings = &outcome.warnings[..outcome.warnings.len().saturating_sub(shown)];
    if !warnings.is_empty() {
        page.heading("Warnings");
        for warning in warnings {
            page.paragraph(2, warning);
        }
    }
}

fn tool_row(call: &ToolCall) -> Vec<StyledText> {
    let (word, tone) = match call.status {
        CallStatus::Completed => ("completed", Tone::Success),
        CallStatus::Error => ("error", Tone::Error),
        CallStatus::Cancelled => ("cancelled", Tone::Warn),
    };
    let time = call.duration_ms.map_or_else(String::new, duration);
    vec![StyledText::plain(&call.name), StyledText::new(tone, word), StyledText::dim(time)]
}
