//! The bundled contracts: each folder is whole, and its examples are judged as they say.

use agentnative_contract::{Contract, Framing, RunExit, Violation, names};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use strict_json::{Options, read_records, read_value};
use toml::{Table, Value};

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("contracts").join(name)
}

fn files(path: &Path) -> BTreeSet<String> {
    fs::read_dir(path).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

/// Judges an example; an empty file is a run without data, and JSON lines of a contract of documents
/// are several runs.
fn judge(contract: &Contract, path: &Path, ending: &RunExit<'_>) -> Vec<Violation> {
    let bytes = fs::read(path).unwrap();
    let mut judge = contract.validator();
    let mut found = Vec::new();
    let lines = path.extension().unwrap() == "jsonl";
    if bytes.is_empty() {
    } else if lines {
        let several = contract.framing() == Framing::Document;
        let summary = read_records(bytes.as_slice(), &Options::default(), u64::MAX, |record| {
            found.extend(judge.push(record.line, &record.value.unwrap()));
            if several {
                found.extend(judge.finish(&RunExit::default()).violations);
            }
        });
        assert!(!summary.unwrap().rejected(), "{}", path.display());
        if several {
            return found;
        }
    } else {
        let document = read_value(bytes.as_slice(), &Options::default(), u64::MAX).unwrap();
        found.extend(judge.push(1, &document.value.unwrap()));
    }
    found.extend(judge.finish(ending).violations);
    found
}

fn ending(said: &Table) -> RunExit<'_> {
    RunExit {
        exit: said.get("exit").map(|exit| exit.as_integer().unwrap() as i32),
        condition: said.get("condition").map(|name| name.as_str().unwrap()),
    }
}

/// Why an invalid example is not rejected as it says; none if it is.
fn not_rejected(said: &Table, found: &[Violation]) -> Option<String> {
    let text = |key: &str| said.get(key).and_then(Value::as_str);
    let event = said.get("event").map(|event| event.as_integer().unwrap() as u64);
    let fits = |violation: &&Violation| {
        let by = match (text("keyword"), text("rule")) {
            (Some(keyword), None) => violation.keyword.as_deref() == Some(keyword),
            (None, Some(rule)) => violation.keyword.is_none() && violation.rule == rule,
            _ => panic!("expected `keyword` or `rule` in {said}"),
        };
        by && text("at").is_none_or(|at| violation.pointer == at)
            && (event.is_none() || violation.event == event)
    };
    if found.iter().any(|violation| fits(&violation)) {
        return None;
    }
    let found: Vec<String> = found
        .iter()
        .map(|v| format!("    event {:?} {} [{}]", v.event, v, v.keyword.as_deref().unwrap_or("-")))
        .collect();
    Some(format!("expected {said:?}, found\n{}", found.join("\n")))
}

#[test]
fn examples_are_judged_as_they_say() {
    let mut wrong = Vec::new();
    for name in names() {
        let contract = Contract::bundled(name).unwrap();
        let examples = folder(name).join("examples");
        let expected: Table = fs::read_to_string(examples.join("expected.toml")).unwrap().parse().unwrap();
        for (file, said) in expected["valid"].as_table().unwrap() {
            let found =
                judge(&contract, &examples.join("valid").join(file), &ending(said.as_table().unwrap()));
            wrong.extend(found.iter().map(|violation| format!("{name}: valid/{file}: {violation}")));
        }
        for (file, said) in expected["invalid"].as_table().unwrap() {
            let said = said.as_table().unwrap();
            let found = judge(&contract, &examples.join("invalid").join(file), &ending(said));
            wrong.extend(not_rejected(said, &found).map(|why| format!("{name}: invalid/{file}: {why}")));
        }
    }
    assert!(wrong.is_empty(), "{} examples:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn every_contract_folder_is_whole() {
    let mut folders = files(&folder(""));
    assert!(folders.remove("README.md"));
    assert_eq!(folders, names().map(str::to_owned).collect());
    for name in names() {
        let contract = Contract::bundled(name).unwrap();
        let about = contract.about();
        assert_eq!(about.name, name);
        assert!(!about.title.is_empty() && !about.origin.is_empty());
        let examples = folder(name).join("examples");
        let expected: Table = fs::read_to_string(examples.join("expected.toml")).unwrap().parse().unwrap();
        for kind in ["valid", "invalid"] {
            let said: BTreeSet<String> = expected[kind].as_table().unwrap().keys().cloned().collect();
            assert_eq!(said, files(&examples.join(kind)), "{name}: {kind} examples and expected.toml");
        }
        assert!(expected["valid"].as_table().unwrap().len() >= 3, "{name}: valid examples");
        let invalid = expected["invalid"].as_table().unwrap();
        for rule in about.rules {
            let has = invalid.values().any(|said| said.get("rule").and_then(Value::as_str) == Some(&rule.id));
            assert!(has, "{name}: no invalid example for the rule {}", rule.id);
        }
        for condition in about.conditions {
            let code = |said: &Value| said.get("exit").and_then(Value::as_integer).map(|exit| exit as i32);
            let valid = expected["valid"].as_table().unwrap().values();
            let of = |said: &Value| code(said).is_some_and(|exit| condition.exit.contains(&exit));
            let (valid, invalid) = (valid.filter(|said| of(said)), invalid.values().filter(|said| of(said)));
            assert!(valid.count() > 0 && invalid.count() > 0, "{name}: examples of {}", condition.name);
        }
    }
}
