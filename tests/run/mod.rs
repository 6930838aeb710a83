//! Tests of runs through the public interface.

mod boundaries;
mod conditions;
mod confinement;
mod explored;
mod helper;
mod limits;
mod orphans;
mod redaction;
mod resolve;
mod retries;
mod services;
mod slots;
mod snapshots;
mod start;
mod tripwires;
mod variants;
mod waiting;

use crate::runs::{finish, options, spec};
use agentnative::model::Variant;
use agentnative::run::{Observation, Outcome, RunSpec};

/// Specification of a run of a shell script.
fn sh(script: &str, variant: Variant) -> RunSpec {
    spec("/bin/sh", &["-c", script], variant)
}

/// Specification of a run of a Python script.
fn python(script: &str, variant: Variant) -> RunSpec {
    spec(crate::python::program().to_str().unwrap(), &["-c", script], variant)
}

fn run(spec: RunSpec) -> Outcome {
    run_all(vec![spec]).remove(0).outcome
}

fn run_all(specs: Vec<RunSpec>) -> Vec<Observation> {
    finish(options(), specs).observations
}
