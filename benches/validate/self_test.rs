//! Compares the results of the measured validator with those of serde_json and the jsonschema crate, on generated
//! documents.

use crate::documents::{schema, value};
use agentnative_contract::{Contract, Framing, RunExit, Settings, Validation};
use proptest::strategy::{Strategy as _, ValueTree as _};
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};
use std::fs;
use strict_json::{ProblemKind, ReadOptions, Tape, read_document, read_lines_in_memory, read_value};

const SCHEMAS: usize = 12_500;
const DOCUMENTS_PER_SCHEMA: usize = 8;

/// Runs the comparison. Panics at the first difference.
pub fn run() {
    let folder = tempfile::tempdir().expect("a folder can be created");
    let path = folder.path().join("schema.json");
    let mut runner = TestRunner::deterministic();
    let (mut valid, mut rejected) = (0, 0);
    for _ in 0..SCHEMAS {
        let schema = schema().new_tree(&mut runner).expect("a value can be generated").current();
        let schema = json!({ "properties": { "v": schema } });
        fs::write(&path, schema.to_string()).expect("a file can be written");
        let contract = Contract::load(&path).expect("the schema is valid");
        let options = jsonschema::options().with_pattern_options(jsonschema::PatternOptions::regex());
        let validator = options.build(&schema).expect("the schema is valid");
        for number in 0..DOCUMENTS_PER_SCHEMA {
            let document = value().new_tree(&mut runner).expect("a value can be generated").current();
            let text = json!({ "v": document }).to_string();
            let expected = validator.is_valid(&assert_same_value(&text));
            valid += usize::from(expected);
            for (framing, text) in [(Framing::Document, &text), (Framing::Lines, &format!("{text}\n"))] {
                assert_eq!(is_valid(&contract, framing, text), expected, "{schema} {text}");
            }
            rejected += usize::from(assert_same_rejection(text.into_bytes(), number));
        }
    }
    let total = SCHEMAS * DOCUMENTS_PER_SCHEMA;
    println!(
        "{total} documents, {valid} of them valid, {rejected} rejected after one byte was replaced: no difference"
    );
}

fn is_valid(contract: &Contract, framing: Framing, text: &str) -> bool {
    let settings = Settings { framing, max_errors: 20, exit: RunExit::default(), threads: 1 };
    let verdict = Validation::new(contract, settings).validate(text.as_bytes(), &mut |_| ());
    verdict.expect("reading from memory succeeds").is_valid()
}

/// Returns the value of a document, and asserts that all readers return the same value.
fn assert_same_value(text: &str) -> Value {
    // The text is parsed again, since writing a generated value may round its numbers.
    let expected: Value = serde_json::from_str(text).expect("the text is JSON");
    let read =
        read_value(text.as_bytes(), &ReadOptions::default(), u64::MAX).expect("reading from memory succeeds");
    assert_eq!(read.value.as_ref(), Some(&expected), "{text}");
    let mut tape = Tape::default();
    let summary = read_lines_in_memory(format!("{text}\n").as_bytes(), &ReadOptions::default(), &mut tape);
    assert!(!summary.rejected() && tape.root().is_some(), "{text}");
    expected
}

/// Returns whether a document with one byte replaced is rejected, and asserts that both readers agree.
fn assert_same_rejection(mut bytes: Vec<u8>, number: usize) -> bool {
    const DAMAGE: &[u8] = b"\"\\{}[]:,0.-e\x01\xffn ";
    let position = bytes.len() * (number + 1) / (DOCUMENTS_PER_SCHEMA + 1);
    bytes[position] = DAMAGE[bytes.len() % DAMAGE.len()];
    let theirs = serde_json::from_slice::<Value>(&bytes).is_err();
    let summary =
        read_document(&*bytes, &ReadOptions::default(), &mut ()).expect("reading from memory succeeds");
    let mut kinds = summary.problems.iter().map(|problem| problem.kind);
    // serde_json accepts duplicate keys and rejects numbers out of the range of binary64.
    let ours = kinds.any(|kind| kind.rejects() && kind != ProblemKind::DuplicateKey);
    assert!(ours == theirs || summary.count(ProblemKind::Overflow) > 0, "{}", bytes.escape_ascii());
    theirs
}
