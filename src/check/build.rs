//! Building a target before its first run, as the configuration says.

use super::runs::redact_secrets;
use super::surroundings::{ending, failed, program, said};
use agentnative_contract::error::{Error, Result};
use agentnative_core::config::TargetConfig;
use agentnative_core::run::{End, Job, Runner};
use std::path::Path;
use std::time::Duration;

/// No build takes so long.
const LONGEST: Duration = Duration::from_secs(3600);

/// Runs the `build` of a target, if it has one, in the folder `root` of the configuration.
///
/// # Errors
/// Those of [`failed`], when it cannot be started or fails; interrupted, when a signal told us to stop.
pub(super) fn build(target: &TargetConfig, root: &Path, runner: &mut Runner) -> Result<()> {
    let Some((first, arguments)) = target.build.as_ref().and_then(|words| words.split_first()) else {
        return Ok(());
    };
    redact_secrets(target, runner)?;
    let job = Job { shown: true, ..Job::new(program(first, root)?, arguments, root, LONGEST) };
    let seen = runner.run_trusted(job).map_err(|error| match error.signal {
        Some(signal) => Error::interrupted(signal, "interrupted; the target was not built"),
        None => error,
    })?;
    match seen.end {
        End::Exited(0) => Ok(()),
        _ => {
            let words = target.build.iter().flatten().map(String::as_str);
            let command = shlex::try_join(words).unwrap_or_else(|_| first.clone());
            let error = failed(&seen, format!("the build `{command}` failed: {}", ending(&seen)));
            Err(error.issues(said(&seen)).hint("see `build` under [target] in agentnative.toml"))
        }
    }
}
