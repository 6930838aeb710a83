//! Output formats and streams.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An output format of principle 2, of a target or of agentnative itself.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum OutputFormat {
    /// For people.
    #[default]
    Text,
    /// One JSON document.
    Json,
    /// One JSON object per line, as events happen.
    Jsonl,
}

impl OutputFormat {
    /// The three formats, in the order of the standard.
    pub const ALL: [Self; 3] = [Self::Text, Self::Json, Self::Jsonl];

    /// Returns the name of the format in options and reports, such as `jsonl`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Json => "json",
            Self::Jsonl => "jsonl",
        }
    }

    /// Returns whether the format is for programs: `json` or `jsonl`, not `text`.
    pub const fn is_json(self) -> bool {
        !matches!(self, Self::Text)
    }
}

/// An output stream of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Stream {
    /// Stdout.
    Stdout,
    /// Stderr.
    Stderr,
}

impl Stream {
    /// Both streams.
    pub const ALL: [Self; 2] = [Self::Stdout, Self::Stderr];

    /// Returns the name of the stream: `stdout` or `stderr`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Stdout => "stdout",
            Self::Stderr => "stderr",
        }
    }
}
