//! The two coordinates of a run that reports name: format and variant.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An output format of principle 2: of a target's run, and of this program itself.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Default,
    Serialize,
    Deserialize,
    JsonSchema,
    clap::ValueEnum,
)]
#[serde(rename_all = "lowercase")]
pub enum OutputFormat {
    /// For people.
    #[default]
    Text,
    /// One JSON document.
    Json,
    /// One JSON object a line, as things happen.
    Jsonl,
}

impl OutputFormat {
    /// The three formats, in the order of the specification.
    pub const ALL: [Self; 3] = [Self::Text, Self::Json, Self::Jsonl];

    /// The name that flags and reports use.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Json => "json",
            Self::Jsonl => "jsonl",
        }
    }

    /// Whether the format is for programs.
    pub const fn is_json(self) -> bool {
        !matches!(self, Self::Text)
    }
}

/// A condition that a probe is run under.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
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
