//! The types, the schema that they generate and the bundled contract agree.

use super::{assistant, event, of, part, session, text, tool, with};
use crate::contract_examples::Examples;
use crate::mutants::mutants;
use agentnative_contract::Contract;
use agentnative_outcome::{Collector, OutcomeOptions, RunOutcome};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};

/// The schema that the program prints.
fn generated() -> Value {
    let mut program = assert_cmd::Command::cargo_bin("agentnative").unwrap();
    let output = program.args(["schema", "outcome"]).output().unwrap();
    assert!(output.status.success());
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The folder of the bundled contract.
fn contract() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("contracts/run-outcome")
}

fn document(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

fn documents(folder: &Path) -> Vec<(PathBuf, Value)> {
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let files = files.filter(|path| path.extension().is_some_and(|extension| extension == "json"));
    files.map(|path| (path.clone(), document(&path))).collect()
}

/// Outcomes that together have every member.
fn outcomes() -> Vec<Value> {
    let full = OutcomeOptions {
        full: true,
        exit_code: Some(1),
        initial_prompt: Some("p".into()),
        attempt: Some(2),
        ..OutcomeOptions::default()
    };
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
            json!({ "status": "completed", "input": { "filePath": "/a", "content": "x" }, "output": "o", "time": { "start": 1, "end": 2.5 } }),
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
    vec![of(&[]), with(full, &everything), with(OutcomeOptions::default(), &[])]
}

#[test]
fn outcomes_are_what_the_generated_schema_says() {
    let schema = generated();
    let validator = jsonschema::validator_for(&schema).unwrap();
    for outcome in outcomes() {
        assert!(validator.is_valid(&outcome), "{outcome:#}");
        let read: RunOutcome = serde_json::from_value(outcome.clone()).unwrap();
        assert_eq!(super::as_json(&read), outcome);
    }
    let all = &outcomes()[1];
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
            assert!(all.pointer(place).unwrap().get(member).is_some(), "{place}/{member} was never seen");
        }
    }
    assert!(!schema.to_string().contains("\"null\""), "what is not known is absent: {schema:#}");
}

#[test]
fn streams_that_keep_their_contract_are_read_without_a_warning() {
    for name in ["opencode-events", "opencode-run"] {
        let folder =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("contracts").join(name).join("examples/valid");
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let collector = Collector::new(OutcomeOptions::default());
            collector.read(fs::File::open(&path).unwrap(), "").unwrap();
            assert_eq!(collector.skipped(), Vec::<String>::new(), "{}", path.display());
            let error = collector.outcome().error.unwrap_or_default();
            let empty = fs::metadata(&path).unwrap().len() == 0;
            assert_eq!(error.starts_with("no known event"), empty, "{}: {error}", path.display());
        }
    }
}

#[test]
fn outcomes_are_what_the_contract_says() {
    let contract = contract();
    let validator = jsonschema::validator_for(&document(&contract.join("outcome.schema.json"))).unwrap();
    for outcome in outcomes() {
        assert!(validator.is_valid(&outcome), "{outcome:#}");
    }
}

#[test]
fn the_generated_schema_and_the_contract_agree_on_all_examples() {
    let contract = contract();
    let schema = generated();
    let ours = jsonschema::validator_for(&schema).unwrap();
    let theirs = jsonschema::validator_for(&document(&contract.join("outcome.schema.json"))).unwrap();
    for (path, example) in documents(&contract.join("examples/valid")) {
        assert!(ours.is_valid(&example) && theirs.is_valid(&example), "{}", path.display());
        let read: RunOutcome = serde_json::from_value(example.clone()).unwrap();
        assert!(theirs.is_valid(&super::as_json(&read)), "{}", path.display());
    }
    let examples = Examples::of("run-outcome");
    assert!(!examples.table("invalid").is_empty());
    for (name, _) in examples.table("invalid") {
        let example = serde_json::from_str(&examples.data("invalid", name).unwrap().text).unwrap();
        assert!(!ours.is_valid(&example) && !theirs.is_valid(&example), "{name}");
    }
    for mutant in mutants(&Contract::bundled("run-outcome").unwrap()) {
        assert!(!ours.is_valid(&mutant.record) && !theirs.is_valid(&mutant.record), "{mutant}");
    }
}
