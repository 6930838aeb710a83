//! The schemas of the contracts of this program, generated from the Rust types, and the schemas that the two programs
//! print.
//!
//! `UPDATE=1 cargo test --test product contract_generated` rewrites them.

use crate::programs::program;
use agentnative::report::{Envelope, ReportEvent, Reports};
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};
use serde_json::{Map, Value, json};
use std::path::Path;
use std::process::Command;

fn schema_of<T: JsonSchema>(title: &str) -> Value {
    let mut schema: Schema =
        SchemaSettings::draft2020_12().for_serialize().into_generator().into_root_schema_for::<T>();
    schema.insert("title".to_owned(), title.into());
    schema.to_value()
}

/// Makes every object schema reject unknown keys.
fn reject_unknown_keys(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            if members.contains_key("properties") {
                // The keys of a referenced schema are known, too.
                let keyword = if members.contains_key("$ref") {
                    "unevaluatedProperties"
                } else {
                    "additionalProperties"
                };
                members.insert(keyword.to_owned(), false.into());
            }
            members.values_mut().for_each(reject_unknown_keys);
        }
        Value::Array(elements) => elements.iter_mut().for_each(reject_unknown_keys),
        _ => {}
    }
}

/// As [`reject_unknown_keys`], for a schema with events at `pointer`. An event has its tag next to a reference, so the
/// referenced schema has to accept other keys.
fn reject_unknown_keys_of_events(schema: &mut Value, pointer: &str) {
    let references = schema.pointer(pointer).unwrap().as_array().unwrap().iter();
    let referenced: Vec<String> = references
        .filter_map(|event| {
            Some(event.get("$ref")?.as_str().unwrap().trim_start_matches("#/$defs/").to_owned())
        })
        .collect();
    reject_unknown_keys(schema);
    let defs: &mut Map<String, Value> = schema["$defs"].as_object_mut().unwrap();
    for name in referenced {
        defs[&name].as_object_mut().unwrap().remove("additionalProperties");
    }
}

/// Compares a schema with its file, or rewrites the file.
fn assert_up_to_date(path: &str, schema: &Value) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    let text = serde_json::to_string_pretty(schema).unwrap() + "\n";
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&path, &text).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        written == text,
        "{} is stale: run `UPDATE=1 cargo test --test product contract_generated`",
        path.display()
    );
}

#[test]
fn the_schema_of_the_report_is_up_to_date() {
    let mut schema = schema_of::<Envelope<Reports>>("The report of agentnative check --output json");
    reject_unknown_keys(&mut schema);
    assert_up_to_date("contracts/agentnative-report/report.schema.json", &schema);
}

#[test]
fn the_schema_of_the_events_is_up_to_date() {
    let mut schema = schema_of::<ReportEvent>("An event of agentnative check --output jsonl");
    reject_unknown_keys_of_events(&mut schema, "/oneOf");
    assert_eq!(schema["oneOf"][3]["properties"]["type"], json!({"type": "string", "const": "summary"}));
    assert_up_to_date("contracts/agentnative-events/event.schema.json", &schema);
}

/// Returns the JSON that a program prints with these arguments.
fn printed(name: &str, args: &[&str]) -> Value {
    let output = Command::new(program(name)).args(args).output().unwrap();
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn the_contracts_of_the_reference_agent_are_up_to_date() {
    for (format, events, file) in [
        ("json", "/$defs/Step/oneOf", "contracts/reference-agent-run/run.schema.json"),
        ("jsonl", "/oneOf", "contracts/reference-agent-events/event.schema.json"),
    ] {
        let mut schema = printed("reference-agent", &["--output", format, "--json-schema"]);
        reject_unknown_keys_of_events(&mut schema, events);
        assert_up_to_date(file, &schema);
    }
}

#[test]
fn the_printed_schemas_are_in_the_repository() {
    assert_up_to_date("schemas/agentnative.schema.json", &printed("agentnative", &["schema"]));
    assert_up_to_date(
        "schemas/agentnative-config.schema.json",
        &printed("agentnative", &["schema", "config"]),
    );
    assert_up_to_date(
        "schemas/agentnative-interface.schema.json",
        &printed("agentnative", &["schema", "interface"]),
    );
    assert_up_to_date("schemas/reference-agent.schema.json", &printed("reference-agent", &["--json-schema"]));
}
