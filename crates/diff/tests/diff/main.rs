//! Tests of comparison, inference and locks through the public API.

#[path = "../../../../tests/support/alone.rs"]
mod alone;
mod infer;
mod kinds;
mod lock;
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
