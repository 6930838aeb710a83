//! The catalogue of rules: each example is reported by its rule and by no other one, in both directions.

use crate::support::{spec_of, worst};
use agentnative_contract::OutputSpec;
use agentnative_diff::interface::{ProgramInterface, compare_interfaces};
use agentnative_diff::{Change, ChangeRule, RuleExample, change_rule, change_rules, compare};
use serde_json::Value;
use std::path::Path;

fn specs(text: &str, are_specs: bool) -> Vec<OutputSpec> {
    let value: Value = serde_json::from_str(text).unwrap();
    match (are_specs, value) {
        (true, Value::Array(several)) => {
            several.into_iter().map(|one| serde_json::from_value(one).unwrap()).collect()
        }
        (true, one) => vec![serde_json::from_value(one).unwrap()],
        (false, schema) => vec![spec_of(&schema)],
    }
}

fn interface_changes(old: &str, new: &str) -> Vec<Change> {
    let interface = |text: &str| -> ProgramInterface { serde_json::from_str(text).unwrap() };
    compare_interfaces(&interface(old), Some(&interface(new))).changes
}

fn both_directions(rule: &ChangeRule, example: &RuleExample) -> (Vec<Change>, Vec<Change>) {
    if rule.interface {
        let RuleExample { old, new, .. } = example;
        return (interface_changes(old, new), interface_changes(new, old));
    }
    let (old, new) = (specs(&example.old, example.promises), specs(&example.new, example.promises));
    (compare(&old, &new), compare(&new, &old))
}

#[test]
fn the_rules_are_sorted_and_have_examples() {
    assert!(change_rules().is_sorted_by(|left, right| left.id < right.id));
    for rule in change_rules() {
        assert!(
            rule.id.starts_with("diff-") && !rule.examples.is_empty() && !rule.classes.is_empty(),
            "{}",
            rule.id
        );
    }
}

#[test]
fn every_example_is_reported_by_its_rule_alone_in_both_directions() {
    let mut wrong = Vec::new();
    for rule in change_rules() {
        for example in &rule.examples {
            let (forward, back) = both_directions(rule, example);
            let ids = |changes: &[Change]| -> Vec<String> {
                let mut ids: Vec<String> = changes.iter().map(|change| change.rule.clone()).collect();
                ids.dedup();
                ids
            };
            if ids(&forward) != [rule.id.clone()] || worst(&forward) != Some(example.class) {
                wrong.push(format!("{}: told {:?} {:?}", rule.id, ids(&forward), worst(&forward)));
            }
            let expected = Some(example.back.clone()).filter(|back| !back.is_empty());
            if ids(&back) != Vec::from_iter(expected) {
                wrong.push(format!("{}: back told {:?}, expected {}", rule.id, ids(&back), example.back));
            }
            if !rule.classes.contains(&example.class) {
                wrong.push(format!("{}: an example of class {:?}", rule.id, example.class));
            }
        }
        for class in &rule.classes {
            if !rule.examples.iter().any(|example| example.class == *class)
                && !rule
                    .examples
                    .iter()
                    .any(|example| worst(&both_directions(rule, example).1) == Some(*class))
            {
                wrong.push(format!("{}: no example of class {class:?}", rule.id));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_sound_example_is_not_reported_by_its_rule() {
    let mut wrong = Vec::new();
    for rule in change_rules().iter().filter(|rule| rule.interface) {
        if rule.sound.is_empty() {
            wrong.push(format!("{}: no sound example", rule.id));
        }
        for sound in &rule.sound {
            let changes = interface_changes(&sound.old, &sound.new);
            let reported = changes.iter().filter(|change| change.rule == rule.id);
            wrong.extend(reported.map(|change| format!("{}: {}: {}", rule.id, sound.note, change.message)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_reported_rule_exists() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut named = 0;
    let files = walkdir::WalkDir::new(source).into_iter().map(|entry| entry.unwrap().into_path());
    for path in files.filter(|path| path.is_file()) {
        let text = std::fs::read_to_string(&path).unwrap();
        for id in text.split('"').filter(|word| word.starts_with("diff-")) {
            named += 1;
            // Prefixes for `starts_with` are not complete IDs.
            let prefix = change_rules().iter().any(|rule| rule.id.starts_with(id));
            assert!(change_rule(id).is_some() || prefix, "{}: {id}", path.display());
        }
    }
    assert!(named > 50);
}
