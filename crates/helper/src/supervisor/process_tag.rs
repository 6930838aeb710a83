//! How the processes of one run are known again, whatever they do.
//!
//! Two tags are inherited by all descendants of a run: a cookie in the environment, and the hard
//! limit on file sizes, which is a little different for each run. The second outlives `env -i`, a
//! session of its own and a double fork, so that an orphan that we adopt while several runs go on is
//! never taken for another run's.

use crate::sys;
use rustix::process::{Resource, getrlimit};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// No file that a target writes may grow past this, at least.
pub(super) const LEAST_FILE_SIZE: u64 = 4 << 30;
/// How far the tags of two runs are apart. A checker that is itself under check puts the tags of
/// its runs into the gap.
const GAP: u64 = 1 << 20;

static NEXT: AtomicU64 = AtomicU64::new(1);

/// The tags of one run.
#[derive(Debug, Clone)]
pub(super) struct ProcessTag {
    /// `NAME=value` in the environment.
    cookie: String,
    /// The hard limit on file sizes, in bytes.
    pub file_size: u64,
    /// The number of the run in this process.
    pub number: u64,
}

impl ProcessTag {
    /// The name of the variable that holds the cookie.
    pub const VARIABLE: &str = crate::names::RUN_VARIABLE;

    /// ProcessTags that no other run has.
    pub fn new() -> Self {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
        let cookie = format!("{}={:08x}-{now:020x}-{number:08}", Self::VARIABLE, std::process::id());
        let file_size = match own_limit() {
            None => LEAST_FILE_SIZE + number * GAP,
            Some(limit) => limit.saturating_sub(number),
        };
        Self { cookie, file_size, number }
    }

    /// The value of the cookie.
    pub fn value(&self) -> &str {
        self.cookie.split_once('=').map_or("", |(_, value)| value)
    }

    /// The number of the run that a process belongs to: of any run by its limit, of this one also by
    /// its cookie. `None` when it has no tag (any more).
    pub fn owner(&self, pid: i32) -> Option<u64> {
        match number(pid) {
            Some(number) if number == self.number => Some(number),
            _ if sys::has_variable(pid, &self.cookie) => Some(self.number),
            other => other,
        }
    }
}

/// The number of the run that a process belongs to, by its limit on file sizes.
pub(super) fn number(pid: i32) -> Option<u64> {
    match (sys::file_size_limit(pid)?, own_limit()) {
        (limit, None) if limit > LEAST_FILE_SIZE => Some((limit - LEAST_FILE_SIZE).div_ceil(GAP)),
        (limit, Some(own)) if limit < own => Some(own - limit),
        _ => None,
    }
}

fn own_limit() -> Option<u64> {
    getrlimit(Resource::Fsize).maximum
}
