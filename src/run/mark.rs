//! How the processes of one run are known again, whatever they do.
//!
//! Two marks are inherited by all descendants of a run: a cookie in the environment, and the hard
//! limit on file sizes, which is a little different for each run. The second outlives `env -i`, a
//! session of its own and a double fork, so that an orphan that we adopt while several runs go on is
//! never taken for another run's.

use super::proc;
use rustix::process::{Resource, getrlimit};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// No file that a target writes may grow past this, at least.
const LEAST_FILE_SIZE: u64 = 4 << 30;
/// How far the marks of two runs are apart. A checker that is itself under check puts the marks of
/// its runs into the gap.
const GAP: u64 = 1 << 20;

static NEXT: AtomicU64 = AtomicU64::new(1);

/// The marks of one run.
#[derive(Debug, Clone)]
pub(super) struct Mark {
    /// `NAME=value` in the environment.
    pub cookie: String,
    /// The hard limit on file sizes, in bytes.
    pub file_size: u64,
    gap: u64,
}

/// Whose process it is, told from its marks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Owner {
    /// This run's.
    Ours,
    /// Another run's.
    Other,
    /// It has no mark (any more).
    Nobody,
}

impl Mark {
    /// The name of the variable that holds the cookie.
    pub const VARIABLE: &str = "AGENTNATIVE_RUN";

    /// Marks that no other run has.
    pub fn new() -> Self {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
        let cookie = format!("{}={:08x}-{now:020x}-{number:08}", Self::VARIABLE, std::process::id());
        match own_limit() {
            None => Self { cookie, file_size: LEAST_FILE_SIZE + number * GAP, gap: GAP },
            Some(limit) => Self { cookie, file_size: limit.saturating_sub(number), gap: 1 },
        }
    }

    /// The value of the cookie.
    pub fn value(&self) -> &str {
        self.cookie.split_once('=').map_or("", |(_, value)| value)
    }

    /// Reads the marks of a process.
    pub fn owner(&self, pid: i32) -> Owner {
        let limit = proc::file_size_limit(pid);
        if limit.is_some_and(|limit| limit <= self.file_size && limit + self.gap > self.file_size)
            || proc::has_variable(pid, &self.cookie)
        {
            Owner::Ours
        } else if is_mark(limit) {
            Owner::Other
        } else {
            Owner::Nobody
        }
    }
}

/// Whether a process has the mark of any run.
pub(super) fn is_marked(pid: i32) -> bool {
    is_mark(proc::file_size_limit(pid))
}

fn is_mark(limit: Option<u64>) -> bool {
    match (limit, own_limit()) {
        (Some(limit), None) => limit > LEAST_FILE_SIZE,
        (Some(limit), Some(own)) => limit < own,
        (None, _) => false,
    }
}

fn own_limit() -> Option<u64> {
    getrlimit(Resource::Fsize).maximum
}
