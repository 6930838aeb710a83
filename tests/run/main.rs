//! Runs of strangers' programs, through the public face.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod helper;
#[path = "../support/python.rs"]
mod python;
mod resolve;
mod start;
#[path = "../support/mod.rs"]
mod support;
mod variants;
mod waiting;

use agentnative::report::Variant;
use agentnative::run::{Observation, RunSpec};
use support::{finish, options, spec};

/// A run of a shell script.
fn sh(script: &str, variant: Variant) -> RunSpec {
    spec("/bin/sh", &["-c", script], variant)
}

/// A run of a Python script.
fn python(script: &str, variant: Variant) -> RunSpec {
    spec(python::program().to_str().unwrap(), &["-c", script], variant)
}

fn run(spec: RunSpec) -> Observation {
    all(vec![spec]).remove(0)
}

fn all(specs: Vec<RunSpec>) -> Vec<Observation> {
    finish(options(), specs).observations
}
