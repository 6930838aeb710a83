//! What bash says of the completion script for it: it reads the script and runs nothing.

use agentnative_contract::error::Result;
use agentnative_core::catalogue::Derived;
use agentnative_core::model::OutputFormat;
use agentnative_core::probe::{Probe, Recording, SHELLS};
use agentnative_core::run::{self, End, Job, RunSpec, Runner, clean_path};
use agentnative_core::targets::Target;
use std::ffi::OsStr;
use std::io::Read as _;
use std::time::Duration;
use strict_json::sanitize;

/// A longer script is not read, in bytes.
const MOST: u64 = 4 << 20;
/// Reading a script takes no longer.
const LIMIT: Duration = Duration::from_secs(10);

/// Why bash rejects the script that was printed for it; none where it accepts it, there is none, or no bash.
pub(super) fn rejected(
    recording: &Recording,
    target: &Target,
    runner: &mut Runner,
) -> Result<Option<String>> {
    let for_bash = |probe: &&Probe| {
        probe.is(Derived::Completions) && probe.call.args.iter().any(|arg| arg.contains(SHELLS[0]))
    };
    let Some(probe) = recording.probes.iter().find(for_bash) else { return Ok(None) };
    let key = probe.plain(OutputFormat::Text);
    let printed = recording.observations.iter().find(|seen| seen.key == key && seen.end == End::Exited(0));
    let path = std::env::var_os("PATH");
    let bash = run::resolve(OsStr::new(SHELLS[0]), Some(&clean_path(path.as_deref())));
    let (Some(printed), Ok(bash)) = (printed, bash) else { return Ok(None) };
    let mut script = Vec::new();
    let read = printed.stdout.bytes.reader().take(MOST + 1).read_to_end(&mut script);
    if read.is_err() || script.len() as u64 > MOST {
        return Ok(None);
    }
    let job = Job {
        stdin: Some(script.into()),
        isolation: run::Isolation::Available,
        ..Job::new(bash, ["-n"], target.cwd.clone(), LIMIT)
    };
    let seen = runner.run_all_blocking(vec![RunSpec { key, job }], &mut |_| {})?.observations.pop();
    let Some(seen) = seen.filter(|seen| !matches!(seen.end, End::Exited(0) | End::NotStarted(..))) else {
        return Ok(None);
    };
    let mut words = Vec::new();
    // What cannot be read says nothing.
    let _ = seen.stderr.bytes.reader().take(MOST).read_to_end(&mut words);
    Ok(words.split(|byte| *byte == b'\n').next().filter(|line| !line.is_empty()).map(sanitize::line))
}
