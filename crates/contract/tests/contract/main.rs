//! Tests of contracts through the public API of the crate.

mod bundled;
mod captures;
mod chunks;
mod contract_examples;
mod differential;
#[path = "../../../../tests/support/documents.rs"]
mod documents;
mod folder;
mod known_findings;
mod mutants;
#[path = "../../../../tests/support/own_process.rs"]
mod own_process;
mod recording_mutations;
#[path = "../../../../tests/support/recordings.rs"]
mod recordings;
mod recordings_of_agents;
mod schema_corpus;
mod schema_files;
mod validate_memory;
