//! Summarises the event stream of an agent as one [`RunOutcome`].
#![doc = include_str!("../README.md")]
//!
//! The mapping follows the document on opencode's JSON output, except where real streams contradict it: a call whose
//! part is updated five times is one call, a file counts as created or deleted only if an event shows it, and a run
//! without known events is not a success. The first known event determines the [`Dialect`]. If a stream has several
//! sessions, the outermost parent is the main one.
//!
//! Streams are read in constant memory: only the outcome grows, and the steps if they are kept for an export. Parts
//! that are not needed are skipped. Lines that cannot be read are skipped with a warning; incomplete data is never an
//! error.
//!
//! opencode has many events, of which only some fields are read (`event_fields`, `fields`). The events of other agents
//! are built as values (`event_builder`) and read with `json`. Each dialect has one file with a mapper, which is listed
//! in `mappers`. Shared state is in `session`, `calls`, `artifacts`, `texts`, `usage` and `trace`.
#![cfg_attr(not(test), warn(clippy::unwrap_used, clippy::disallowed_macros, clippy::disallowed_methods))]

mod arithmetic;
mod artifacts;
mod atif;
mod calls;
mod claude;
mod cline;
mod codex;
mod collector;
mod copilot;
mod droid;
mod event_builder;
mod event_fields;
mod fields;
mod gemini;
mod json;
mod kimi;
mod mappers;
mod metrics;
mod opencode;
mod opencode_run;
mod pi;
mod qwen;
mod session;
mod state;
mod stderr;
mod texts;
mod times;
mod trace;
mod types;
mod unrecognised;
mod usage;
mod vibe;
mod warnings;

pub use atif::Trajectory;
pub use collector::Collector;
pub use event_builder::MAX_LINE;
pub use types::{
    Artifact, ArtifactKind, ArtifactSource, CallStatus, ErrorDetails, Metadata, Metrics, Operation, Quantity,
    RunOutcome, SourceText, ToolCall,
};
pub use unrecognised::Unrecognised;

/// The agent that wrote a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Dialect {
    /// Detected by the first event of a known agent.
    #[default]
    Auto,
    /// Events of opencode, as documented and as its server sends them.
    Opencode,
    /// Output of `opencode run --format json`.
    OpencodeRun,
    /// Output of `claude -p --output-format stream-json` or `json`.
    Claude,
    /// Output of `codex exec --json`, version 0.42 and later.
    Codex,
    /// Output of `gemini --output-format stream-json` or `json`.
    Gemini,
    /// Output of `qwen --output-format stream-json` or `json`.
    Qwen,
    /// Output of `pi --mode json`.
    Pi,
    /// Output of `cline --json`.
    Cline,
    /// Output of `vibe -p --output streaming` or `json`.
    Vibe,
    /// Output of `copilot --output-format json`.
    Copilot,
    /// Output of `kimi -p --output-format stream-json`.
    Kimi,
    /// Output of `droid exec --output-format stream-json` or `json`.
    Droid,
}

impl Dialect {
    /// All dialects.
    pub const ALL: [Self; 13] = [
        Self::Auto,
        Self::Opencode,
        Self::OpencodeRun,
        Self::Claude,
        Self::Codex,
        Self::Gemini,
        Self::Qwen,
        Self::Pi,
        Self::Cline,
        Self::Vibe,
        Self::Copilot,
        Self::Kimi,
        Self::Droid,
    ];
}

/// Options of a [`Collector`], and facts about the run that its stream does not have.
#[derive(Debug, Clone, Default)]
pub struct OutcomeOptions {
    /// Agent that wrote the stream.
    pub dialect: Dialect,
    /// True to keep inputs and outputs of tool calls, up to 1 MiB each.
    pub full: bool,
    /// True to keep the steps for [`Collector::atif`]. Memory then grows with the run.
    pub steps: bool,
    /// Exit code of the agent; any other than 0 makes the run a failure.
    pub exit_code: Option<i32>,
    /// Prompt of the run.
    pub initial_prompt: Option<String>,
    /// Number of the attempt, from 1.
    pub attempt: Option<u32>,
}

/// Returns the outcome of a run from the lines of its stream, with [`OutcomeOptions::default`].
///
/// Lines may end in a newline, may be `data:` lines of server-sent events, and need not be UTF-8. A line that cannot be
/// read becomes a warning of the outcome.
///
/// [`Collector`] reads from readers, has options, and returns the outcome at any time.
///
/// # Errors
/// If no event is one of a known agent.
pub fn outcome<L: AsRef<[u8]>>(lines: impl IntoIterator<Item = L>) -> Result<RunOutcome, Unrecognised> {
    let collector = Collector::new(OutcomeOptions::default());
    collector.read_lines(lines);
    collector.outcome()
}
