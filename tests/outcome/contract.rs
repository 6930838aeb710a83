//! Agreement of the types, their generated schema and the bundled contract.

use super::{assistant, event, outcome_of, outcome_with, part, session, text, tool};
use crate::contract_examples::Examples;
use crate::mutants::mutants;
use agentnative_contract::Contract;
use agentnative_outcome::{Collector, Dialect, OutcomeOptions, RunOutcome};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};

/// The schema that the program prints.
fn generated_schema() -> Value {
    let mut program = assert_cmd::Command::cargo_bin("agentnative").unwrap();
    let output = program.args(["schema", "outcome"]).output().unwrap();
    assert!(output.status.success());
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The folder of the bundled contract.
fn contract_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("contracts/run-outcome")
}

fn read_document(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

fn read_documents(folder: &Path) -> Vec<(PathBuf, Value)> {
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let files = files.filter(|path| path.extension().is_some_and(|extension| extension == "json"));
    files.map(|path| (path.clone(), read_document(&path))).collect()
}

/// Outcomes that together contain all members.
fn outcomes() -> Vec<Value> {
    let full = OutcomeOptions {
        full: true,
        exit_code: Some(1),
        initial_prompt: Some("p".into()),
        attempt: Some(2),
        ..OutcomeOptions::default()
    };
    let declared = OutcomeOptions { dialect: Dialect::Pi, ..OutcomeOptions::default() };
    let stack = "E: m\n  at f (/a.ts:1:2)";
    let everything = [
        session("s"),
        assistant(
            "m",
            json!({ "time": { "created": 1, "completed": 2 }, "cost": 0.5, "tokens": { "input": 1, "output": 2 }, "modelID": "m", "providerID": "p" }),
        ),
        text("m", "t", "x"),
        tool(
            "c",
            "write",
            json!({ "status": "completed", "input": { "filePath": "/a", "content": "x" }, "output": "o", "metadata": { "exists": false }, "time": { "start": 1, "end": 2.5 } }),
        ),
        part(json!({ "id": "f", "sessionID": "s", "messageID": "m", "type": "step-finish", "cost": 0.5,
            "tokens": { "input": 1, "output": 2, "reasoning": 3, "cache": { "read": 4, "write": 5 } } })),
        event("permission.asked", json!({ "sessionID": "s", "id": "p", "permission": "x" })),
        part(json!({ "id": "s", "sessionID": "s", "messageID": "m", "type": "file", "url": "file:///a",
            "source": { "type": "file", "path": "/a", "text": { "value": "x", "start": 0, "end": 1 } } })),
        event(
            "session.error",
            json!({ "error": { "name": "E", "stack": stack,
            "data": { "message": "m", "statusCode": 500, "isRetryable": true } } }),
        ),
    ];
    let headless = outcome_with(OutcomeOptions::default(), &[text("m", "t", "x")]);
    vec![outcome_of(&[]), outcome_with(full, &everything), outcome_with(declared, &[]), headless]
}

#[test]
fn outcomes_are_valid_against_the_generated_schema() {
    let schema = generated_schema();
    let validator = jsonschema::validator_for(&schema).unwrap();
    for outcome in outcomes() {
        assert!(validator.is_valid(&outcome), "{outcome:#}");
        let read: RunOutcome = serde_json::from_value(outcome.clone()).unwrap();
        assert_eq!(super::as_json(&read), outcome);
    }
    let mut full_outcome = outcomes()[1].clone();
    full_outcome["incomplete"] = outcomes()[3]["incomplete"].clone();
    for (place, definition) in [
        ("", "/properties"),
        ("/artifacts/0", "/$defs/Artifact/properties"),
        ("/artifacts/0/source", "/$defs/ArtifactSource/properties"),
        ("/artifacts/0/source/text", "/$defs/SourceText/properties"),
        ("/error_details", "/$defs/ErrorDetails/properties"),
        ("/tool_calls/0", "/$defs/ToolCall/properties"),
        ("/metrics", "/$defs/Metrics/properties"),
        ("/metadata", "/$defs/Metadata/properties"),
    ] {
        for member in schema.pointer(definition).unwrap().as_object().unwrap().keys() {
            assert!(
                full_outcome.pointer(place).unwrap().get(member).is_some(),
                "{place}/{member} is missing"
            );
        }
    }
    assert!(!schema.to_string().contains("\"null\""), "unknown values are absent: {schema:#}");
}

#[test]
fn streams_that_meet_their_contract_are_read_without_warnings() {
    for name in ["opencode-events", "opencode-run"] {
        let folder =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("contracts").join(name).join("examples/valid");
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let collector = Collector::new(OutcomeOptions::default());
            collector.read(fs::File::open(&path).unwrap(), "").unwrap();
            assert_eq!(collector.line_warnings(), Vec::<String>::new(), "{}", path.display());
            let empty = fs::metadata(&path).unwrap().len() == 0;
            assert_eq!(collector.outcome().is_err(), empty, "{}", path.display());
        }
    }
}

#[test]
fn outcomes_meet_the_contract() {
    let contract = contract_folder();
    let validator = jsonschema::validator_for(&read_document(&contract.join("outcome.schema.json"))).unwrap();
    for outcome in outcomes() {
        assert!(validator.is_valid(&outcome), "{outcome:#}");
    }
}

#[test]
fn the_generated_schema_and_the_contract_agree_on_all_examples() {
    let contract = contract_folder();
    let schema = generated_schema();
    let generated = jsonschema::validator_for(&schema).unwrap();
    let bundled = jsonschema::validator_for(&read_document(&contract.join("outcome.schema.json"))).unwrap();
    for (path, example) in read_documents(&contract.join("examples/valid")) {
        assert!(generated.is_valid(&example) && bundled.is_valid(&example), "{}", path.display());
        let read: RunOutcome = serde_json::from_value(example.clone()).unwrap();
        assert!(bundled.is_valid(&super::as_json(&read)), "{}", path.display());
    }
    let examples = Examples::of("run-outcome");
    assert!(!examples.table("invalid").is_empty());
    for (name, _) in examples.table("invalid") {
        let example = serde_json::from_str(&examples.data("invalid", name).unwrap().text).unwrap();
        assert!(!generated.is_valid(&example) && !bundled.is_valid(&example), "{name}");
    }
    for mutant in mutants(&Contract::bundled("run-outcome").unwrap()) {
        assert!(!generated.is_valid(&mutant.record) && !bundled.is_valid(&mutant.record), "{mutant}");
    }
}
