//! Executes one run of a stranger's program safely, and keeps what it gave.
//!
//! This layer knows no check and no contract. It is the only one that spawns processes.
//!
//! [`Runner`] schedules, `one` makes a single run: `channel` opens the standard descriptors, `launch`
//! starts this program again as the `launcher`, which becomes the target; `stream` and `capture` take
//! the bytes; `look` tells from /proc what a run waits for; `mark` and `family` know its processes
//! again and end them all.

mod capture;
mod channel;
mod env;
mod family;
mod folder;
mod launch;
mod launcher;
mod look;
mod mark;
mod observation;
mod one;
mod plan;
mod proc;
mod recorded;
mod resolve;
mod runner;
mod spec;
mod stream;

pub use env::{HOSTILE, clean_path, manager_variables};
pub use launcher::{LAUNCH_ARGUMENT, launcher_main};
pub use observation::{Bytes, Captured, Chunk, End, Leftover, Observation, Waiting};
pub use recorded::Recorded;
pub use resolve::resolve;
pub use runner::{Finished, Runner, RunnerOptions};
pub use spec::{RunKey, RunSpec, Stdin};

/// How far a target that was to be confined really was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Enforced {
    /// Writes, TCP and signals all were.
    Fully,
    /// Only what this kernel can.
    Partly,
    /// The kernel cannot.
    Not,
}
