//! The known streams, in the order in which detection tries them.

use super::state::EventStream;
use super::{claude, cline, codex, gemini, opencode, opencode_run, pi, qwen};

/// The streams that are known. Another agent's is one more file and one more line.
pub(super) const STREAMS: &[EventStream] = &[
    opencode::STREAM,
    opencode_run::STREAM,
    claude::STREAM,
    codex::STREAM,
    gemini::STREAM,
    qwen::STREAM,
    pi::STREAM,
    cline::STREAM,
];
