//! The bundled contracts: each folder is complete, and its examples are judged as expected.

use crate::mutants::{Demand, mutants};
use agentnative_contract::{Contract, Framing, RunExit, Violation, names};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use strict_json::{ReadOptions, read_records, read_value};
use toml::{Table, Value};

/// The examples of a contract.
struct Examples {
    folder: PathBuf,
    expected: Table,
}

impl Examples {
    fn of(contract: &str) -> Self {
        let folder = folder(contract).join("examples");
        let text = fs::read_to_string(folder.join("expected.toml")).unwrap();
        Self { folder, expected: text.parse().unwrap() }
    }

    /// What is expected of the valid or of the invalid ones.
    fn table(&self, kind: &str) -> &Table {
        self.expected[kind].as_table().unwrap()
    }

    /// The file with the data of an example, relative to the folder: its own, or the one that it names, which
    /// is none for a run without data.
    fn data(&self, kind: &str, name: &str) -> Option<String> {
        match self.table(kind)[name].get("data") {
            Some(data) => Some(data.as_str().unwrap().to_owned()).filter(|data| !data.is_empty()),
            None => Some(format!("{kind}/{name}")),
        }
    }

    /// How an example is judged, by the version that it is of.
    fn judge(&self, contract: &Contract, kind: &str, name: &str) -> Vec<Violation> {
        let exit = exit(self.table(kind)[name].as_table().unwrap());
        let version =
            version(&self.table(kind)[name]).map(|version| format!("{}@{version}", contract.name()));
        let versioned = version.map(|name| Contract::bundled(&name).unwrap());
        let contract = versioned.as_ref().unwrap_or(contract);
        match self.data(kind, name) {
            Some(data) => judge(contract, &self.folder.join(data), &exit),
            None => contract.validator().finish(&exit).violations,
        }
    }
}

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("contracts").join(name)
}

fn files(path: &Path) -> BTreeSet<String> {
    fs::read_dir(path).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

/// Judges the data of a run; JSON lines of a contract of documents are several runs.
fn judge(contract: &Contract, path: &Path, exit: &RunExit<'_>) -> Vec<Violation> {
    let bytes = fs::read(path).unwrap();
    let mut judge = contract.validator();
    let mut found = Vec::new();
    let lines = path.extension().unwrap() == "jsonl";
    if lines {
        let several = contract.framing() == Framing::Document;
        let summary = read_records(bytes.as_slice(), &ReadOptions::default(), u64::MAX, |record| {
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
        let document = read_value(bytes.as_slice(), &ReadOptions::default(), u64::MAX).unwrap();
        found.extend(judge.push_document(&document.value.unwrap()));
    }
    found.extend(judge.finish(exit).violations);
    found
}

/// The version that an example is of, if it is not the contract's own.
fn version(expected: &Value) -> Option<&str> {
    expected.get("version").map(|version| version.as_str().unwrap())
}

fn exit(expected: &Table) -> RunExit<'_> {
    RunExit {
        exit: expected.get("exit").map(|exit| exit.as_integer().unwrap() as i32),
        condition: expected.get("condition").map(|name| name.as_str().unwrap()),
        stderr: expected.get("stderr").map(|text| text.as_str().unwrap().as_bytes()),
    }
}

/// Why an invalid example is not rejected as it says; none if it is.
fn mismatch(expected: &Table, found: &[Violation]) -> Option<String> {
    let text = |key: &str| expected.get(key).and_then(Value::as_str);
    let event = expected.get("event").map(|event| event.as_integer().unwrap() as u64);
    let fits = |violation: &&Violation| {
        let by = match (text("keyword"), text("rule")) {
            (Some(keyword), None) => violation.keyword.as_deref() == Some(keyword),
            (None, Some(rule)) => violation.keyword.is_none() && violation.rule == rule,
            _ => panic!("expected `keyword` or `rule` in {expected}"),
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
    Some(format!("expected {expected:?}, found\n{}", found.join("\n")))
}

#[test]
fn examples_are_judged_as_expected() {
    let mut wrong = Vec::new();
    for name in names() {
        let contract = Contract::bundled(name).unwrap();
        let examples = Examples::of(name);
        for example in examples.table("valid").keys() {
            let found = examples.judge(&contract, "valid", example);
            wrong.extend(found.iter().map(|violation| format!("{name}: valid/{example}: {violation}")));
        }
        for (example, expected) in examples.table("invalid") {
            let found = examples.judge(&contract, "invalid", example);
            let why = mismatch(expected.as_table().unwrap(), &found);
            wrong.extend(why.map(|why| format!("{name}: invalid/{example}: {why}")));
        }
    }
    assert!(wrong.is_empty(), "{} examples:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn a_required_key_that_is_gone_and_a_key_that_is_not_allowed_are_found() {
    let mut wrong = Vec::new();
    for name in names() {
        let contract = Contract::bundled(name).unwrap();
        let (mut required, mut closed) = (0, 0);
        for mutant in mutants(&contract) {
            let keywords: &[&str] = match mutant.demand {
                Demand::Key(_) => &["required"],
                Demand::Closed => &["additionalProperties", "unevaluatedProperties"],
            };
            *(if mutant.demand == Demand::Closed { &mut closed } else { &mut required }) += 1;
            let found = contract.validator().push(1, &mutant.record);
            let breaks = |violation: &Violation| match violation.keyword.as_deref() {
                Some(keyword) => keywords.contains(&keyword) && violation.pointer == mutant.pointer,
                // Without its type an event has no schema.
                None => violation.rule == "event-type" && mutant.pointer.is_empty(),
            };
            if !found.iter().any(breaks) {
                wrong.push(format!("{mutant}: {found:?}"));
            }
        }
        // What a schema no longer demands makes no mutant: their number is held.
        println!("{name}: required = {required}, closed = {closed}");
        let expected = Examples::of(name).expected;
        let number = |key: &str| expected.get(key).and_then(Value::as_integer).unwrap_or_default();
        if (number("required"), number("closed")) != (required, closed) {
            wrong.push(format!(
                "{name}: expected.toml has other numbers: required = {required}, closed = {closed}"
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_contract_folder_is_complete() {
    let mut folders = files(&folder(""));
    assert!(folders.remove("README.md"));
    assert_eq!(folders, names().map(str::to_owned).collect());
    for name in names() {
        let contract = Contract::bundled(name).unwrap();
        let about = contract.summary();
        assert_eq!(about.name, name);
        assert!(!about.title.is_empty() && !about.origin.is_empty());
        let examples = Examples::of(name);
        let (valid, invalid) = (examples.table("valid"), examples.table("invalid"));
        let (mut named, mut found) = (BTreeSet::new(), BTreeSet::new());
        for kind in ["valid", "invalid"] {
            named.extend(examples.table(kind).keys().filter_map(|name| examples.data(kind, name)));
            found.extend(files(&examples.folder.join(kind)).iter().map(|file| format!("{kind}/{file}")));
        }
        assert_eq!(named, found, "{name}: examples and expected.toml");
        assert!(valid.len() >= 3, "{name}: valid examples");
        let versions = about.versions.iter().map(|version| Some(version.version.as_str()));
        for of in std::iter::once(None).chain(versions.filter(|of| *of != Some(about.version.as_str()))) {
            let full = of.map_or_else(|| name.to_owned(), |of| format!("{name}@{of}"));
            has_examples_of_all(&Contract::bundled(&full).unwrap(), of, valid, invalid);
        }
    }
}

/// Each rule has an invalid example, and each condition a valid and an invalid one, of this version.
fn has_examples_of_all(contract: &Contract, of: Option<&str>, valid: &Table, invalid: &Table) {
    let about = contract.summary();
    for rule in about.rules {
        let breaks = |example: &Value| {
            version(example) == of && example.get("rule").and_then(Value::as_str) == Some(&rule.id)
        };
        let has = invalid.values().any(breaks);
        assert!(has, "{}: no invalid example for the rule {}", about.name, rule.id);
    }
    for condition in about.conditions {
        let exits = |example: &Value| {
            let exit = example.get("exit").and_then(Value::as_integer);
            version(example) == of && exit.is_some_and(|exit| condition.exit.contains(&(exit as i32)))
        };
        let shown = valid.values().any(exits) && invalid.values().any(exits);
        assert!(shown, "{}: examples of {}", about.name, condition.name);
    }
}
