//! The checks of principle 1: nothing waits for a person.

mod browser;
mod env_flag;
mod prompt;
mod secrets;
mod terminals;

use super::Row;
use crate::model::{CheckId, OutputFormat};

/// A contract for the whole target does not take the place of the check.
const NEVER: &[OutputFormat] = &[];

/// The checks, their logic, and which contracts for the whole target take their place.
pub(super) const CHECKS: &[Row] = &[
    (CheckId::P1NoPrompt, prompt::no_prompt, NEVER),
    (CheckId::P1TtyDetection, terminals::tty_detection, NEVER),
    (CheckId::P1NoInput, terminals::no_input, NEVER),
    (CheckId::P1NoBrowser, browser::no_browser, NEVER),
    (CheckId::P1SecretPath, secrets::path, NEVER),
    (CheckId::P1SecretSilent, secrets::silent, NEVER),
    (CheckId::P1EnvFlag, env_flag::env_flag, NEVER),
];
