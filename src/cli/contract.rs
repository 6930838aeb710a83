//! The command `agentnative contract`.

use super::complete;
use super::infer::{self, InferArgs};
use super::lock::{self, LockArgs};
use agentnative_contract::error::Result;
use agentnative_contract::{Contract, ContractSummary, Framing, bundled_names, outline};
use agentnative_core::run::RunnerOptions;
use agentnative_output::{Output, Page, Row, StyledText};
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
    /// Compare two versions of an output or interface: what changed and what breaks its consumers.
    Diff(super::diff::DiffArgs),
    /// Infer a JSON Schema from sample documents or JSON Lines.
    Infer(InferArgs),
    /// Lock the interface and the output of the declared probes, or compare them with the lock.
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
    /// Name of the contract.
    name: String,
    /// Framing of the data on a stream.
    framing: Framing,
    /// Title of the contract.
    title: String,
}

/// A contract with its schemas by file.
#[derive(Serialize, JsonSchema)]
pub(super) struct Shown {
    /// Summary of the contract.
    contract: ContractSummary,
    /// The schema files of the contract, by file name.
    schemas: serde_json::Map<String, Value>,
}

pub(super) fn run(args: &ContractArgs, output: &mut Output, runner: &RunnerOptions) -> Result<u8> {
    match &args.command {
        ContractCommand::List => list(output).map(|()| 0),
        ContractCommand::Show(args) => show(args, output).map(|()| 0),
        ContractCommand::Diff(args) => super::diff::run(args, output, runner),
        ContractCommand::Infer(args) => infer::run(args, output).map(|()| 0),
        ContractCommand::Lock(args) => lock::run(args, output, runner),
    }
}

fn list(output: &mut Output) -> Result<()> {
    let entry = |name: &str| {
        let contract = Contract::bundled(name)?;
        let title = contract.title().to_owned();
        Ok(ContractEntry { name: name.to_owned(), framing: contract.framing(), title })
    };
    output.rows("contract list", &bundled_names().map(entry).collect::<Result<Vec<_>>>()?)
}

impl Row for ContractEntry {
    fn cells(&self) -> Vec<StyledText> {
        vec![
            StyledText::strong(&self.name),
            StyledText::dim(self.framing.name()),
            StyledText::plain(&self.title),
        ]
    }
}

fn show(args: &ShowArgs, output: &mut Output) -> Result<()> {
    let contract = Contract::by_name(Path::new(""), &args.name)?;
    let shown =
        Shown { contract: contract.summary(), schemas: contract.schema_files().into_iter().collect() };
    if !args.schema {
        return output.emit("contract show", true, &shown, |page| show_page(&shown, page));
    }
    output.emit("contract show", true, &shown.schemas, |page| {
        // A single schema is printed as it is; several are printed by name.
        page.text(&match shown.schemas.values().collect::<Vec<_>>()[..] {
            [only] => format!("{only:#}\n"),
            _ => format!("{:#}\n", Value::Object(shown.schemas.clone())),
        });
    })
}

fn show_page(shown: &Shown, page: &mut Page) {
    let about = &shown.contract;
    page.line(0, &[StyledText::strong(&about.name), StyledText::plain(format!(": {}", about.title))]);
    page.table(
        2,
        about.facts().into_iter().map(|(name, text)| vec![StyledText::dim(name), StyledText::plain(text)]),
    );
    for (file, schema) in &shown.schemas {
        page.heading(&format!("Shape ({file})"));
        for line in outline(schema) {
            let what = StyledText::plain(format!(" {}", line.what));
            page.line(2 + 2 * line.depth, &[StyledText::strong(line.name), what]);
        }
    }
    section(page, "Rules", &about.rules, |page, rule| {
        page.line(2, &[StyledText::strong(&rule.id), StyledText::plain(format!(": {}", rule.what))]);
        rule.detail.iter().for_each(|detail| page.line(6, &[StyledText::dim(detail)]));
    });
    section(page, "Exit codes", &about.conditions, |page, condition| {
        let meaning = StyledText::plain(format!(" {}", condition.meaning()));
        page.line(2, &[StyledText::strong(condition.codes()), meaning]);
        page.line(6, &[StyledText::dim(condition.describe_streams())]);
    });
    section(page, "Versions", &about.versions, |page, version| {
        let shown = if version.version == about.version { " (shown here)" } else { "" };
        let range = StyledText::plain(format!(": {}{shown}", version.range));
        page.line(2, &[StyledText::strong(&version.version), range]);
        version.drift.iter().for_each(|drift| page.paragraph(6, drift));
    });
    section(page, "Findings", &about.findings, |page, finding| {
        page.line(2, &[StyledText::plain(format!("- {finding}"))]);
    });
}

/// Shows items under a heading, if there are any.
fn section<T>(page: &mut Page, title: &str, items: &[T], show: impl Fn(&mut Page, &T)) {
    if !items.is_empty() {
        page.heading(title);
    }
    items.iter().for_each(|item| show(page, item));
}
