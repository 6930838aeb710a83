//! Samples that are compared with a schema.

use crate::kinds::table;
use crate::support::{changes, worst};
use agentnative_contract::Contract;
use agentnative_diff::{Change, Class, SampleComparison, SampleSide, compare_sample};
use serde_json::Value;
use std::sync::Arc;

/// Compares documents, one per line, with a schema.
fn compared(schema: &Value, documents: &[&Value], side: SampleSide) -> SampleComparison {
    let folder = tempfile::tempdir().unwrap();
    let (schema_file, sample) = (folder.path().join("a.schema.json"), folder.path().join("a.jsonl"));
    std::fs::write(&schema_file, schema.to_string()).unwrap();
    std::fs::write(&sample, documents.iter().map(|one| format!("{one}\n")).collect::<String>()).unwrap();
    compare_sample(&Arc::new(Contract::load(&schema_file).unwrap()), &sample, side).unwrap()
}

/// A document that shows a change between two schemas shows a change of that class between the old one and itself,
/// and is nothing new to the new one.
#[test]
fn a_document_is_what_the_change_that_it_shows_is() {
    let mut shown = 0;
    for row in table() {
        for change in changes(&row.old, &row.new) {
            // A format is no assertion in 2020-12.
            let Some(witness) = change.witness.filter(|_| change.rule != "diff-format-loosened") else {
                continue;
            };
            shown += 1;
            let found = compared(&row.old, &[&witness.document], SampleSide::New);
            assert_eq!((found.records, found.rejected), (1, 1), "{}", row.kind);
            assert!(worst(&found.changes) <= Some(change.class), "{}: {found:#?}", row.kind);
            let seen = |change: &Change| change.evidence.as_ref().is_some_and(|evidence| evidence.count == 1);
            assert!(found.changes.iter().all(seen), "{}: {found:#?}", row.kind);
            for side in [SampleSide::New, SampleSide::Old] {
                let found = compared(&row.new, &[&witness.document], side);
                let decided = |change: &Change| {
                    matches!(change.rule.as_str(), "diff-key-added" | "diff-optional-key-removed")
                };
                assert!(found.rejected == 0 && found.changes.iter().all(decided), "{}: {found:#?}", row.kind);
            }
        }
    }
    assert!(shown > 30, "{shown}");
}

/// What an old document lacks or has too much of is a restriction; only where nothing of its kind is possible does it
/// break consumers.
#[test]
fn a_restriction_breaks_nobody() {
    let class = |schema: &str, documents: &[&str]| {
        let documents: Vec<Value> =
            documents.iter().map(|text| serde_json::from_str(text).unwrap()).collect();
        let documents: Vec<&Value> = documents.iter().collect();
        worst(&compared(&serde_json::from_str(schema).unwrap(), &documents, SampleSide::Old).changes)
    };
    assert_eq!(class(r#"{"minLength":3}"#, &["\"a\""]), Some(Class::Compatible));
    assert_eq!(class(r#"{"type":"integer"}"#, &["1.5"]), Some(Class::Compatible));
    assert_eq!(class(r#"{"type":"string"}"#, &["1", "\"a\""]), Some(Class::Compatible));
    assert_eq!(class(r#"{"type":"string"}"#, &["1"]), Some(Class::Breaking));
    assert_eq!(class(r#"{"type":"string"}"#, &["null"]), Some(Class::Compatible));
    assert_eq!(
        class(r#"{"type":"object","additionalProperties":false}"#, &[r#"{"a":1}"#]),
        Some(Class::Risky)
    );
}
