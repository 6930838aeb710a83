//! Comparing: an old schema, a new one, and a document.
//!
//! Witnesses hold; nothing differs from itself; and a document that the new schema allows and the old one does not
//! is never missed.

use super::shared::{SCHEMA_WORDS, document, is_cheap, is_exact};
use crate::{Target, corpus};
use agentnative_contract::{Framing, OutputSpec, Schema};
use agentnative_diff::{Change, Class, compare};
use serde_json::Value;

/// See the file.
pub const TARGET: Target = Target { name: "diff", run, seeds, words: SCHEMA_WORDS };

fn seeds() -> Vec<Vec<u8>> {
    let schemas = corpus::texts(&["contracts", "examples", "fixtures", "schemas"], &[".schema.json"]);
    let documents = corpus::texts(&["contracts"], &[".json"]);
    let mut all: Vec<_> = schemas
        .iter()
        .zip(documents.iter().cycle().step_by(7))
        .map(|(schema, document)| corpus::join(&[schema, schema, document]))
        .collect();
    all.extend(schemas.windows(2).map(|pair| corpus::join(&[&pair[0][..], &pair[1], b"{}"])));
    all.retain(|seed| seed.len() < 8 << 10);
    all
}

fn promise(schema: &Value) -> OutputSpec {
    OutputSpec { framing: Some(Framing::Document), schema: Some(schema.clone()), ..OutputSpec::default() }
}

fn changes(old: &Value, new: &Value) -> Vec<Change> {
    compare(&[promise(old)], &[promise(new)])
}

fn run(bytes: &[u8]) {
    let mut parts = corpus::parts(bytes);
    let (Some(old_text), Some(new_text)) = (parts.next(), parts.next()) else { return };
    if !is_cheap(old_text) || !is_cheap(new_text) {
        return;
    }
    let (Some(old), Some(new)) = (document(old_text), document(new_text)) else { return };
    let (Ok(before), Ok(after)) = (Schema::compile(&old), Schema::compile(&new)) else { return };
    let found = changes(&old, &new);
    assert_eq!(found, changes(&old, &new));
    assert_eq!(changes(&old, &old), []);
    for change in &found {
        if let Some(witness) = &change.witness {
            assert!(after.violations(&witness.document).is_empty(), "{change:#?}");
            // A format is no assertion in 2020-12: only the comparison makes it one.
            let format = change.rule == "diff-format-loosened";
            assert!(format || !before.violations(&witness.document).is_empty(), "{change:#?}");
        }
    }
    let exact = is_exact(old_text) && is_exact(new_text);
    let shown = parts.next().filter(|text| exact && is_exact(text)).and_then(document);
    if let Some(shown) = shown
        && after.violations(&shown).is_empty()
        && !before.violations(&shown).is_empty()
    {
        let worst = found.iter().map(|change| change.class).min();
        assert!(
            worst.is_some_and(|worst| worst <= Class::Risky),
            "{:?} {found:#?}",
            before.violations(&shown)
        );
    }
}
