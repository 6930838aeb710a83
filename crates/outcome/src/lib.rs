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
//! are read to a tape (`event_tape`). The mapper of most agents is data, a file `mapper.toml` beside the contract of
//! its stream (`mapper_file`, `mapper_rules`, `mapper_values`); that of others is one file of code, which is listed in
//! `mappers` and reads values with `json`. Shared state is in `session`, `calls`, `artifacts`, `texts`, `usage` and
//! `trace`.
#![cfg_attr(not(test), warn(clippy::unwrap_used, clippy::disallowed_macros, clippy::disallowed_methods))]

mod arithmetic;
mod artifacts;
mod atif;
mod calls;
mod claude;
mod codex;
mod collector;
mod event_fields;
mod event_tape;
mod fields;
mod json;
mod mapper_file;
mod mapper_rules;
mod mapper_values;
mod mappers;
mod metrics;
mod opencode;
mod opencode_run;
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
mod warnings;

pub use atif::Trajectory;
pub use collector::Collector;
pub use event_tape::MAX_LINE;
pub use types::{
    Artifact, ArtifactKind, ArtifactSource, CallStatus, ErrorDetails, Metadata, Metrics, Operation, Quantity,
    RunOutcome, SourceText, ToolCall,
};
pub use unrecognised::Unrecognised;

include!(concat!(env!("OUT_DIR"), "/dialect.rs"));

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
