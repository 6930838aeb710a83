//! Shared helpers.

use agentnative_contract::{Framing, OutputSpec, Schema};
use agentnative_diff::{Change, ChangeSeverity, compare};
use serde_json::Value;

/// Returns the output specification of a schema of documents.
pub fn spec_of(schema: &Value) -> OutputSpec {
    OutputSpec { framing: Some(Framing::Document), schema: Some(schema.clone()), ..OutputSpec::default() }
}

/// Returns the changes between two schemas of documents.
pub fn changes(old: &Value, new: &Value) -> Vec<Change> {
    compare(&[spec_of(old)], &[spec_of(new)])
}

/// Returns the most severe class of these changes.
pub fn worst(changes: &[Change]) -> Option<ChangeSeverity> {
    changes.iter().map(|change| change.class).min()
}

/// Returns the IDs of the rules, sorted.
pub fn rules(changes: &[Change]) -> Vec<String> {
    let mut rules: Vec<String> = changes.iter().map(|change| change.rule.clone()).collect();
    rules.sort();
    rules
}

/// Asserts that every witness is valid under the new schema and invalid under the old one.
pub fn assert_witnesses(old: &Value, new: &Value, changes: &[Change]) {
    let (old, new) = (Schema::compile(old).unwrap(), Schema::compile(new).unwrap());
    for change in changes {
        if let Some(witness) = &change.witness {
            assert!(new.violations(&witness.document).is_empty(), "{change:#?}");
            // 2020-12 does not assert formats; only the witness check does.
            let format = change.rule == "diff-format-loosened";
            assert!(format || !old.violations(&witness.document).is_empty(), "{change:#?}");
        }
    }
}
