//! Streams of agents: any stream has an outcome that is valid against its schema, and the same for any chunks of the
//! bytes.

use super::chunked_reader::ChunkedReader;
use crate::{Target, corpus};
use agentnative_contract::{Contract, Framing};
use agentnative_outcome::{Collector, Dialect, OutcomeOptions, RunOutcome};
use std::io::Read;
use std::sync::LazyLock;

pub const TARGET: Target = Target {
    name: "outcome",
    run,
    seeds: || {
        corpus::texts(&["contracts", "fixtures/outcome", "fixtures/agent"], &[".jsonl", ".stdout", ".stderr"])
    },
    words: &[
        "\"type\": \"result\"",
        "\"type\": \"tool\"",
        "\"status\": \"completed\"",
        "\"is_error\": true",
        "\"usage\": {\"input_tokens\": 1e300}",
        "\"timestamp\": \"2026-01-01T00:00:00Z\"",
        "\"time\": {\"start\": -1}",
        "\"sessionID\": \"s\"",
        "data: {}",
        "\"parentID\": \"s\"",
        "\"duration_ms\": 1e308",
        "\"id\": null",
    ],
};

static CONTRACT: LazyLock<Contract> =
    LazyLock::new(|| Contract::bundled("run-outcome").expect("it is bundled"));

fn run(bytes: &[u8]) {
    let sum: usize = bytes.iter().map(|byte| usize::from(*byte)).sum();
    let sizes = [1, 2, 1 + sum % 97];
    for dialect in [Dialect::Auto, Dialect::ALL[sum % Dialect::ALL.len()]] {
        let options =
            OutcomeOptions { dialect, full: sum.is_multiple_of(2), steps: true, ..OutcomeOptions::default() };
        let whole = outcome(bytes, bytes, &options);
        let pieces = outcome(ChunkedReader::new(bytes, &sizes), ChunkedReader::new(bytes, &sizes), &options);
        assert_eq!(whole, pieces);
        let Some(whole) = whole else { continue };
        let text = serde_json::to_vec(&whole).expect("an outcome can be written");
        let verdict = super::shared::validate(&CONTRACT, Framing::Document, &text, 1);
        assert!(verdict.is_valid(), "{:?}", verdict.errors);
    }
}

fn outcome(stdout: impl Read, stderr: impl Read, options: &OutcomeOptions) -> Option<RunOutcome> {
    let collector = Collector::new(options.clone());
    collector.read(stdout, "").expect("memory can be read");
    let trajectory = collector.atif().ok();
    serde_json::to_string(&trajectory).expect("a trajectory can be written");
    let first = collector.outcome();
    assert_eq!(first, collector.outcome());
    collector.read_stderr(stderr).expect("memory can be read");
    collector.outcome().ok()
}
