//! Validation, compared with the jsonschema crate: a schema and a document.
//!
//! Numbers that binary64 rounds and `multipleOf` of fractions are not compared, because this validator is exact;
//! `differential.py` compares these. Schemas with a cycle of references that stays at the same value only must not
//! crash: their meaning is undefined (JSON Schema 2020-12 core, section 9.4.1).

use super::shared::{SCHEMA_WORDS, document, is_cheap, is_exact, load_schema, validate};
use crate::{Target, corpus};
use agentnative_contract::{Framing, Schema, Violation};
use jsonschema::{PatternOptions, meta};
use serde_json::Value;
use std::collections::HashSet;

pub const TARGET: Target = Target { name: "schema", run, seeds, words: SCHEMA_WORDS };

fn seeds() -> Vec<Vec<u8>> {
    let schemas = corpus::texts(&["contracts", "examples", "fixtures", "schemas"], &[".schema.json"]);
    let documents = corpus::texts(&["contracts"], &["valid.json", "valid.jsonl", ".json"]);
    let pairs =
        schemas.iter().cycle().zip(&documents).map(|(schema, document)| corpus::join(&[schema, document]));
    pairs.filter(|pair| pair.len() < 6 << 10).collect()
}

/// Returns the pointers and keywords of the violations, sorted.
fn locations(violations: &[Violation]) -> Vec<(String, String)> {
    sorted(violations.iter().map(|it| (it.pointer.clone(), it.keyword.clone().unwrap_or_default())))
}

/// Returns the pointers, keywords and messages of the violations, sorted.
fn messages(violations: &[Violation]) -> Vec<(&str, Option<&str>, &str)> {
    sorted(violations.iter().map(|it| (&*it.pointer, it.keyword.as_deref(), &*it.message)))
}

fn sorted<T: Ord>(items: impl Iterator<Item = T>) -> Vec<T> {
    let mut items: Vec<T> = items.collect();
    items.sort();
    items
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
    // `build` alone accepts some unknown meta-schemas.
    let theirs = meta::validate(&schema).is_ok().then(|| options.build(&schema).ok()).flatten();
    assert_eq!(ours.is_ok(), theirs.is_some(), "{:?}", ours.err());
    let (Ok(ours), Some(theirs)) = (ours, theirs) else { return };
    let violations = ours.violations(&value);
    let defined = !has_cycle(&schema);

    let folder = tempfile::tempdir().expect("there is a folder for temporary files");
    if let Ok(contract) = load_schema(schema_text, folder.path()) {
        let verdict = validate(&contract, Framing::Document, text, 1);
        if defined && is_exact(text) {
            assert_eq!(locations(&verdict.errors), locations(&violations));
            let verdict = validate(&contract, Framing::Document, value.to_string().as_bytes(), 1);
            assert_eq!(messages(&verdict.errors), messages(&violations));
        }
    }
    let multiples = schema_text.windows(10).any(|window| window == b"multipleOf");
    if defined && is_exact(schema_text) && is_exact(text) && !(multiples && has_fractions(&schema, &value)) {
        let location = |error: jsonschema::ValidationError<'_>| {
            (error.instance_path().as_str().to_owned(), error.kind().keyword().to_owned())
        };
        assert_eq!(locations(&violations), sorted(theirs.iter_errors(&value).map(location)));
    }
}

/// Returns whether the schema may have a cycle of references that stays at the same value. References that are not
/// pointers into the schema count as references to its root.
fn has_cycle(schema: &Value) -> bool {
    let mut finished = HashSet::new();
    let mut parts = vec![schema];
    while let Some(part) = parts.pop() {
        if leads_to_cycle(schema, part, &mut Vec::new(), &mut finished) {
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

/// Returns whether this part leads back to itself or to a part in `path`, which leads to this part.
fn leads_to_cycle<'s>(
    root: &'s Value,
    part: &'s Value,
    path: &mut Vec<*const Value>,
    finished: &mut HashSet<*const Value>,
) -> bool {
    let Some(members) = part.as_object() else { return false };
    if path.contains(&std::ptr::from_ref(part)) {
        return true;
    }
    if !finished.insert(part) {
        return false;
    }
    path.push(part);
    let at_same_value = members.iter().flat_map(|(key, value)| match (key.as_str(), value) {
        ("$ref" | "$dynamicRef" | "$recursiveRef", Value::String(to)) => {
            vec![to.strip_prefix('#').and_then(|pointer| root.pointer(pointer)).unwrap_or(root)]
        }
        ("not" | "if" | "then" | "else", schema) => vec![schema],
        ("allOf" | "anyOf" | "oneOf", Value::Array(all)) => all.iter().collect(),
        ("dependentSchemas" | "dependencies", Value::Object(all)) => all.values().collect(),
        _ => Vec::new(),
    });
    let found = at_same_value.into_iter().any(|next| leads_to_cycle(root, next, path, finished));
    path.pop();
    found
}

/// Returns whether a number is not a whole number that binary64 represents exactly.
fn has_fractions(schema: &Value, value: &Value) -> bool {
    let is_exact_integer =
        |number: &serde_json::Number| number.as_i64().is_some_and(|it| it.unsigned_abs() < 1 << 53);
    fn any(value: &Value, test: &dyn Fn(&serde_json::Number) -> bool) -> bool {
        match value {
            Value::Number(number) => test(number),
            Value::Array(all) => all.iter().any(|value| any(value, test)),
            Value::Object(all) => all.values().any(|value| any(value, test)),
            _ => false,
        }
    }
    any(schema, &|number| !is_exact_integer(number)) || any(value, &|number| !is_exact_integer(number))
}
