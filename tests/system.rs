//! Tests of runs of untrusted programs: surviving processes, durations, signals. They are a test target of their own
//! because they measure time.

#[path = "support/alone.rs"]
mod alone;
mod hostile;
mod interrupt;
mod namespace;
#[path = "support/python.rs"]
mod python;
mod run;
#[path = "support/runs.rs"]
mod runs;
