//! `agentnative contract`

use super::complete;
use super::infer::{self, InferArgs};
use super::lock::{self, LockArgs};
use agentnative_contract::error::Result;
use agentnative_contract::{Contract, ContractSummary, Framing, names, outline};
use agentnative_core::run::RunnerOptions;
use agentnative_output::{Cell, Output, Page, Tone};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use std::path::Path;

#[derive(clap::Args)]
#[command(after_help = "Examples:
  agentnative contract list
  agentnative contract show dexter-flat
  agentnative contract diff --help")]
pub(super) struct ContractArgs {
    #[command(subcommand)]
    command: ContractCommand,
}

#[derive(clap::Subcommand)]
enum ContractCommand {
    /// List the bundled contracts.
    #[command(after_help = "Examples:\n  agentnative contract list --json")]
    List,
    /// Show a contract: shape, rules, exit codes, error channel.
    Show(ShowArgs),
    /// Compare two versions of an output: what changed and what breaks its consumers.
    Diff(super::diff::DiffArgs),
    /// Infer a JSON Schema from sample documents or JSON Lines.
    Infer(InferArgs),
    /// Lock the output of the declared probes, or compare it with the lock.
    Lock(Box<LockArgs>),
}

#[derive(clap::Args)]
#[command(after_help = "Examples:
  agentnative contract show dexter-flat
  agentnative contract show codex-exec@0.42
  agentnative contract show ./list.schema.json --schema")]
struct ShowArgs {
    /// Bundled contract, contract folder or schema file (a path has a `/` or ends in .json), or one of its
    /// versions: NAME@VERSION.
    #[arg(add = complete::contracts())]
    name: String,
    /// Show its JSON Schema.
    #[arg(long)]
    schema: bool,
}

/// A contract in the list.
#[derive(Serialize, JsonSchema)]
pub(super) struct ContractEntry {
    /// Its name.
    name: String,
    /// Framing of the data on a stream.
    framing: Framing,
    /// What it is, in a line.
    title: String,
}

/// What a contract says, with its schemas by file.
#[derive(Serialize, JsonSchema)]
pub(super) struct Shown {
    /// What it says.
    contract: ContractSummary,
    /// Its schema files.
    schemas: serde_json::Map<String, Value>,
}

pub(super) fn run(args: &ContractArgs, output: &mut Output, runner: &RunnerOptions) -> Result<u8> {
    match &args.command {
        ContractCommand::List => list(output),
        ContractCommand::Show(args) => show(args, output),
        ContractCommand::Diff(args) => super::diff::run(args, output, runner),
        ContractCommand::Infer(args) => infer::run(args, output),
        ContractCommand::Lock(args) => lock::run(args, output, runner),
    }
}

fn list(output: &mut Output) -> Result<u8> {
    let mut entries = Vec::new();
    for name in names() {
        let contract = Contract::bundled(name)?;
        let title = contract.title().to_owned();
        entries.push(ContractEntry { name: name.to_owned(), framing: contract.framing(), title });
    }
    let row = |entry: &ContractEntry| {
        vec![
            Cell::new(Tone::Strong, &entry.name),
            Cell::new(Tone::Dim, entry.framing.name()),
            Cell::new(Tone::Plain, &entry.title),
        ]
    };
    output.emit_records("contract list", true, &entries, &entries, |page| {
        page.table(0, &entries.iter().map(row).collect::<Vec<_>>());
    })?;
    Ok(0)
}

fn show(args: &ShowArgs, output: &mut Output) -> Result<u8> {
    let contract = Contract::named(Path::new(""), &args.name)?;
    let shown =
        Shown { contract: contract.summary(), schemas: contract.schema_files().into_iter().collect() };
    if args.schema {
        output.emit("contract show", true, &shown.schemas, |page| {
            // One schema is printed as it is; of several each is under its name.
            page.text(&match shown.schemas.values().collect::<Vec<_>>()[..] {
                [only] => format!("{only:#}\n"),
                _ => format!("{:#}\n", Value::Object(shown.schemas.clone())),
            });
        })?;
    } else {
        output.emit("contract show", true, &shown, |page| show_page(&shown, page))?;
    }
    Ok(0)
}

fn show_page(shown: &Shown, page: &mut Page) {
    let about = &shown.contract;
    let plain = |text: &str| Cell::new(Tone::Plain, text);
    page.line(0, &[Cell::new(Tone::Strong, &about.name), plain(": "), plain(&about.title)]);
    let row = |(name, text): (&str, String)| vec![Cell::new(Tone::Dim, name), plain(&text)];
    page.table(2, &about.facts().into_iter().map(row).collect::<Vec<_>>());
    for (file, schema) in &shown.schemas {
        heading(page, &format!("Shape ({file})"));
        for line in outline(schema) {
            page.line(
                2 + 2 * line.depth,
                &[Cell::new(Tone::Strong, line.name), plain(" "), plain(&line.what)],
            );
        }
    }
    if !about.rules.is_empty() {
        heading(page, "Rules");
    }
    for rule in &about.rules {
        page.line(2, &[Cell::new(Tone::Strong, &rule.id), plain(": "), plain(&rule.what)]);
        for detail in &rule.detail {
            page.line(6, &[Cell::new(Tone::Dim, detail)]);
        }
    }
    if !about.conditions.is_empty() {
        heading(page, "Exit codes");
    }
    for condition in &about.conditions {
        let meaning = format!(" {}", condition.meaning());
        page.line(2, &[Cell::new(Tone::Strong, condition.codes()), plain(&meaning)]);
        page.line(6, &[Cell::new(Tone::Dim, condition.data())]);
    }
    if !about.versions.is_empty() {
        heading(page, "Versions");
    }
    for version in &about.versions {
        let is_shown = version.version == about.version;
        let shown = if is_shown { " (shown here)" } else { "" };
        page.line(
            2,
            &[Cell::new(Tone::Strong, &version.version), plain(&format!(": {}{shown}", version.range))],
        );
        if let Some(drift) = &version.drift {
            page.paragraph(6, drift);
        }
    }
    if !about.findings.is_empty() {
        heading(page, "Findings");
    }
    for finding in &about.findings {
        page.line(2, &[plain("- "), plain(finding)]);
    }
}

fn heading(page: &mut Page, title: &str) {
    page.blank();
    page.line(0, &[Cell::new(Tone::Strong, title)]);
}
