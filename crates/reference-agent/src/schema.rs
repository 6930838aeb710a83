//! `--json-schema`: prints the JSON Schema of the output.

use super::event::AgentEvent;
use super::protocols::Protocol;
use super::protocols::native::Data;
use agentnative_contract::Contract;
use agentnative_contract::error::{Error, Result};
use agentnative_output::{Envelope, Output, OutputFormat, pretty};
use schemars::SchemaGenerator;
use schemars::generate::SchemaSettings;
use serde_json::Value;

/// Prints the JSON Schema of the output: of a line for jsonl, otherwise of the json document. Returns the exit code.
pub fn print(protocol: &Protocol, format: OutputFormat, output: &mut Output) -> Result<u8> {
    let text = pretty(&schema(protocol, format)?)?;
    output.write_unchanged(text.as_bytes()).map(|()| 0)
}

fn schema(protocol: &Protocol, format: OutputFormat) -> Result<Value> {
    let schema = match (protocol.contract, format) {
        (Some(name), _) => return bundled_schema(name),
        (None, OutputFormat::Jsonl) => serialize_generator().into_root_schema_for::<AgentEvent>(),
        (None, _) => serialize_generator().into_root_schema_for::<Envelope<Data>>(),
    };
    Ok(schema.to_value())
}

/// Creates a generator for schemas that describe values as they are serialized. The schemas for deserialization can
/// differ.
fn serialize_generator() -> SchemaGenerator {
    SchemaSettings::draft2020_12().for_serialize().into_generator()
}

/// Returns the JSON Schema of a bundled contract. Each contract that the agent implements has exactly one.
fn bundled_schema(name: &str) -> Result<Value> {
    let mut files = Contract::bundled(name)?.schema_files().into_iter();
    let none = || Error::config(format!("the contract {name} has no schema"));
    files.next().map(|(_, schema)| schema).ok_or_else(none)
}
