//! Comparison: an old schema, a new schema, and a document.
//!
//! Witnesses are correct. A schema does not differ from itself. If the new schema allows the document and the old one
//! does not, a change is reported.

use super::shared::{SCHEMA_WORDS, document, is_cheap, is_exact};
use crate::{Target, corpus};
use agentnative_contract::{Framing, OutputSpec, Schema};
use agentnative_diff::{Change, ChangeSeverity, compare};
use serde_json::Value;

pub const TARGET: Target = Target { name: "diff", run, seeds, words: SCHEMA_WORDS };

fn seeds() -> Vec<Vec<u8>> {
    let schemas = corpus::texts(&["contracts", "examples", "fixtures", "schemas"], &[".schema.json"]);
    let documents = corpus::texts(&["contracts"], &[".json"]);
    let mut seeds: Vec<_> = schemas
        .iter()
        .zip(documents.iter().cycle().step_by(7))
        .map(|(schema, document)| corpus::join(&[schema, schema, document]))
        .collect();
    seeds.extend(schemas.windows(2).map(|pair| corpus::join(&[&pair[0][..], &pair[1], b"{}"])));
    seeds.retain(|seed| seed.len() < 8 << 10);
    seeds
}

fn output_spec(schema: &Value) -> OutputSpec {
    OutputSpec { framing: Some(Framing::Document), schema: Some(schema.clone()), ..OutputSpec::default() }
}

fn changes(old: &Value, new: &Value) -> Vec<Change> {
    compare(&[output_spec(old)], &[output_spec(new)])
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
            // `format` is not an assertion in 2020-12; only the comparison treats it as one.
            let format = change.rule == "diff-format-loosened";
            assert!(format || !before.violations(&witness.document).is_empty(), "{change:#?}");
        }
    }
    let exact = is_exact(old_text) && is_exact(new_text);
    let example = parts.next().filter(|text| exact && is_exact(text)).and_then(document);
    if let Some(example) = example
        && after.violations(&example).is_empty()
        && !before.violations(&example).is_empty()
    {
        let worst = found.iter().map(|change| change.class).min();
        assert!(
            worst.is_some_and(|worst| worst <= ChangeSeverity::Risky),
            "{:?} {found:#?}",
            before.violations(&example)
        );
    }
}
