//! Tests of runs of untrusted programs: surviving processes, durations, signals. They are a test target of their own
//! because they measure time.

mod hostile;
mod hostile_exploration;
mod interrupt;
mod namespace;
#[path = "support/own_process.rs"]
mod own_process;
#[path = "support/python.rs"]
mod python;
mod run;
#[path = "support/runs.rs"]
mod runs;
