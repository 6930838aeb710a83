//! The schemas of this program's own contracts are made from the Rust types, and so is the file of what
//! the two programs print.
//!
//! `UPDATE=1 cargo test --test product contract_generated` writes them anew.

use crate::programs::program;
use agentnative::report::{Envelope, Event, Reports};
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

/// Takes no keys beyond those of the types.
fn close(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            if members.contains_key("properties") {
                // Beside a reference its keys count, too.
                let keyword = if members.contains_key("$ref") {
                    "unevaluatedProperties"
                } else {
                    "additionalProperties"
                };
                members.insert(keyword.to_owned(), false.into());
            }
            members.values_mut().for_each(close);
        }
        Value::Array(elements) => elements.iter_mut().for_each(close),
        _ => {}
    }
}

/// Closes a schema with events at this place: a tag stands beside a reference to the rest, which must stay
/// open for it.
fn close_events(schema: &mut Value, place: &str) {
    let references = schema.pointer(place).unwrap().as_array().unwrap().iter();
    let open: Vec<String> = references
        .filter_map(|event| {
            Some(event.get("$ref")?.as_str().unwrap().trim_start_matches("#/$defs/").to_owned())
        })
        .collect();
    close(schema);
    let defs: &mut Map<String, Value> = schema["$defs"].as_object_mut().unwrap();
    for name in open {
        defs[&name].as_object_mut().unwrap().remove("additionalProperties");
    }
}

fn check(path: &str, schema: &Value) {
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
fn the_report_is_fresh() {
    let mut schema = schema_of::<Envelope<Reports>>("The report of agentnative check --output json");
    close(&mut schema);
    check("contracts/agentnative-report/report.schema.json", &schema);
}

#[test]
fn the_events_are_fresh() {
    let mut schema = schema_of::<Event>("An event of agentnative check --output jsonl");
    close_events(&mut schema, "/oneOf");
    assert_eq!(schema["oneOf"][3]["properties"]["type"], json!({"type": "string", "const": "summary"}));
    check("contracts/agentnative-events/event.schema.json", &schema);
}

/// What a program prints with these arguments.
fn printed(name: &str, args: &[&str]) -> Value {
    let output = Command::new(program(name)).args(args).output().unwrap();
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn the_contracts_of_the_reference_agent_are_fresh() {
    for (format, events, file) in [
        ("json", "/$defs/Step/oneOf", "contracts/reference-agent-run/run.schema.json"),
        ("jsonl", "/oneOf", "contracts/reference-agent-events/event.schema.json"),
    ] {
        let mut schema = printed("reference-agent", &["--output", format, "--json-schema"]);
        close_events(&mut schema, events);
        check(file, &schema);
    }
}

#[test]
fn the_schemas_that_are_printed_are_in_the_repository() {
    check("schemas/agentnative.schema.json", &printed("agentnative", &["schema"]));
    check("schemas/agentnative-config.schema.json", &printed("agentnative", &["schema", "config"]));
    check("schemas/reference-agent.schema.json", &printed("reference-agent", &["--json-schema"]));
}
