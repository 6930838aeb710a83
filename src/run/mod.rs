//! Executes one run of a stranger's program safely, and keeps what it gave.
//!
//! This layer knows no check and no contract. It is the only one that spawns processes.

mod observation;
mod spec;

pub use observation::{Bytes, Captured, Chunk, End, Leftover, Observation, Waiting};
pub use spec::{RunKey, RunSpec, Stdin};
mod recorded;
pub use recorded::Recorded;
pub const HOSTILE: &[(&str, &[(&str, &str)])] = &[];
