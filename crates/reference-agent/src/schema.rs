//! `--json-schema`: the JSON Schema of what would be printed.

use super::event::Event;
use super::protocols::Protocol;
use super::protocols::own::Data;
use agentnative_contract::Contract;
use agentnative_contract::error::{Error, Result};
use agentnative_output::{Envelope, Output, OutputFormat, pretty};
use schemars::SchemaGenerator;
use schemars::generate::SchemaSettings;
use serde_json::Value;

/// Prints it, and gives the exit code. In jsonl it is that of a line; text has none, so it gets json's.
pub fn print(protocol: &Protocol, format: OutputFormat, output: &mut Output) -> Result<u8> {
    let text = pretty(&schema(protocol, format)?)?;
    output.verbatim(text.as_bytes()).map(|()| 0)
}

fn schema(protocol: &Protocol, format: OutputFormat) -> Result<Value> {
    let schema = match (protocol.contract, format) {
        (Some(name), _) => return bundled(name),
        (None, OutputFormat::Jsonl) => written().into_root_schema_for::<Event>(),
        (None, _) => written().into_root_schema_for::<Envelope<Data>>(),
    };
    Ok(schema.to_value())
}

/// Makes schemas of what is written, not of what would be read.
fn written() -> SchemaGenerator {
    SchemaSettings::draft2020_12().for_serialize().into_generator()
}

/// The schema of a bundled contract: each that is spoken here has one file.
fn bundled(name: &str) -> Result<Value> {
    let mut files = Contract::bundled(name)?.schema_files().into_iter();
    let none = || Error::config(format!("the contract {name} has no schema"));
    files.next().map(|(_, schema)| schema).ok_or_else(none)
}
