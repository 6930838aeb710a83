//! Inferring: each sample is valid against the schema that was inferred, however many threads read it; what was learnt
//! is the same when it was written and read, and any bytes in its place are read without a panic.

use super::shared::{contract_of, validate};
use crate::{Target, corpus};
use agentnative_contract::{Framing, OutputSpec, Violation};
use agentnative_diff::compare;
use agentnative_diff::infer::{Inference, Rules};
use std::path::Path;
use strict_json::ProblemKind;

/// See the file.
pub const TARGET: Target = Target {
    name: "infer",
    run,
    seeds: || {
        let folders = ["contracts", "examples", "fixtures", "fuzz/seeds/infer"];
        corpus::texts(&folders, &[".json", ".jsonl", ".stdout", ".state"])
    },
    words: &[
        "\"type\": \"a\"",
        "\"type\": true",
        "\"kind\": \"b\"",
        "\"event\": null",
        "\"$ref\": 1",
        "\"a/b~\": {}",
        "\"2026-01-01T00:00:00Z\"",
        "\"https://a.b\"",
        "\"123e4567-e89b-12d3-a456-426614174000\"",
        "\"\": []",
    ],
};

const RULES: [Rules; 3] = [
    Rules { enum_threshold: 1, tuples: 1, cautious: false },
    Rules { enum_threshold: 2, tuples: 2, cautious: false },
    Rules::cautious(),
];

fn run(bytes: &[u8]) {
    let _ = Inference::read_state(Path::new("state"), bytes).map(|state| state.schema(&Rules::default()));
    for framing in [Framing::Document, Framing::Lines] {
        let Some(inference) = learn(bytes, framing, 1) else { continue };
        let lines = framing == Framing::Lines;
        let mut state = Vec::new();
        inference.write_state(&mut state).expect("memory can be written");
        let again = Inference::read_state(Path::new("state"), state.as_slice()).expect("it was just written");
        let mut same = Vec::new();
        again.write_state(&mut same).expect("memory can be written");
        assert_eq!(state, same);
        for rules in &RULES {
            let schema = inference.schema(rules);
            if lines {
                let again = learn(bytes, framing, 2).map(|again| again.schema(rules));
                assert_eq!(again.as_ref(), Some(&schema));
            }
            let folder = tempfile::tempdir().expect("there is a folder for temporary files");
            let contract = contract_of(schema.to_string().as_bytes(), folder.path());
            let contract = contract.unwrap_or_else(|error| panic!("{error:?}\n{schema}"));
            let verdict = validate(&contract, framing, bytes, 1);
            // Lines that are no objects are samples, but no valid lines.
            let wrong = |found: &&Violation| found.rule != ProblemKind::NotObject.name();
            let wrong: Vec<_> = verdict.findings.iter().filter(wrong).collect();
            assert!(wrong.is_empty(), "{wrong:?}\n{schema}");
        }
        let schema = inference.schema(&Rules::default());
        let promise =
            || OutputSpec { framing: Some(framing), schema: Some(schema.clone()), ..OutputSpec::default() };
        if schema.to_string().len() < 8 << 10 {
            assert_eq!(compare(&[promise()], &[promise()]), []);
        }
        for key in ["type", "kind", "event"] {
            let variants = inference.variants(key, &Rules::default()).unwrap_or_default();
            let count: u64 = variants.iter().map(|variant| variant.count).sum();
            assert!(variants.is_empty() || count == inference.records());
        }
    }
}

/// What is learnt from samples without faults.
fn learn(bytes: &[u8], framing: Framing, threads: usize) -> Option<Inference> {
    let mut inference = Inference::new();
    let faults = inference.input(bytes, Some(framing), threads, &mut |_| ()).expect("memory can be read");
    (faults.is_empty() && inference.records() > 0).then_some(inference)
}
