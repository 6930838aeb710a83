//! Validating, held to the jsonschema crate: a schema, and a document.
//!
//! Numbers that binary64 rounds are left out of the comparison, and so is `multipleOf` beyond whole numbers: ours
//! are exact. `differential.py` compares these. Schemas that lead back to themselves without a step into the value are
//! only held to not crash: what they mean is undefined (JSON Schema 2020-12 core, section 9.4.1).

use super::shared::{SCHEMA_WORDS, contract_of, document, is_cheap, is_exact, validate};
use crate::{Target, corpus};
use agentnative_contract::{Framing, Schema, Violation};
use jsonschema::{PatternOptions, meta};
use serde_json::Value;
use std::collections::HashSet;

/// See the file.
pub const TARGET: Target = Target { name: "schema", run, seeds, words: SCHEMA_WORDS };

fn seeds() -> Vec<Vec<u8>> {
    let schemas = corpus::texts(&["contracts", "examples", "fixtures", "schemas"], &[".schema.json"]);
    let documents = corpus::texts(&["contracts"], &["valid.json", "valid.jsonl", ".json"]);
    let pairs =
        schemas.iter().cycle().zip(&documents).map(|(schema, document)| corpus::join(&[schema, document]));
    pairs.filter(|pair| pair.len() < 6 << 10).collect()
}

/// Pointer and keyword.
fn places(found: &[Violation]) -> Vec<(String, String)> {
    sorted(found.iter().map(|it| (it.pointer.clone(), it.keyword.clone().unwrap_or_default())))
}

/// Pointer, keyword and message.
fn told(found: &[Violation]) -> Vec<(&str, Option<&str>, &str)> {
    sorted(found.iter().map(|it| (&*it.pointer, it.keyword.as_deref(), &*it.message)))
}

fn sorted<T: Ord>(all: impl Iterator<Item = T>) -> Vec<T> {
    let mut all: Vec<T> = all.collect();
    all.sort();
    all
}

fn run(bytes: &[u8]) {
    let mut parts = corpus::parts(bytes);
    let (Some(schema_text), Some(text)) = (parts.next(), parts.next()) else { return };
    let (Some(schema), Some(value)) = (document(schema_text), document(text)) else { return };
    if !is_cheap(schema_text) {
        return;
    }
    let ours = Schema::compile(&schema);
    let options = jsonschema::options().with_pattern_options(PatternOptions::regex());
    // Building alone takes a few meta-schemas that are not known.
    let theirs = meta::validate(&schema).is_ok().then(|| options.build(&schema).ok()).flatten();
    assert_eq!(ours.is_ok(), theirs.is_some(), "{:?}", ours.err());
    let (Ok(ours), Some(theirs)) = (ours, theirs) else { return };
    let found = ours.violations(&value);
    let defined = !has_circle(&schema);

    let folder = tempfile::tempdir().expect("there is a folder for temporary files");
    if let Ok(contract) = contract_of(schema_text, folder.path()) {
        let verdict = validate(&contract, Framing::Document, text, 1);
        if defined && is_exact(text) {
            assert_eq!(places(&verdict.findings), places(&found));
            let verdict = validate(&contract, Framing::Document, value.to_string().as_bytes(), 1);
            assert_eq!(told(&verdict.findings), told(&found));
        }
    }
    let multiples = schema_text.windows(10).any(|window| window == b"multipleOf");
    if defined && is_exact(schema_text) && is_exact(text) && !(multiples && has_fractions(&schema, &value)) {
        let place = |error: jsonschema::ValidationError<'_>| {
            (error.instance_path().as_str().to_owned(), error.kind().keyword().to_owned())
        };
        assert_eq!(places(&found), sorted(theirs.iter_errors(&value).map(place)));
    }
}

/// Whether a part of the schema may lead back to itself at one value. References that are no pointers into the
/// schema count as those to its root.
fn has_circle(schema: &Value) -> bool {
    let mut finished = HashSet::new();
    let mut parts = vec![schema];
    while let Some(part) = parts.pop() {
        if circles(schema, part, &mut Vec::new(), &mut finished) {
            return true;
        }
        match part {
            Value::Array(all) => parts.extend(all),
            Value::Object(all) => parts.extend(all.values()),
            _ => {}
        }
    }
    false
}

/// Whether this part leads back to itself or to one of those on the `way`, which led to it.
fn circles<'s>(
    root: &'s Value,
    part: &'s Value,
    way: &mut Vec<*const Value>,
    finished: &mut HashSet<*const Value>,
) -> bool {
    let Some(members) = part.as_object() else { return false };
    if way.contains(&std::ptr::from_ref(part)) {
        return true;
    }
    if !finished.insert(part) {
        return false;
    }
    way.push(part);
    let at_the_value = members.iter().flat_map(|(key, value)| match (key.as_str(), value) {
        ("$ref" | "$dynamicRef" | "$recursiveRef", Value::String(to)) => {
            vec![to.strip_prefix('#').and_then(|pointer| root.pointer(pointer)).unwrap_or(root)]
        }
        ("not" | "if" | "then" | "else", schema) => vec![schema],
        ("allOf" | "anyOf" | "oneOf", Value::Array(all)) => all.iter().collect(),
        ("dependentSchemas" | "dependencies", Value::Object(all)) => all.values().collect(),
        _ => Vec::new(),
    });
    let found = at_the_value.into_iter().any(|next| circles(root, next, way, finished));
    way.pop();
    found
}

/// Whether a number is no whole number that binary64 holds.
fn has_fractions(schema: &Value, value: &Value) -> bool {
    let whole = |number: &serde_json::Number| number.as_i64().is_some_and(|it| it.unsigned_abs() < 1 << 53);
    fn any(value: &Value, test: &dyn Fn(&serde_json::Number) -> bool) -> bool {
        match value {
            Value::Number(number) => test(number),
            Value::Array(all) => all.iter().any(|value| any(value, test)),
            Value::Object(all) => all.values().any(|value| any(value, test)),
            _ => false,
        }
    }
    any(schema, &|number| !whole(number)) || any(value, &|number| !whole(number))
}
