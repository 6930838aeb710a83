//! What to run.

use super::Stdin;
use crate::model::{OutputFormat, Variant};
use agentnative_helper::Job;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// What names a run: probe × format × variant, and which one of several alike.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct RunKey {
    /// Name of the probe.
    pub probe: String,
    /// The format asked for.
    pub format: OutputFormat,
    /// The condition it is run under.
    pub variant: Variant,
    /// The n-th repetition (`repeat`) or the n-th environment (`hostile-env`), from 0; else 0.
    pub nth: u8,
}

/// One execution to make. The variant in `key` decides the channel of standard output, the extra
/// environment variables and (for `open-stdin`, when `stdin` is null) standard input.
#[derive(Debug, Clone)]
pub struct RunSpec {
    /// What names it.
    pub key: RunKey,
    /// Absolute path of the program.
    pub program: PathBuf,
    /// Its arguments, without the program's name.
    pub args: Vec<OsString>,
    /// Working directory.
    pub cwd: PathBuf,
    /// Variables added to the cleared base environment (they win over it and over the variant's).
    pub env: BTreeMap<OsString, OsString>,
    /// Standard input.
    pub stdin: Stdin,
    /// When the run is ended by force, from its start.
    pub deadline: Duration,
    /// Confine writes, connections and signals, as far as the system can.
    pub sandbox: bool,
    /// Run alone: its times are evidence.
    pub quiet: bool,
}

impl RunSpec {
    /// What the helper has to do.
    pub(super) fn into_job(self, trusted: bool) -> Job {
        Job {
            program: self.program.into(),
            args: self.args,
            cwd: self.cwd.into(),
            env: self.env.into_iter().collect(),
            variant: self.key.variant,
            nth: self.key.nth,
            stdin: self.stdin,
            deadline: self.deadline,
            sandbox: self.sandbox,
            quiet: self.quiet,
            trusted,
        }
    }
}
