//! Comparison of samples with a schema.

use crate::kinds::table;
use crate::support::{changes, worst};
use agentnative_contract::Contract;
use agentnative_diff::{Change, ChangeSeverity, SampleComparison, SampleSide, compare_sample};
use serde_json::Value;
use std::sync::Arc;

/// Compares documents, one per line, with a schema.
fn compare_documents(schema: &Value, documents: &[&Value], side: SampleSide) -> SampleComparison {
    let folder = tempfile::tempdir().unwrap();
    let (schema_file, sample) = (folder.path().join("a.schema.json"), folder.path().join("a.jsonl"));
    std::fs::write(&schema_file, schema.to_string()).unwrap();
    std::fs::write(&sample, documents.iter().map(|one| format!("{one}\n")).collect::<String>()).unwrap();
    compare_sample(&Arc::new(Contract::load(&schema_file).unwrap()), &sample, side).unwrap()
}

/// The witness of a change between two schemas shows a change of the same class if it is compared with the old schema,
/// and no violation of the new one.
#[test]
fn a_witness_as_sample_has_the_class_of_its_change() {
    let mut compared_count = 0;
    for row in table() {
        for change in changes(&row.old, &row.new) {
            // 2020-12 does not assert formats.
            let Some(witness) = change.witness.filter(|_| change.rule != "diff-format-loosened") else {
                continue;
            };
            compared_count += 1;
            let found = compare_documents(&row.old, &[&witness.document], SampleSide::New);
            assert_eq!((found.records, found.rejected), (1, 1), "{}", row.kind);
            assert!(worst(&found.changes) <= Some(change.class), "{}: {found:#?}", row.kind);
            let occurs_once =
                |change: &Change| change.evidence.as_ref().is_some_and(|evidence| evidence.count == 1);
            assert!(found.changes.iter().all(occurs_once), "{}: {found:#?}", row.kind);
            for side in [SampleSide::New, SampleSide::Old] {
                let found = compare_documents(&row.new, &[&witness.document], side);
                let is_key_change = |change: &Change| {
                    matches!(change.rule.as_str(), "diff-key-added" | "diff-optional-key-removed")
                };
                assert!(
                    found.rejected == 0 && found.changes.iter().all(is_key_change),
                    "{}: {found:#?}",
                    row.kind
                );
            }
        }
    }
    assert!(compared_count > 30, "{compared_count}");
}

/// A violation by an old document is a restriction; it breaks consumers only if no value of its kind is possible any
/// more.
#[test]
fn a_restriction_does_not_break_consumers() {
    let class = |schema: &str, documents: &[&str]| {
        let documents: Vec<Value> =
            documents.iter().map(|text| serde_json::from_str(text).unwrap()).collect();
        let documents: Vec<&Value> = documents.iter().collect();
        worst(&compare_documents(&serde_json::from_str(schema).unwrap(), &documents, SampleSide::Old).changes)
    };
    assert_eq!(class(r#"{"minLength":3}"#, &["\"a\""]), Some(ChangeSeverity::Compatible));
    assert_eq!(class(r#"{"type":"integer"}"#, &["1.5"]), Some(ChangeSeverity::Compatible));
    assert_eq!(class(r#"{"type":"string"}"#, &["1", "\"a\""]), Some(ChangeSeverity::Compatible));
    assert_eq!(class(r#"{"type":"string"}"#, &["1"]), Some(ChangeSeverity::Breaking));
    assert_eq!(class(r#"{"type":"string"}"#, &["null"]), Some(ChangeSeverity::Compatible));
    assert_eq!(
        class(r#"{"type":"object","additionalProperties":false}"#, &[r#"{"a":1}"#]),
        Some(ChangeSeverity::Risky)
    );
}
