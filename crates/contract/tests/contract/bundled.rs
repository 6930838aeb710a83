//! Tests of the bundled contracts: each folder is complete, and its examples have the expected verdicts.

use crate::contract_examples::{CONTRACTS, ExampleData, Examples};
use crate::mutants::{KeyConstraint, mutants};
use agentnative_contract::{
    Contract, ContractSummary, Framing, RunExit, StreamOutcome, Violation, bundled_names, split_version,
};
use std::collections::BTreeSet;
use std::fs;
use strict_json::{ReadOptions, read_records, read_value};
use toml::{Table, Value};

/// Returns the violations and the known findings of an example, judged by its version of the contract.
fn judge_example(
    examples: &Examples,
    contract: &Contract,
    kind: &str,
    name: &str,
) -> (Vec<Violation>, Vec<Violation>) {
    let expected = &examples.table(kind)[name];
    let exit = exit(expected.as_table().unwrap());
    let version = version(expected).map(|version| format!("{}@{version}", contract.name()));
    let versioned = version.map(|name| Contract::bundled(&name).unwrap());
    let contract = versioned.as_ref().unwrap_or(contract);
    match examples.data(kind, name) {
        Some(data) => judge(contract, &data, &exit),
        None => {
            let outcome = contract.validator().finish(&exit);
            (outcome.violations, outcome.known)
        }
    }
}

/// Returns the violations and the known findings of the output of a run. For a contract of documents, JSON Lines are
/// several runs.
fn judge(contract: &Contract, data: &ExampleData, exit: &RunExit<'_>) -> (Vec<Violation>, Vec<Violation>) {
    let bytes = data.text.as_bytes();
    let mut judge = contract.validator();
    let (mut found, mut known) = (Vec::new(), Vec::new());
    let mut add = |outcome: StreamOutcome, found: &mut Vec<Violation>| {
        found.extend(outcome.violations);
        known.extend(outcome.known);
    };
    if data.is_lines {
        let several = contract.framing() == Framing::Document;
        let summary = read_records(bytes, &ReadOptions::default(), u64::MAX, |record| {
            found.extend(judge.push(record.line, &record.value.unwrap()));
            if several {
                add(judge.finish(&RunExit::default()), &mut found);
            }
        });
        assert!(!summary.unwrap().rejected(), "{}", data.text);
        if several {
            return (found, known);
        }
    } else {
        let document = read_value(bytes, &ReadOptions::default(), u64::MAX).unwrap();
        found.extend(judge.push_document(&document.value.unwrap()));
    }
    add(judge.finish(exit), &mut found);
    (found, known)
}

/// Returns the version of an example, if it differs from the contract's main version.
fn version(expected: &Value) -> Option<&str> {
    expected.get("version").map(|version| version.as_str().unwrap())
}

fn exit(expected: &Table) -> RunExit<'_> {
    RunExit {
        code: expected.get("exit").map(|exit| exit.as_integer().unwrap() as i32),
        condition: expected.get("condition").map(|name| name.as_str().unwrap()),
        stderr: expected.get("stderr").map(|text| text.as_str().unwrap().as_bytes()),
    }
}

/// Returns why an invalid example is not rejected as expected; `None` if it is.
fn mismatch(expected: &Table, found: &[Violation]) -> Option<String> {
    let text = |key: &str| expected.get(key).and_then(Value::as_str);
    let event = expected.get("event").map(|event| event.as_integer().unwrap() as u64);
    let fits = |violation: &&Violation| {
        let has_source = match (text("keyword"), text("rule")) {
            (Some(keyword), None) => violation.keyword.as_deref() == Some(keyword),
            (None, Some(rule)) => violation.keyword.is_none() && violation.rule == rule,
            _ => panic!("expected `keyword` or `rule` in {expected}"),
        };
        has_source
            && text("at").is_none_or(|at| violation.pointer == at)
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
fn examples_have_the_expected_verdicts() {
    let mut wrong = Vec::new();
    for name in bundled_names() {
        let contract = Contract::bundled(name).unwrap();
        let examples = Examples::of(name);
        for (example, expected) in examples.table("valid") {
            let (found, known) = judge_example(&examples, &contract, "valid", example);
            wrong.extend(found.iter().map(|violation| format!("{name}: valid/{example}: {violation}")));
            let shown: Vec<_> = known
                .iter()
                .map(|known| (known.finding.as_ref().unwrap().id.as_deref().unwrap(), known.pointer.as_str()))
                .collect();
            let text = |key: &str| expected.get(key).and_then(Value::as_str);
            let expected: Vec<_> =
                text("finding").map(|id| (id, text("at").unwrap_or_default())).into_iter().collect();
            if shown != expected {
                wrong.push(format!("{name}: valid/{example}: expected {expected:?}, found {shown:?}"));
            }
        }
        for (example, expected) in examples.table("invalid") {
            let (found, _) = judge_example(&examples, &contract, "invalid", example);
            let why = mismatch(expected.as_table().unwrap(), &found);
            wrong.extend(why.map(|why| format!("{name}: invalid/{example}: {why}")));
        }
    }
    assert!(wrong.is_empty(), "{} examples:\n{}", wrong.len(), wrong.join("\n"));
}

/// The first event of an output selects the contract that describes it.
#[test]
fn examples_select_their_contract() {
    let mut count = 0;
    for name in bundled_names() {
        let contract = Contract::bundled(name).unwrap();
        let examples = Examples::of(name);
        let of_program = examples.table("valid").iter().filter(|_| !contract.versions().is_empty());
        for (example, expected) in of_program.take(4) {
            let Some(data) = examples.data("valid", example) else { continue };
            // JSON Lines of a contract of documents are several runs, and contracts of versions have other examples.
            let several = data.is_lines && contract.framing() == Framing::Document;
            if several || version(expected).is_some() {
                continue;
            }
            // A result alone is also a document.
            let name = if example == "unknown-session.jsonl" { "claude-json" } else { name };
            let found = Contract::detect(data.text.as_bytes());
            let found = found.map(|(contract, _)| contract.name().to_owned());
            let found = found.unwrap_or_else(|error| error.to_string());
            assert_eq!(split_version(&found).0, name, "{example}");
            count += 1;
        }
    }
    assert!(count > 30, "{count}");
    for (text, error) in [
        ("", "no bundled contract accepts the first event"),
        ("{\"type\": \"unknown\"}\n", "no bundled contract accepts the first event"),
        ("no JSON", "no bundled contract accepts the first event"),
    ] {
        assert_eq!(Contract::detect(text.as_bytes()).map(drop).unwrap_err().to_string(), error);
    }
}

/// Returns the names of a contract and of its other versions.
fn versioned_names(name: &str) -> Vec<String> {
    let about = Contract::bundled(name).unwrap().summary();
    let other = about.versions.iter().filter(|version| version.version != about.version);
    let versions = other.map(|version| format!("{name}@{}", version.version));
    std::iter::once(name.to_owned()).chain(versions).collect()
}

#[test]
fn missing_and_additional_keys_are_found() {
    let mut wrong = Vec::new();
    for name in bundled_names().flat_map(versioned_names) {
        let contract = Contract::bundled(&name).unwrap();
        let untyped = contract.summary().events.iter().any(|event| event == "(none)");
        let (mut required, mut closed) = (0, 0);
        for mutant in mutants(&contract) {
            let keywords: &[&str] = match mutant.constraint {
                KeyConstraint::Required(_) => &["required"],
                KeyConstraint::Closed => &["additionalProperties", "unevaluatedProperties"],
            };
            *(if mutant.constraint == KeyConstraint::Closed { &mut closed } else { &mut required }) += 1;
            let found = contract.validator().push(1, &mutant.record);
            let breaks = |violation: &Violation| match violation.keyword.as_deref() {
                // An event without its type is judged by the schema of events without a type, if there is one.
                Some("anyOf") => untyped && violation.pointer.is_empty(),
                Some(keyword) => keywords.contains(&keyword) && violation.pointer == mutant.pointer,
                // Otherwise, no schema applies.
                None => violation.rule == "event-type" && mutant.pointer.is_empty(),
            };
            if !found.iter().any(breaks) {
                wrong.push(format!("{mutant}: {found:?}"));
            }
        }
        // A constraint that is removed from a schema has no mutant, so the number of mutants is checked.
        println!("{name}: required = {required}, closed = {closed}");
        let (folder, version) = split_version(&name);
        let examples = Examples::of(folder);
        let expected = examples.expected();
        let of_version = |version| expected.get("versions").and_then(|versions| versions.get(version));
        let number = |key: &str| {
            let number = match version {
                Some(version) => of_version(version).and_then(|numbers| numbers.get(key)),
                None => expected.get(key),
            };
            number.and_then(Value::as_integer).unwrap_or_default()
        };
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
    let entries = fs::read_dir(CONTRACTS).unwrap();
    let mut folders: BTreeSet<_> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    assert!(folders.remove("README.md"));
    assert_eq!(folders, bundled_names().map(str::to_owned).collect());
    for name in bundled_names() {
        let contract = Contract::bundled(name).unwrap();
        let about = contract.summary();
        assert_eq!(about.name, name);
        assert!(!about.title.is_empty() && !about.origin.is_empty());
        let examples = Examples::of(name);
        let (valid, invalid) = (examples.table("valid"), examples.table("invalid"));
        assert_eq!(examples.named_files(), examples.files(), "{name}: examples and expected.toml");
        assert!(valid.len() >= 3, "{name}: valid examples");
        for versioned in versioned_names(name) {
            let version = split_version(&versioned).1;
            let summary = Contract::bundled(&versioned).unwrap().summary();
            assert_examples(&summary, version.map(|_| &about), version, valid, invalid);
        }
    }
}

/// Asserts that each rule has an invalid example (or a valid one that shows its finding), and each condition a valid
/// and an invalid one, of this version. A version needs no examples for the rules and conditions of its `base`.
fn assert_examples(
    about: &ContractSummary,
    base: Option<&ContractSummary>,
    of_version: Option<&str>,
    valid: &Table,
    invalid: &Table,
) {
    let text = |example: &Value, key: &str| example.get(key).map(|value| value.as_str().unwrap().to_owned());
    let new = about.rules.iter().filter(|rule| base.is_none_or(|base| !base.rules.contains(rule)));
    for rule in new {
        let (examples, key, id) = match &rule.finding {
            Some(finding) => (valid, "finding", finding),
            None => (invalid, "rule", &rule.id),
        };
        let shows =
            |example: &Value| version(example) == of_version && text(example, key).as_ref() == Some(id);
        assert!(examples.values().any(shows), "{}: no example for the rule {}", about.name, rule.id);
    }
    let is_new = |condition: &&_| base.is_none_or(|base| !base.conditions.contains(condition));
    for condition in about.conditions.iter().filter(is_new) {
        let exits = |example: &Value| {
            let exit = example.get("exit").and_then(Value::as_integer);
            version(example) == of_version && exit.is_some_and(|exit| condition.exit.contains(&(exit as i32)))
        };
        let shown = valid.values().any(exits) && invalid.values().any(exits);
        assert!(shown, "{}: examples of {}", about.name, condition.name);
    }
}
