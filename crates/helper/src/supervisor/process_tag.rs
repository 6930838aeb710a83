//! Tags that identify the processes of a run.
//!
//! All descendants of a run inherit two tags: a cookie in the environment, and the hard limit on file sizes, which
//! differs slightly for each run. The limit survives `env -i`, a new session and a double fork, so that an orphan that
//! the supervisor adopts during several runs is never attributed to the wrong run.

use crate::sys;
use rustix::process::{Resource, getrlimit};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// Lower end of the limits on file sizes that identify runs, in bytes: each run has a slightly higher limit.
pub(super) const MIN_FILE_SIZE_LIMIT: u64 = 4 << 30;
/// Difference between the limits on file sizes of two consecutive runs, in bytes. If a target is itself a checker, the
/// limits of its runs lie in this gap.
const TAG_GAP: u64 = 1 << 20;

static NEXT_RUN_ID: AtomicU64 = AtomicU64::new(1);

#[derive(Debug, Clone)]
pub(super) struct ProcessTag {
    /// The environment variable that identifies the run, as `NAME=value`.
    cookie: String,
    pub file_size: u64,
    /// ID of the run, unique in this process.
    pub run_id: u64,
}

impl ProcessTag {
    pub const VARIABLE: &str = crate::names::RUN_VARIABLE;

    /// Creates a tag that no other run has.
    pub fn new() -> Self {
        let run_id = NEXT_RUN_ID.fetch_add(1, Ordering::Relaxed);
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
        let cookie = format!("{}={:08x}-{now:020x}-{run_id:08}", Self::VARIABLE, std::process::id());
        let file_size = match own_file_size_limit() {
            None => MIN_FILE_SIZE_LIMIT + run_id * TAG_GAP,
            Some(limit) => limit.saturating_sub(run_id),
        };
        Self { cookie, file_size, run_id }
    }

    /// Returns the value of the environment variable that identifies the run.
    pub fn value(&self) -> &str {
        self.cookie.split_once('=').map_or("", |(_, value)| value)
    }

    /// Returns the ID of the run that a process belongs to. The limit on file sizes identifies any run; the environment
    /// variable identifies only this one. `None` if the process has no tag, or has removed it.
    pub fn run_of(&self, pid: i32) -> Option<u64> {
        match run_by_limit(pid) {
            Some(run_id) if run_id == self.run_id => Some(run_id),
            _ if sys::has_variable(pid, &self.cookie) => Some(self.run_id),
            other => other,
        }
    }
}

/// Returns the ID of the run that a process belongs to, according to its limit on file sizes. `None` if that limit
/// identifies no run.
pub(super) fn run_by_limit(pid: i32) -> Option<u64> {
    match (sys::file_size_limit(pid)?, own_file_size_limit()) {
        (limit, None) if limit > MIN_FILE_SIZE_LIMIT => Some((limit - MIN_FILE_SIZE_LIMIT).div_ceil(TAG_GAP)),
        (limit, Some(own)) if limit < own => Some(own - limit),
        _ => None,
    }
}

fn own_file_size_limit() -> Option<u64> {
    getrlimit(Resource::Fsize).maximum
}
