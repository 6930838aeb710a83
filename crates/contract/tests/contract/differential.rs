//! Differential tests against the validation of values in memory, by this crate and by the jsonschema crate: on the
//! JSON Schema Test Suite, on the contracts' examples and on generated values.

use crate::contract_examples::Examples;
use crate::documents::{schema, value};
use crate::mutants::mutants;
use agentnative_contract::{
    Contract, Framing, RunExit, Schema, Settings, Validation, Violation, bundled_names,
};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

/// Returns the violations that the streaming validation finds.
fn streamed(contract: &Contract, framing: Framing, bytes: &[u8], threads: usize) -> Vec<Violation> {
    let settings = Settings { framing, max_errors: 10_000, exit: RunExit::default(), threads };
    Validation::new(contract, settings).validate(bytes, &mut |_| ()).unwrap().errors
}

/// Returns pointer, keyword and message of each violation, sorted.
fn sorted(found: Vec<Violation>) -> Vec<(String, Option<String>, String)> {
    let mut all: Vec<_> =
        found.into_iter().map(|found| (found.pointer, found.keyword, found.message)).collect();
    all.sort();
    all
}

/// Returns pointer and keyword of each error by the jsonschema crate, sorted; `None` for a schema that it rejects.
fn upstream(schema: &Value, data: &Value) -> Option<Vec<(String, Option<String>)>> {
    let options = jsonschema::options().with_pattern_options(jsonschema::PatternOptions::regex());
    let validator = options.build(schema).ok()?;
    let pointer_and_keyword = |error: jsonschema::ValidationError<'_>| {
        (error.instance_path().as_str().to_owned(), Some(error.kind().keyword().to_owned()))
    };
    let mut all: Vec<_> = validator.iter_errors(data).map(pointer_and_keyword).collect();
    all.sort();
    Some(all)
}

/// Returns pointer and keyword of each violation, sorted.
fn pointers_and_keywords(found: &[(String, Option<String>, String)]) -> Vec<(String, Option<String>)> {
    let mut all: Vec<_> =
        found.iter().map(|(pointer, keyword, _)| (pointer.clone(), keyword.clone())).collect();
    all.sort();
    all
}

fn compare_suite(draft: &str, uri: &str) {
    let folder =
        Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/corpora/json-schema")).join(draft);
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("schema.json");
    let mut compared = 0;
    for file in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_file())
    {
        let groups: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
        for group in groups.as_array().unwrap() {
            let mut schema = group["schema"].clone();
            if let Value::Object(members) = &mut schema {
                members.entry("$schema").or_insert(json!(uri));
            }
            fs::write(&path, schema.to_string()).unwrap();
            let (Ok(in_memory), Ok(contract)) = (Schema::compile(&schema), Contract::load(&path)) else {
                continue;
            };
            for test in group["tests"].as_array().unwrap() {
                let data = &test["data"];
                let expected = sorted(in_memory.violations(data));
                let found = sorted(streamed(&contract, Framing::Document, data.to_string().as_bytes(), 1));
                assert_eq!(
                    found.is_empty(),
                    expected.is_empty(),
                    "{} {} {data}",
                    file.display(),
                    group["description"]
                );
                assert_eq!(found, expected, "{} {} {data}", file.display(), group["description"]);
                if let Some(upstream) = upstream(&schema, data) {
                    assert_eq!(
                        pointers_and_keywords(&found),
                        upstream,
                        "{} {} {data}",
                        file.display(),
                        group["description"]
                    );
                    compared += 1;
                }
            }
        }
    }
    println!("{draft}: {compared} compared");
    assert!(compared > 800);
}

#[test]
#[ignore = "reads ../shared, which is beside the repository and not in it"]
fn shared_suite_of_2020_12() {
    compare_suite("draft2020-12", "https://json-schema.org/draft/2020-12/schema");
}

#[test]
#[ignore = "reads ../shared, which is beside the repository and not in it"]
fn shared_suite_of_draft_07() {
    compare_suite("draft7", "http://json-schema.org/draft-07/schema#");
}

/// Asserts that both find the same violations in the output of a run.
fn compare_run(contract: &Contract, text: &str, example: &str) {
    let value = |text| serde_json::from_str(text).unwrap();
    let mut judge = contract.validator();
    let mut expected = Vec::new();
    if contract.framing() == Framing::Lines {
        expected.extend((1..).zip(text.lines()).flat_map(|(line, record)| judge.push(line, &value(record))));
    } else {
        expected.extend(judge.push_document(&value(text)));
    }
    expected.extend(judge.finish(&RunExit::default()).violations);
    let expected = sorted(expected);
    for threads in [1, 2] {
        let found = sorted(streamed(contract, contract.framing(), text.as_bytes(), threads));
        assert_eq!(found, expected, "{example}");
    }
}

#[test]
fn examples_of_the_contracts() {
    for name in bundled_names() {
        let contract = Contract::bundled(name).unwrap();
        let examples = Examples::of(name);
        for kind in ["valid", "invalid"] {
            for (example, _) in examples.table(kind) {
                let Some(data) = examples.data(kind, example) else { continue };
                let several = contract.framing() == Framing::Document && data.is_lines;
                if !several {
                    compare_run(&contract, &data.text, &format!("{name}: {kind}/{example}"));
                }
            }
        }
        for mutant in mutants(&contract) {
            let record = mutant.record.to_string();
            let array = contract.framing() == Framing::Array;
            compare_run(&contract, &if array { format!("[{record}]") } else { record }, &mutant.to_string());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn generated_values(schema in schema(), values in prop::collection::vec(value(), 1..8)) {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("schema.json");
        fs::write(&path, schema.to_string()).unwrap();
        let contract = Contract::load(&path).unwrap();
        let in_memory = Schema::compile(&schema).unwrap();
        let negated = json!({ "not": schema });
        fs::write(&path, negated.to_string()).unwrap();
        let negation = Contract::load(&path).unwrap();
        for value in values {
            // Numbers may be rounded when the value is printed, so it is parsed again.
            let text = value.to_string();
            let value: Value = serde_json::from_str(&text).unwrap();
            let found = sorted(streamed(&contract, Framing::Document, text.as_bytes(), 1));
            prop_assert_eq!(Some(pointers_and_keywords(&found)), upstream(&schema, &value), "{} {}", schema, text);
            // The negated schema shows a value that is wrongly invalid.
            let negated_is_valid = streamed(&negation, Framing::Document, text.as_bytes(), 1).is_empty();
            prop_assert_eq!(negated_is_valid, !found.is_empty(), "{} {}", schema, text);
            prop_assert_eq!(found, sorted(in_memory.violations(&value)), "{} {}", schema, text);
        }
    }
}
