//! From an agent's event stream to one [`RunOutcome`].
#![doc = include_str!("../README.md")]
//!
//! The mapping is that of the document on opencode's JSON output, except where real streams
//! show it wrong: a call whose part is updated five times is one call, a file is created or deleted
//! when there is evidence of it, and a stream in which nothing was understood is no success. The
//! agents of [`Dialect`] are told apart by their first event; of several sessions the main one is that
//! of the parent.
//!
//! Streams are read in constant memory: what grows is only the outcome, and the steps where they are
//! kept for an export. Parts that carry nothing which is needed are passed over and not built. Lines
//! that cannot be read are skipped with a warning; partial data never makes an error.
//!
//! opencode's events, which are many, are walked through field by field (`event`, `fields`); those of
//! the others are built as values (`whole`) and read with `json`. A dialect is one file, with a row in
//! `streams`; what all share is in `session`, `calls`, `artifacts`, `texts`, `usage` and `trace`.
#![cfg_attr(not(test), warn(clippy::unwrap_used, clippy::disallowed_macros, clippy::disallowed_methods))]

mod arithmetic;
mod artifacts;
mod atif;
mod calls;
mod claude;
mod cline;
mod codex;
mod event;
mod fields;
mod gemini;
mod json;
mod metrics;
mod opencode;
mod opencode_run;
mod pi;
mod qwen;
mod read;
mod session;
mod state;
mod stderr;
mod streams;
mod texts;
mod times;
mod trace;
mod types;
mod usage;
mod warnings;
mod whole;

pub use atif::Trajectory;
pub use read::Collector;
pub use types::{
    Artifact, ArtifactKind, ArtifactSource, CallStatus, ErrorDetails, Metadata, Metrics, Operation, Quantity,
    RunOutcome, SourceText, ToolCall,
};
pub use whole::MAX_LINE;

/// Which agent's events a stream holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Dialect {
    /// Told apart by the first event that one of the others knows.
    #[default]
    Auto,
    /// opencode's events, as its document has them and as its server sends them.
    Opencode,
    /// What `opencode run --format json` prints.
    OpencodeRun,
    /// What `claude -p` prints with `--output-format stream-json` or `json`.
    Claude,
    /// What `codex exec --json` prints, of 0.42 and later.
    Codex,
    /// What `gemini` prints with `--output-format stream-json` or `json`.
    Gemini,
    /// What `qwen` prints with `--output-format stream-json` or `json`.
    Qwen,
    /// What `pi --mode json` prints.
    Pi,
    /// What `cline --json` prints.
    Cline,
}

impl Dialect {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::Auto,
        Self::Opencode,
        Self::OpencodeRun,
        Self::Claude,
        Self::Codex,
        Self::Gemini,
        Self::Qwen,
        Self::Pi,
        Self::Cline,
    ];
}

/// What is known of a run beside its stream, and what is wanted.
#[derive(Debug, Clone, Default)]
pub struct OutcomeOptions {
    /// Whose events they are.
    pub dialect: Dialect,
    /// Keep the inputs and outputs of tools, each up to 1 MiB.
    pub full: bool,
    /// Keep the steps, for [`Collector::atif`]: memory grows with them.
    pub steps: bool,
    /// The exit code of the program; one that is not 0 makes the run a failure.
    pub exit_code: Option<i32>,
    /// The prompt that the agent was given.
    pub initial_prompt: Option<String>,
    /// Which attempt it is, from 1.
    pub attempt: Option<u32>,
}

/// The outcome of a run from the lines of its stream, with [`OutcomeOptions::default`].
///
/// A line may end in its newline or not, may be a `data:` line of server-sent events, and need not be
/// UTF-8. Nothing is an error: a line that cannot be read is a warning of the outcome, and a stream in
/// which nothing was understood is a failed run.
///
/// [`Collector`] does the same for readers, with options, and at any time between.
pub fn outcome<L: AsRef<[u8]>>(lines: impl IntoIterator<Item = L>) -> RunOutcome {
    let collector = Collector::new(OutcomeOptions::default());
    collector.read_lines(lines);
    collector.outcome()
}
