//! Tests of contracts through the public API of the crate.

#[path = "../../../../tests/support/alone.rs"]
mod alone;
mod bundled;
mod captures;
mod chunks;
mod contract_examples;
mod differential;
#[path = "../../../../tests/support/documents.rs"]
mod documents;
mod folder;
mod mutants;
mod schema_corpus;
mod schema_files;
mod validate_memory;
