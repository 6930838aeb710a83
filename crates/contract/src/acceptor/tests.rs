//! Tests of the acceptor on the examples of bundled contracts.

use crate::Contract;
use crate::rule_index::RuleInputs;
use crate::violation::LimitedViolations;
use std::fs;
use std::path::Path;
use strict_json::Tape;

/// Returns the number of records in the valid examples of a contract, and how many of these the acceptor accepts
/// without the validator.
fn accepted_records(name: &str) -> (usize, usize) {
    let contract = Contract::bundled(name).unwrap();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("contracts").join(name).join("examples/valid");
    let texts = fs::read_dir(folder).unwrap().map(|entry| fs::read_to_string(entry.unwrap().path()).unwrap());
    let (mut all, mut accepted, mut tape) = (0, 0, Tape::default());
    for text in texts {
        for line in text.lines() {
            tape.fill(&serde_json::from_str(line).unwrap());
            let root = tape.root().unwrap();
            let class = contract.index.extract(
                &contract.spec,
                root,
                &mut RuleInputs::default(),
                &mut LimitedViolations::default(),
            );
            let Some(schema) = contract.schema_of(class.event_type) else { continue };
            all += 1;
            accepted += usize::from(schema.acceptor.as_ref().unwrap().accepts_if_known(root) == Some(true));
        }
    }
    (all, accepted)
}

#[test]
fn every_valid_event_of_common_streams_is_accepted() {
    for name in ["cline-json", "codex-exec", "gemini-stream", "opencode-events", "opencode-run", "pi-json"] {
        let (all, accepted) = accepted_records(name);
        assert!(all > 20 && accepted == all, "{name}: {accepted} of {all}");
    }
}
