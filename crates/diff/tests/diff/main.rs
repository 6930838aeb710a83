//! Tests of comparison, inference and locks through the public API.

mod infer;
mod interface;
mod kinds;
mod lock;
#[path = "../../../../tests/support/own_process.rs"]
mod own_process;
mod pairs;
mod real;
mod references;
mod rules;
mod samples;
mod shape;
mod sizes;
mod soundness;
mod support;
mod variants;
