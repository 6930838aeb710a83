//! What the tests of this folder share.

use agentnative_contract::{Framing, OutputSpec, Schema};
use agentnative_diff::{Change, Class, compare};
use serde_json::Value;

/// The promise that a schema of documents is.
pub fn promise(schema: &Value) -> OutputSpec {
    OutputSpec { framing: Some(Framing::Document), schema: Some(schema.clone()), ..OutputSpec::default() }
}

/// The changes between two schemas of documents.
pub fn changes(old: &Value, new: &Value) -> Vec<Change> {
    compare(&[promise(old)], &[promise(new)])
}

/// The worst class of these changes.
pub fn worst(changes: &[Change]) -> Option<Class> {
    changes.iter().map(|change| change.class).min()
}

/// The IDs of the rules, sorted.
pub fn rules(changes: &[Change]) -> Vec<String> {
    let mut rules: Vec<String> = changes.iter().map(|change| change.rule.clone()).collect();
    rules.sort();
    rules
}

/// Fails unless every witness is valid under the new schema and not under the old one.
pub fn hold_witnesses(old: &Value, new: &Value, changes: &[Change]) {
    let (old, new) = (Schema::compile(old).unwrap(), Schema::compile(new).unwrap());
    for change in changes {
        if let Some(witness) = &change.witness {
            assert!(new.violations(&witness.document).is_empty(), "{change:#?}");
            // A format is no assertion in 2020-12: only our own look at it is one.
            let format = change.rule == "diff-format-loosened";
            assert!(format || !old.violations(&witness.document).is_empty(), "{change:#?}");
        }
    }
}
