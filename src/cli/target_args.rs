//! The arguments that name a target, and those about its runs.

use crate::check::{SessionOptions, TargetSelector};
use crate::run::RunnerOptions;
use agentnative_contract::spanned_toml::LONGEST;
use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

/// A folder, a binary, a command found on PATH, or a command line.
#[derive(clap::Args)]
pub(super) struct TargetArgs {
    /// Project folder, or the binary itself (default: this folder).
    #[arg(value_name = "PATH")]
    path: Option<PathBuf>,
    /// A command that is found on PATH.
    #[arg(long = "command", id = "name", value_name = "NAME", conflicts_with_all = ["path", "bin"])]
    name: Option<OsString>,
    /// Which of a project's binaries, or of the configuration's targets.
    #[arg(long, value_name = "NAME")]
    bin: Option<String>,
    /// The configuration (default: the nearest agentnative.toml of the target's folder or above).
    #[arg(long, value_name = "FILE")]
    pub(super) config: Option<PathBuf>,
    /// The command and the arguments that stand before those of a probe.
    #[arg(last = true, value_name = "COMMAND", conflicts_with_all = ["path", "name", "bin"])]
    command: Vec<OsString>,
}

/// How runs are made.
#[derive(clap::Args, Default)]
pub(super) struct RunArgs {
    /// How many runs go side by side (default: twice the cores).
    #[arg(long, value_name = "N")]
    jobs: Option<NonZeroUsize>,
    /// Time limit of a run. It replaces `timeout` under [target] (default: 10); a probe that has a `timeout`
    /// of its own keeps it.
    #[arg(long, value_name = "SECONDS", value_parser = seconds, allow_negative_numbers = true)]
    timeout: Option<Duration>,
}

impl TargetArgs {
    pub(super) fn selector(&self) -> TargetSelector {
        match (&self.path, &self.name) {
            (_, Some(name)) => TargetSelector::Name(name.clone()),
            (Some(path), None) => TargetSelector::Path(path.clone()),
            (None, None) if self.command.is_empty() => TargetSelector::Path(PathBuf::from(".")),
            (None, None) => TargetSelector::Argv(self.command.clone()),
        }
    }

    pub(super) fn options(&self, run: &RunArgs, runner: &RunnerOptions) -> SessionOptions {
        let mut runner = runner.clone();
        runner.jobs = run.jobs.map_or(runner.jobs, NonZeroUsize::get);
        SessionOptions {
            bin: self.bin.clone(),
            config: self.config.clone(),
            timeout: run.timeout,
            runner,
            ..SessionOptions::default()
        }
    }
}

fn seconds(text: &str) -> Result<Duration, String> {
    let expected = || format!("expected a number of seconds above 0 and at most {}", LONGEST.as_secs());
    let duration = text.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    duration.filter(|duration| !duration.is_zero() && *duration <= LONGEST).ok_or_else(expected)
}
