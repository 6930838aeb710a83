//! Runs of strangers' programs: what survives, what takes how long, what signals do. Apart from the other
//! tests, since times are looked at.

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
