//! The command `agentnative schema [NAME]`.

use super::outcomes::Outcomes;
use super::{completions, contract, diff, explain, infer, init, list, skill, validate};
use crate::baseline::BaselineFile;
use crate::check::Locked;
use crate::report::{ErrorObject, ReportEvent, Reports};
use agentnative_contract::error::Result;
use agentnative_core::config::ConfigKey;
use agentnative_diff::interface::ProgramInterface;
use agentnative_outcome::RunOutcome;
use agentnative_output::Output;
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::{Value, json};

#[derive(clap::Args)]
#[command(after_help = "Examples:
  agentnative schema
  agentnative schema report
  agentnative schema config > agentnative-config.schema.json")]
pub(super) struct SchemaArgs {
    /// Schema of `output` (the document of any command with --output json), `report` (that of check),
    /// `events` (a line of check --output jsonl), `outcome` (data of outcome), `error` (the error on
    /// stderr), `baseline` (the file of check --baseline), `interface` (interface.json of a lock) or `config`
    /// (agentnative.toml, for editors).
    #[arg(value_enum, default_value = "output", hide_possible_values = true)]
    name: Name,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Name {
    /// The document of --output json, of every subcommand.
    Output,
    /// The document of `check --output json`.
    Report,
    /// A line of `check --output jsonl`.
    Events,
    /// The data of `outcome --output json`, and the line of `outcome --output jsonl`.
    Outcome,
    /// The error object on stderr.
    Error,
    /// The file of `check --baseline`.
    Baseline,
    /// The interface in a lock, `interface.json`.
    Interface,
    /// The configuration, `agentnative.toml`: for editors.
    Config,
}

/// The name of a subcommand, and the function that creates the schema of its `data`.
type DataSchema = (&'static str, fn(&mut SchemaGenerator) -> Schema);

const DATA: &[DataSchema] = &[
    ("check", |generator| generator.subschema_for::<Reports>()),
    ("list", |generator| generator.subschema_for::<Vec<list::Listed>>()),
    ("validate", |generator| generator.subschema_for::<validate::Validated>()),
    ("contract list", |generator| generator.subschema_for::<Vec<contract::ContractEntry>>()),
    ("contract show", |generator| generator.subschema_for::<contract::Shown>()),
    ("contract infer", |generator| generator.subschema_for::<infer::InferredSchema>()),
    ("contract lock", |generator| generator.subschema_for::<Locked>()),
    ("contract diff", |generator| generator.subschema_for::<diff::Diff>()),
    ("explain", |generator| generator.subschema_for::<explain::Explained>()),
    ("explain", |generator| generator.subschema_for::<Vec<ConfigKey>>()),
    ("init", |generator| generator.subschema_for::<init::Written>()),
    ("outcome", |generator| generator.subschema_for::<RunOutcome>()),
    ("outcome", |generator| generator.subschema_for::<Outcomes>()),
    ("skill install", |generator| generator.subschema_for::<skill::Installed>()),
    ("completions", |generator| generator.subschema_for::<completions::Completions>()),
    ("schema", |_| schemars::json_schema!({ "type": ["object", "boolean"] })),
];

pub(super) fn run(args: &SchemaArgs, output: &mut Output) -> Result<()> {
    let schema = match args.name {
        Name::Output => document_schema(DATA),
        Name::Report => document_schema(&DATA[..1]),
        Name::Events => root_schema::<ReportEvent>(),
        Name::Outcome => root_schema::<RunOutcome>(),
        Name::Error => root_schema::<ErrorObject>(),
        Name::Baseline => root_schema::<BaselineFile>(),
        Name::Interface => root_schema::<ProgramInterface>(),
        Name::Config => agentnative_core::config::schema(),
    };
    output.emit("schema", true, &schema, |page| page.verbatim(&format!("{schema:#}\n")))
}

fn generator() -> SchemaGenerator {
    SchemaSettings::draft2020_12().for_serialize().into_generator()
}

fn root_schema<T: JsonSchema>() -> Value {
    generator().into_root_schema_for::<T>().to_value()
}

/// Returns the schema of the document `{ok, command, data}` that any of these subcommands prints.
fn document_schema(data: &[DataSchema]) -> Value {
    let mut generator = generator();
    let of_command = |(command, data_schema): &DataSchema| {
        let data = data_schema(&mut generator).to_value();
        json!({ "properties": { "command": { "const": command }, "data": data } })
    };
    let branches: Vec<Value> = data.iter().map(of_command).collect();
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A document of agentnative",
        "type": "object",
        "required": ["ok", "command", "data"],
        "properties": {
            "ok": { "type": "boolean" },
            "command": { "type": "string" },
            "data": true
        },
        "additionalProperties": false,
        "oneOf": branches,
        "$defs": generator.take_definitions(true)
    })
}
