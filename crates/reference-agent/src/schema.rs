//! `--json-schema`: the JSON Schema of what would be printed.

use super::protocols::Protocol;
use super::protocols::own::{Data, Step};
use agentnative_contract::Contract;
use agentnative_contract::error::{Error, Result};
use agentnative_output::{Envelope, Output, OutputFormat};
use serde_json::Value;

/// Prints it, and gives the exit code. In jsonl it is that of a line; text has none, so it gets json's.
pub fn print(protocol: &Protocol, format: OutputFormat, output: &mut Output) -> u8 {
    let printed = schema(protocol, format).and_then(|schema| {
        let text = serde_json::to_string_pretty(&schema)
            .map_err(|error| Error::general(format!("cannot write the schema: {error}")))?;
        output.verbatim(format!("{text}\n").as_bytes())
    });
    match printed {
        Ok(()) => 0,
        Err(error) => {
            output.error(&error);
            error.kind.exit_code()
        }
    }
}

fn schema(protocol: &Protocol, format: OutputFormat) -> Result<Value> {
    let schema = match (protocol.contract, format) {
        (Some(name), _) => return bundled(name),
        (None, OutputFormat::Jsonl) => schemars::schema_for!(Step),
        (None, _) => schemars::schema_for!(Envelope<Data>),
    };
    Ok(schema.to_value())
}

/// The schema of a bundled contract: each that is spoken here has one file.
fn bundled(name: &str) -> Result<Value> {
    let mut files = Contract::bundled(name)?.schema_files().into_iter();
    let none = || Error::config(format!("the contract {name} has no schema"));
    files.next().map(|(_, schema)| schema).ok_or_else(none)
}
