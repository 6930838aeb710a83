//! Builds a target before its first run, if the configuration has a `build` command.

use super::run_environment::{describe_end, last_lines, program_error, resolve_program};
use super::runs::redact_secrets;
use agentnative_contract::error::{Error, Result};
use agentnative_core::config::TargetConfig;
use agentnative_core::run::{Job, RunEnd, Runner};
use std::path::Path;
use std::time::Duration;

const BUILD_TIMEOUT: Duration = Duration::from_secs(3600);

/// Runs the `build` command of a target, if it has one, in the folder `root` of the configuration.
///
/// # Errors
/// The error of [`program_error`] if the command cannot be started or fails; an interruption after a signal.
pub(super) fn build(target: &TargetConfig, root: &Path, runner: &mut Runner) -> Result<()> {
    let Some((first, arguments)) = target.build.as_ref().and_then(|words| words.split_first()) else {
        return Ok(());
    };
    redact_secrets(target, runner)?;
    let job =
        Job { shows_output: true, ..Job::new(resolve_program(first, root)?, arguments, root, BUILD_TIMEOUT) };
    let observation = runner.run_trusted(job).map_err(|error| match error.signal {
        Some(signal) => Error::interrupted(signal, "interrupted; the target was not built"),
        None => error,
    })?;
    match observation.end {
        RunEnd::Exited(0) => Ok(()),
        _ => {
            let words = target.build.iter().flatten().map(String::as_str);
            let command = shlex::try_join(words).unwrap_or_else(|_| first.clone());
            let error = program_error(
                &observation,
                format!("the build `{command}` failed: {}", describe_end(&observation)),
            );
            Err(error.issues(last_lines(&observation)).hint("see `build` under [target] in agentnative.toml"))
        }
    }
}
