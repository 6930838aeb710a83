//! `--json-schema`: the JSON Schema of what would be printed.

use super::speak::Contract;
use super::speak::own::{Data, Step};
use crate::error::{Error, Result};
use crate::output::{Output, OutputFormat};
use crate::report::Envelope;
use serde_json::Value;

/// Prints it, and gives the exit code. In jsonl it is that of a line; text has none, so it gets json's.
pub fn print(contract: Contract, format: OutputFormat, output: &mut Output) -> u8 {
    let printed = schema(contract, format).and_then(|schema| {
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

fn schema(contract: Contract, format: OutputFormat) -> Result<Value> {
    let schema = match (contract.name(), format) {
        (Some(name), _) => return bundled(name),
        (None, OutputFormat::Jsonl) => schemars::schema_for!(Step),
        (None, _) => schemars::schema_for!(Envelope<Data>),
    };
    Ok(schema.to_value())
}

/// The schema of a bundled contract.
fn bundled(name: &str) -> Result<Value> {
    Err(Error::general(format!("{name}: no schema")))
}
