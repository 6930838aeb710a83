//! The arguments that name a target, and those about its runs.

use super::complete;
use crate::check::{ConfigSource, SessionOptions, TargetSelector};
use agentnative_contract::spanned_toml::MAX_DURATION;
use agentnative_core::config::Isolation;
use agentnative_core::run::RunnerOptions;
use agentnative_output::whole_number;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The arguments that name the target: a folder, a binary, a command found on PATH, or a command line.
#[derive(clap::Args)]
pub(super) struct TargetArgs {
    /// Project folder or program [default: this folder].
    #[arg(value_name = "PATH", help_heading = None::<&str>)]
    path: Option<PathBuf>,
    /// Command on PATH, or the path of a program.
    #[arg(long = "command", id = "name", value_name = "NAME", conflicts_with_all = ["path", "bin"])]
    name: Option<OsString>,
    /// Binary of the project, or target of the configuration.
    #[arg(long, value_name = "NAME", add = complete::targets())]
    bin: Option<String>,
    /// Configuration file [default: the nearest agentnative.toml, from the folder of the target upwards].
    #[arg(long, value_name = "FILE")]
    pub(super) config: Option<PathBuf>,
    /// Command line that calls the target; the arguments of a probe follow it.
    #[arg(last = true, value_name = "COMMAND", help_heading = None::<&str>, conflicts_with_all = ["path", "name", "bin"])]
    command: Vec<OsString>,
}

/// The options for how runs are made.
#[derive(clap::Args, Default)]
pub(super) struct RunArgs {
    /// Number of parallel runs [default: twice the number of cores].
    #[arg(long, value_name = "N", value_parser = whole_number::<usize>(1..))]
    jobs: Option<usize>,
    /// Time limit of a run [default: `timeout` of the target, else 10]. The `timeout` of a probe overrides it.
    #[arg(long, value_name = "SECONDS", value_parser = seconds, allow_negative_numbers = true)]
    timeout: Option<Duration>,
    /// Confine runs: auto (with the strongest confinement of the system), require (with namespaces, or run nothing),
    /// landlock or none [default: `isolation` of the target, else auto]. Calls that change something are always
    /// confined.
    #[arg(long, value_name = "KIND", value_parser = isolation(), hide_possible_values = true)]
    isolation: Option<Isolation>,
    /// Run calls that change something even if the system cannot confine them.
    #[arg(long)]
    allow_unconfined: bool,
}

/// Returns the parser of `--isolation`, which also accepts the former name of `landlock`.
fn isolation() -> impl TypedValueParser<Value = Isolation> {
    let kinds = Isolation::NAMED.map(|(name, _)| {
        let value = PossibleValue::new(name);
        if name == "landlock" { value.alias(Isolation::ALIAS.0) } else { value }
    });
    PossibleValuesParser::new(kinds).map(|name| {
        let named = Isolation::NAMED.into_iter().find(|(kind, _)| *kind == name);
        named.map_or(Isolation::ALIAS.1, |(_, kind)| kind)
    })
}

impl TargetArgs {
    pub(super) fn selector(&self) -> TargetSelector {
        match (&self.path, &self.name) {
            // A name with a `/` is a path, not a name on PATH.
            (_, Some(name)) if name.to_string_lossy().contains('/') => {
                TargetSelector::Argv(vec![name.clone()])
            }
            (_, Some(name)) => TargetSelector::Name(name.clone()),
            (Some(path), None) => TargetSelector::Path(path.clone()),
            (None, None) if self.command.is_empty() => TargetSelector::Path(PathBuf::from(".")),
            (None, None) => TargetSelector::Argv(self.command.clone()),
        }
    }

    /// Returns the folder that the user named, or this folder.
    pub(super) fn folder(&self) -> &Path {
        self.path.as_deref().unwrap_or(Path::new("."))
    }

    /// Formats the arguments that name the target, quoted for a shell: `--bin mycli tools/`.
    pub(super) fn words(&self) -> String {
        let word = |word: &OsStr| {
            let word = word.to_string_lossy();
            shlex::try_quote(&word).map_or_else(|_| word.to_string(), |word| word.into_owned())
        };
        let option = |name: &str, value: Option<&OsStr>| value.map(|value| format!("{name} {}", word(value)));
        let mut words: Vec<String> = Vec::new();
        words.extend(option("--config", self.config.as_deref().map(Path::as_os_str)));
        words.extend(option("--bin", self.bin.as_deref().map(OsStr::new)));
        words.extend(option("--command", self.name.as_deref()));
        words.extend(self.path.as_deref().map(|path| word(path.as_os_str())));
        words.extend((!self.command.is_empty()).then(|| "--".to_owned()));
        words.extend(self.command.iter().map(|part| word(part)));
        words.join(" ")
    }

    pub(super) fn options(&self, run: &RunArgs, runner: &RunnerOptions) -> SessionOptions {
        let mut runner = runner.clone();
        runner.jobs = run.jobs.unwrap_or(runner.jobs);
        SessionOptions {
            bin: self.bin.clone(),
            config: self.config.clone().map_or(ConfigSource::Nearest, ConfigSource::File),
            timeout: run.timeout,
            isolation: run.isolation,
            allow_unconfined: run.allow_unconfined,
            runner,
            ..SessionOptions::default()
        }
    }
}

pub(super) fn seconds(text: &str) -> Result<Duration, String> {
    let expected = || format!("expected a number of seconds above 0 and at most {}", MAX_DURATION.as_secs());
    let duration = text.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    duration.filter(|duration| !duration.is_zero() && *duration <= MAX_DURATION).ok_or_else(expected)
}
