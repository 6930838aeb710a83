//! The mappers of all agents, in the order in which detection tries them.

use super::state::Mapper;
use super::{claude, cline, codex, copilot, droid, gemini, kimi, opencode, opencode_run, pi, qwen, vibe};

/// The mappers of all agents. If the agent is not known, the first that recognizes an event is used.
pub(super) const MAPPERS: &[Mapper] = &[
    opencode::MAPPER,
    opencode_run::MAPPER,
    claude::MAPPER,
    codex::MAPPER,
    gemini::MAPPER,
    qwen::MAPPER,
    pi::MAPPER,
    cline::MAPPER,
    vibe::MAPPER,
    copilot::MAPPER,
    kimi::MAPPER,
    droid::MAPPER,
];
