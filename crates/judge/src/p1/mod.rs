//! The checks of principle 1: calls never wait for a user.

mod browser;
mod env_flag;
mod prompt;
mod secrets;
mod terminals;

use super::row::CheckRow;
use agentnative_core::model::CheckId;

pub(super) const CHECKS: &[CheckRow] = &[
    (CheckId::P1NoPrompt, prompt::no_prompt),
    (CheckId::P1TtyDetection, terminals::tty_detection),
    (CheckId::P1NoInput, terminals::no_input),
    (CheckId::P1NoBrowser, browser::no_browser),
    (CheckId::P1SecretPath, secrets::path),
    (CheckId::P1SecretSilent, secrets::judge_secret_silence),
    (CheckId::P1EnvFlag, env_flag::env_flag),
];
