//! Table of kinds of changes: `kinds.jsonl` has one line per kind, with the expected result.

use crate::support::{assert_witnesses, changes, rules, worst};
use agentnative_diff::ChangeSeverity;
use serde::Deserialize;
use serde_json::Value;

#[derive(Deserialize)]
pub struct Row {
    pub kind: String,
    class: Option<ChangeSeverity>,
    rules: Vec<String>,
    pub old: Value,
    pub new: Value,
}

pub fn table() -> Vec<Row> {
    include_str!("kinds.jsonl").lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn every_kind_of_change_is_reported_as_expected() {
    let mut wrong = Vec::new();
    for row in table() {
        let found = changes(&row.old, &row.new);
        if worst(&found) != row.class || rules(&found) != row.rules {
            let reported: Vec<String> = found
                .iter()
                .map(|change| {
                    format!("    {} {:?} {}: {}", change.rule, change.class, change.pointer, change.message)
                })
                .collect();
            wrong.push(format!(
                "{}: expected {:?} {:?}\n{}",
                row.kind,
                row.class,
                row.rules,
                reported.join("\n")
            ));
        }
    }
    assert!(wrong.is_empty(), "{} of {} are wrong\n{}", wrong.len(), table().len(), wrong.join("\n"));
}

#[test]
fn nothing_differs_from_itself() {
    for row in table() {
        for schema in [&row.old, &row.new] {
            let found = changes(schema, schema);
            assert!(found.is_empty(), "{}: {found:#?}", row.kind);
        }
    }
}

#[test]
fn every_breaking_kind_has_a_witness() {
    let mut missing = Vec::new();
    for row in table() {
        let found = changes(&row.old, &row.new);
        assert_witnesses(&row.old, &row.new, &found);
        for change in
            found.iter().filter(|change| change.class == ChangeSeverity::Breaking && change.witness.is_none())
        {
            missing.push(format!("{}: {} {}", row.kind, change.rule, change.message));
        }
    }
    assert!(missing.is_empty(), "no witness for {} changes\n{}", missing.len(), missing.join("\n"));
}
