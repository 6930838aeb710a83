//! What a run gave.

use super::{Captured, End, Leftover, RunKey, Waiting};
use agentnative_helper::Outcome;
use std::time::Duration;

/// Everything that was seen of one run.
#[derive(Debug, Clone)]
pub struct Observation {
    /// Which run it was.
    pub key: RunKey,
    /// The exact bytes of standard output (on a terminal: as written, before any line discipline).
    pub stdout: Captured,
    /// The exact bytes of standard error.
    pub stderr: Captured,
    /// How it ended.
    pub end: End,
    /// From start to the end of the leader.
    pub duration: Duration,
    /// Processes that were still there when the leader had ended and the drain deadline was over,
    /// and were then killed.
    pub left_behind: Vec<Leftover>,
    /// A descendant held standard output or error open past the drain deadline.
    pub held_open: bool,
    /// What it was waiting for: at the deadline, or when a read of a silent standard input or of the
    /// terminal was seen.
    pub waiting: Option<Waiting>,
}

impl Observation {
    /// What came of the run of this name.
    pub(super) fn new(key: RunKey, outcome: Outcome) -> Self {
        let Outcome { stdout, stderr, end, duration, left_behind, held_open, waiting } = outcome;
        Self { key, stdout, stderr, end, duration, left_behind, held_open, waiting }
    }
}
