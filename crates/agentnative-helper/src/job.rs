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
}

impl Default for Options {
    /// Twice as many jobs as processors, 512 MiB a stream, 200 ms to drain, 300 ms of grace.
    fn default() -> Self {
        Self {
            jobs: 2 * processors(),
            max_output: 512 << 20,
            drain: Duration::from_millis(200),
            grace: Duration::from_millis(300),
        }
    }
}

/// Number of processors that this process may use.
pub(crate) fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// What standard input is.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Stdin {
    /// `/dev/null`.
    #[default]
    Null,
    /// A pipe that holds these bytes and then ends. The target may leave them unread.
    Bytes(Arc<[u8]>),
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
    /// (for `open-stdin`, when `stdin` is null) standard input.
    pub variant: Variant,
    /// Which of the [`HOSTILE_ENVIRONMENTS`](crate::HOSTILE_ENVIRONMENTS), for that variant.
    pub nth: u8,
    /// Standard input. It is not part of the serialised form.
    #[serde(skip)]
    pub stdin: Stdin,
    /// When the run is ended by force, from its start.
    pub deadline: Duration,
    /// Confine writes, connections and signals, as far as the system can.
    pub sandbox: bool,
    /// Run alone: its times are evidence.
    pub quiet: bool,
    /// It has the caller's whole environment: a tool that the caller itself needs.
    pub trusted: bool,
}
