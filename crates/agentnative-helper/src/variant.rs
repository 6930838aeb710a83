//! The condition that a run is made under.

use serde::{Deserialize, Serialize};

/// A condition that a probe is run under.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Variant {
    /// Pipes that are read immediately, stdin at `/dev/null`.
    Plain,
    /// Stdout is a terminal; stderr remains a pipe.
    Tty,
    /// The reader of stdout pauses before it reads.
    SlowReader,
    /// Stdout is a regular file.
    File,
    /// The reading end of stdout is closed before the first byte.
    ClosedPipe,
    /// Environment variables that make tools talk: colour, debug, locale, CI and agents.
    HostileEnv,
    /// The same run again.
    Repeat,
    /// Stdin is an open pipe without data: finds prompts.
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
