//! What to run, and how runs are made.

use crate::Variant;
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::sync::Arc;
use std::time::Duration;

/// How runs are made.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Options {
    /// How many runs go side by side, at least 1.
    pub jobs: usize,
    /// The most that is kept of one stream, in bytes; a target that writes more is ended.
    pub max_output: u64,
    /// How long bytes of those who are left are taken after the leader's end.
    pub drain: Duration,
    /// The time between SIGTERM and SIGKILL.
    pub grace: Duration,
    /// SIGINT, SIGTERM and SIGHUP do not end the client's process any more: they are events. For a program,
    /// which its signals belong to; those that it was started to ignore stay ignored.
    pub stop_on_signals: bool,
}

impl Default for Options {
    /// Twice as many jobs as processors, 512 MiB a stream, 200 ms to drain, 300 ms of grace; signals are
    /// left alone.
    fn default() -> Self {
        Self {
            jobs: 2 * processors(),
            max_output: 512 << 20,
            drain: Duration::from_millis(200),
            grace: Duration::from_millis(300),
            stop_on_signals: false,
        }
    }
}

/// Number of processors that this process may use.
pub(crate) fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// One execution to make. Paths are [`OsString`]s: as a `PathBuf`, one that is not UTF-8 cannot be
/// serialised.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Job {
    /// Absolute path of the program.
    pub program: OsString,
    /// Its arguments, without the program's name.
    pub args: Vec<OsString>,
    /// Working directory.
    pub cwd: OsString,
    /// Variables added to the cleared base environment (they win over it and over the variant's).
    pub env: Vec<(OsString, OsString)>,
    /// The condition: it decides the channel of standard output, the extra environment variables and
    /// (for `open-stdin`, when `stdin` is none) standard input.
    pub variant: Variant,
    /// Which of the [`HOSTILE_ENVIRONMENTS`](crate::HOSTILE_ENVIRONMENTS), for that variant.
    pub nth: u8,
    /// Standard input: a pipe that holds these bytes, which may be left unread, and then ends; none is
    /// `/dev/null`. It is not part of the serialised form.
    #[serde(skip)]
    pub stdin: Option<Arc<[u8]>>,
    /// When the run is ended by force, from its start.
    pub deadline: Duration,
    /// Confine writes, connections and signals, as far as the system can.
    pub sandbox: bool,
    /// Run alone: its times are evidence.
    pub quiet: bool,
    /// It has the caller's whole environment: a tool that the caller itself needs.
    pub trusted: bool,
}
