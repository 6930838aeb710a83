//! Checks the syntax of a completion script with `bash -n`, which executes nothing.

use agentnative_contract::error::Result;
use agentnative_core::catalogue::DerivedKind;
use agentnative_core::model::OutputFormat;
use agentnative_core::probe::{Probe, Recording, SHELLS};
use agentnative_core::run::{self, Job, RunEnd, RunSpec, Runner, absolute_path_entries};
use agentnative_core::targets::Target;
use std::ffi::OsStr;
use std::io::Read as _;
use std::time::Duration;
use strict_json::sanitize;

/// Maximum length of a completion script that is checked, in bytes.
const MAX_LENGTH: u64 = 4 << 20;
const TIMEOUT: Duration = Duration::from_secs(10);

/// Runs `bash -n` on the bash completion script that the target printed, and returns the first line of the error
/// message. `None` if bash accepts the script, or if there is no script or no bash.
pub(super) fn syntax_error(
    recording: &Recording,
    target: &Target,
    runner: &mut Runner,
) -> Result<Option<String>> {
    let for_bash = |probe: &&Probe| {
        probe.is_kind(DerivedKind::Completions) && probe.call.args.iter().any(|arg| arg.contains(SHELLS[0]))
    };
    let Some(probe) = recording.probes.iter().find(for_bash) else { return Ok(None) };
    let key = probe.plain_run(OutputFormat::Text);
    let printed = recording.observations.iter().find(|seen| seen.key == key && seen.end == RunEnd::Exited(0));
    let path = std::env::var_os("PATH");
    let bash = run::resolve(OsStr::new(SHELLS[0]), Some(&absolute_path_entries(path.as_deref())));
    let (Some(printed), Ok(bash)) = (printed, bash) else { return Ok(None) };
    let mut script = Vec::new();
    let read = printed.stdout.bytes.reader().take(MAX_LENGTH + 1).read_to_end(&mut script);
    if read.is_err() || script.len() as u64 > MAX_LENGTH {
        return Ok(None);
    }
    let job = Job {
        stdin: Some(script.into()),
        isolation: run::RequestedConfinement::Available,
        ..Job::new(bash, ["-n"], target.cwd.clone(), TIMEOUT)
    };
    let seen = runner.run_all(vec![RunSpec { key, job }], &mut |_| {})?.observations.pop();
    let Some(seen) = seen.filter(|seen| !matches!(seen.end, RunEnd::Exited(0) | RunEnd::NotStarted(..)))
    else {
        return Ok(None);
    };
    let mut message = Vec::new();
    // An unreadable capture counts as empty.
    let _ = seen.stderr.bytes.reader().take(MAX_LENGTH).read_to_end(&mut message);
    Ok(message
        .split(|byte| *byte == b'\n')
        .next()
        .filter(|line| !line.is_empty())
        .map(sanitize::sanitize_line))
}
