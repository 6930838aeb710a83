//! Runs the required cases of the JSON Schema Test Suite that need no network.

use agentnative_contract::Schema;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

/// Returns whether a group of cases loads schemas from a server, which is not supported.
fn is_remote(group: &Value) -> bool {
    group["schema"].to_string().contains("http://localhost:1234/")
}

fn run(draft: &str, uri: &str, required: usize) {
    let folder =
        Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/corpora/json-schema")).join(draft);
    let (mut passed, mut failed, mut skipped) = (0, Vec::new(), 0);
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    for file in files.iter().filter(|path| path.is_file()) {
        let groups: Value = serde_json::from_slice(&fs::read(file).unwrap()).unwrap();
        for group in groups.as_array().unwrap() {
            let tests = group["tests"].as_array().unwrap();
            let mut schema = group["schema"].clone();
            if let Value::Object(members) = &mut schema {
                members.entry("$schema").or_insert(json!(uri));
            }
            let name = format!("{} {}", file.file_stem().unwrap().display(), group["description"]);
            match Schema::compile(&schema) {
                Err(_) if is_remote(group) => skipped += tests.len(),
                Err(error) => failed.push(format!("{name}: {error}")),
                Ok(schema) => {
                    for test in tests {
                        let found = schema.violations(&test["data"]);
                        if found.is_empty() == test["valid"].as_bool().unwrap() {
                            passed += 1;
                        } else {
                            failed.push(format!("{name} {}: found {found:?}", test["description"]));
                        }
                    }
                }
            }
        }
    }
    println!("{draft}: {passed} passed, {} failed, {skipped} need a server", failed.len());
    assert!(failed.is_empty(), "{}", failed.join("\n"));
    assert!(passed >= required, "only {passed} cases");
}

#[test]
#[ignore = "reads ../shared, which is beside the repository and not in it"]
fn shared_draft_2020_12() {
    run("draft2020-12", "https://json-schema.org/draft/2020-12/schema", 1200);
}

#[test]
#[ignore = "reads ../shared, which is beside the repository and not in it"]
fn shared_draft_07() {
    run("draft7", "http://json-schema.org/draft-07/schema#", 800);
}
