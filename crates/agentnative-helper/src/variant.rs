//! The condition that a run is made under.

use serde::{Deserialize, Serialize};

/// A condition that a probe is run under.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Variant {
    /// Pipes read at once, standard input null.
    Plain,
    /// Standard output is a terminal; standard error stays a pipe.
    Tty,
    /// The reader of standard output pauses before it reads.
    SlowReader,
    /// Standard output is a regular file.
    File,
    /// The reader of standard output has closed it before the first byte.
    ClosedPipe,
    /// Environment variables that make tools talk: colour, debug, locale, CI and agents.
    HostileEnv,
    /// The same run again.
    Repeat,
    /// Standard input is an open pipe that never says anything: finds prompts.
    OpenStdin,
}

impl Variant {
    /// The name that reports use.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Tty => "tty",
            Self::SlowReader => "slow-reader",
            Self::File => "file",
            Self::ClosedPipe => "closed-pipe",
            Self::HostileEnv => "hostile-env",
            Self::Repeat => "repeat",
            Self::OpenStdin => "open-stdin",
        }
    }
}
