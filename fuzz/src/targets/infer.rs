//! Inference: each sample is valid against the inferred schema, for any number of threads. The state survives
//! serialization, and parsing arbitrary bytes as a state does not panic.

use super::shared::{load_schema, validate};
use crate::{Target, corpus};
use agentnative_contract::{Framing, OutputSpec, Violation};
use agentnative_diff::compare;
use agentnative_diff::infer::{Inference, InferenceOptions};
use std::path::Path;
use strict_json::ProblemKind;

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

const RULES: [InferenceOptions; 3] = [
    InferenceOptions { enum_threshold: 1, tuples: 1, for_other_data: false },
    InferenceOptions { enum_threshold: 2, tuples: 2, for_other_data: false },
    InferenceOptions::cautious(),
];

fn run(bytes: &[u8]) {
    let _ = Inference::read_state(Path::new("state"), bytes)
        .map(|state| state.schema(&InferenceOptions::default()));
    for framing in [Framing::Document, Framing::Lines] {
        let Some(inference) = infer(bytes, framing, 1) else { continue };
        let lines = framing == Framing::Lines;
        let mut state = Vec::new();
        inference.write_state(&mut state).expect("memory can be written");
        let again = Inference::read_state(Path::new("state"), state.as_slice()).expect("it was just written");
        let mut state_again = Vec::new();
        again.write_state(&mut state_again).expect("memory can be written");
        assert_eq!(state, state_again);
        for rules in &RULES {
            let schema = inference.schema(rules);
            if lines {
                let again = infer(bytes, framing, 2).map(|again| again.schema(rules));
                assert_eq!(again.as_ref(), Some(&schema));
            }
            let folder = tempfile::tempdir().expect("there is a folder for temporary files");
            let contract = load_schema(schema.to_string().as_bytes(), folder.path());
            let contract = contract.unwrap_or_else(|error| panic!("{error:?}\n{schema}"));
            let verdict = validate(&contract, framing, bytes, 1);
            // Lines that are not objects are samples, but invalid lines.
            let is_unexpected = |violation: &&Violation| violation.rule != ProblemKind::NotObject.name();
            let unexpected: Vec<_> = verdict.errors.iter().filter(is_unexpected).collect();
            assert!(unexpected.is_empty(), "{unexpected:?}\n{schema}");
        }
        let schema = inference.schema(&InferenceOptions::default());
        let output_spec =
            || OutputSpec { framing: Some(framing), schema: Some(schema.clone()), ..OutputSpec::default() };
        if schema.to_string().len() < 8 << 10 {
            assert_eq!(compare(&[output_spec()], &[output_spec()]), []);
        }
        for key in ["type", "kind", "event"] {
            let variants = inference.variants(key, &InferenceOptions::default()).unwrap_or_default();
            let count: u64 = variants.iter().map(|variant| variant.count).sum();
            assert!(variants.is_empty() || count == inference.records());
        }
    }
}

/// Infers from samples without problems.
fn infer(bytes: &[u8], framing: Framing, threads: usize) -> Option<Inference> {
    let mut inference = Inference::new();
    let problems =
        inference.add_input(bytes, Some(framing), threads, &mut |_| ()).expect("memory can be read");
    (problems.is_empty() && inference.records() > 0).then_some(inference)
}
