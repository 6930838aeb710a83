//! `agentnative contract`

use super::contract_tree::tree;
use super::infer::{self, InferArgs};
use super::lock::{self, LockArgs};
use agentnative_contract::error::Result;
use agentnative_contract::{About, Contract, Framing, names};
use agentnative_output::{Cell, Output, OutputFormat, Page, Tone};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use std::path::Path;

#[derive(clap::Args)]
pub(super) struct ContractArgs {
    #[command(subcommand)]
    command: ContractCommand,
}

#[derive(clap::Subcommand)]
enum ContractCommand {
    /// List the bundled contracts.
    List,
    /// Show what a contract says: shape, rules, exit codes, channel, findings.
    Show(ShowArgs),
    /// Tell what changed between two versions of an output, and whom it breaks.
    Diff(super::diff::DiffArgs),
    /// Infer a JSON Schema from sample documents or JSON lines.
    Infer(InferArgs),
    /// Lock what the declared probes promise, and compare with it.
    Lock(Box<LockArgs>),
}

#[derive(clap::Args)]
struct ShowArgs {
    /// Name of a bundled contract, or path of a contract folder or schema file (with a `/`, or ending in .json).
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
    /// How data is put on a stream.
    framing: Framing,
    /// What it is, in a line.
    title: String,
}

/// What a contract says, with its schemas by file.
#[derive(Serialize, JsonSchema)]
pub(super) struct Shown {
    /// What it says.
    contract: About,
    /// Its schema files.
    schemas: serde_json::Map<String, Value>,
}

pub(super) fn run(args: &ContractArgs, output: &mut Output) -> Result<u8> {
    match &args.command {
        ContractCommand::List => list(output)?,
        ContractCommand::Show(args) => show(args, output)?,
        ContractCommand::Diff(args) => return super::diff::run(args, output),
        ContractCommand::Infer(args) => infer::run(args, output)?,
        ContractCommand::Lock(args) => return lock::run(args, output),
    }
    Ok(0)
}

fn list(output: &mut Output) -> Result<()> {
    let mut entries = Vec::new();
    for name in names() {
        let contract = Contract::bundled(name)?;
        let title = contract.title().to_owned();
        entries.push(ContractEntry { name: name.to_owned(), framing: contract.framing(), title });
    }
    match output.config().format {
        OutputFormat::Text => {
            let row = |entry: &ContractEntry| {
                vec![
                    Cell::new(Tone::Strong, &entry.name),
                    Cell::new(Tone::Dim, entry.framing.name()),
                    Cell::new(Tone::Plain, &entry.title),
                ]
            };
            let rows: Vec<Vec<Cell>> = entries.iter().map(row).collect();
            let mut page = Page::new(output.config());
            page.table(0, &rows);
            output.text(&page.finish())
        }
        OutputFormat::Json => output.document("contract list", true, &entries),
        OutputFormat::Jsonl => entries.iter().try_for_each(|entry| output.record(entry)),
    }
}

fn show(args: &ShowArgs, output: &mut Output) -> Result<()> {
    let contract = Contract::named(Path::new(""), &args.name)?;
    let files = contract.schema_files();
    if args.schema && output.config().format == OutputFormat::Text {
        // One schema is printed as it is; of several each is under its name.
        let schema = match files.as_slice() {
            [(_, only)] => only.clone(),
            _ => Value::Object(files.into_iter().collect()),
        };
        return output.text(&format!("{schema:#}\n"));
    }
    let shown = Shown { contract: contract.about(), schemas: files.into_iter().collect() };
    match (output.config().format, args.schema) {
        (OutputFormat::Text, _) => output.text(&text(&shown, output)),
        (OutputFormat::Json, true) => output.document("contract show", true, &shown.schemas),
        (OutputFormat::Json, false) => output.document("contract show", true, &shown),
        (OutputFormat::Jsonl, true) => output.record(&shown.schemas),
        (OutputFormat::Jsonl, false) => output.record(&shown),
    }
}

fn text(shown: &Shown, output: &Output) -> String {
    let about = &shown.contract;
    let mut page = Page::new(output.config());
    let plain = |text: &str| Cell::new(Tone::Plain, text);
    page.line(0, &[Cell::new(Tone::Strong, &about.name), plain(": "), plain(&about.title)]);
    let mut facts = vec![("framing", about.framing.name().to_owned())];
    if !about.version.is_empty() {
        facts.push(("version", about.version.clone()));
        facts.push(("origin", about.origin.clone()));
    }
    facts.extend(about.ask.as_ref().map(|ask| ("asked for with", ask.join(" "))));
    let stream =
        |stream| if stream == crate::report::Stream::Stdout { "standard output" } else { "standard error" };
    facts.extend(about.errors.map(|errors| ("errors on", stream(errors).to_owned())));
    if let Some(allowed) = about.unknown_types_allowed {
        let meaning = if allowed { "let through and counted" } else { "rejected" };
        facts.push(("unknown types", meaning.to_owned()));
    }
    let rows: Vec<Vec<Cell>> =
        facts.iter().map(|(name, text)| vec![Cell::new(Tone::Dim, name), plain(text)]).collect();
    page.table(2, &rows);
    for (file, schema) in &shown.schemas {
        heading(&mut page, &format!("Shape ({file})"));
        for line in tree(schema) {
            page.line(
                2 + 2 * line.depth,
                &[Cell::new(Tone::Strong, line.name), plain(" "), plain(&line.what)],
            );
        }
    }
    if !about.rules.is_empty() {
        heading(&mut page, "Rules");
    }
    for rule in &about.rules {
        page.line(2, &[Cell::new(Tone::Strong, &rule.id), plain(": "), plain(&rule.what)]);
        for detail in &rule.detail {
            page.line(6, &[Cell::new(Tone::Dim, detail)]);
        }
    }
    if !about.conditions.is_empty() {
        heading(&mut page, "Exit codes");
    }
    for condition in &about.conditions {
        let codes: Vec<String> = condition.exit.iter().map(ToString::to_string).collect();
        let declared = if condition.declared { ", if the run is said to be so" } else { "" };
        let head = format!(" {}{declared}: {}", condition.name, condition.what);
        page.line(2, &[Cell::new(Tone::Strong, codes.join(", ")), plain(&head)]);
        let stdout = format!("standard output: {}", condition.stdout.name());
        let some = condition.some.iter().map(|some| format!("with {some}"));
        let none = condition.none.iter().map(|none| format!("without {none}"));
        let all: Vec<String> = std::iter::once(stdout).chain(some).chain(none).collect();
        page.line(6, &[Cell::new(Tone::Dim, all.join(", "))]);
    }
    if !about.findings.is_empty() {
        heading(&mut page, "Findings");
    }
    for finding in &about.findings {
        page.line(2, &[plain("- "), plain(finding)]);
    }
    page.finish()
}

fn heading(page: &mut Page, title: &str) {
    page.blank();
    page.line(0, &[Cell::new(Tone::Strong, title)]);
}
