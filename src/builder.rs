//! Checks a command in a test: [`Check`].

use crate::check::{ConfigSource, Judged, Report, Selection, Session, SessionOptions, TargetSelector};
use crate::output::{ReportView, text_report};
use agentnative_contract::error::{Error, Result};
use agentnative_core::catalogue;
use agentnative_core::config::ProbeConfig;
use agentnative_core::model::{Edition, Layer, Level, matches_pattern};
use agentnative_core::run::RunnerOptions;
use agentnative_output::{OutputConfig, OutputFormat, error_text};
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// A check of a command, for a test: the calls to make and the requirements to check.
///
/// By default, all checks of a command are made, with calls that are harmless for any command (`--help`, `--version`,
/// invalid usage). Each [`probe`](Self::probe) is a call of the command that is safe to repeat; most checks need one.
/// The checks of source code are not made: they need a project, and `agentnative check` makes them.
///
/// Relative paths are relative to the current folder. In `cargo test` that is the folder of the package.
///
/// ```
/// use agentnative::Check;
///
/// Check::command("sh")
///     .args(["-c", r#"echo '{"items": []}'"#, "mycli"])
///     .probe("list")
///     .check("p2-output-json")
///     .strict(true)
///     .assert();
/// ```
#[derive(Debug, Clone)]
#[must_use = "nothing is run before `run` or `assert` is called"]
pub struct Check {
    command: Vec<OsString>,
    probes: Vec<String>,
    changes: Vec<String>,
    workspace: Option<PathBuf>,
    selection: Selection,
    options: SessionOptions,
    deny: Vec<Level>,
    strict: bool,
    verbose: bool,
}

impl Check {
    /// Creates a check of this program: a path, such as `env!("CARGO_BIN_EXE_mycli")`, or a name on `PATH`.
    pub fn command(program: impl Into<OsString>) -> Self {
        Self {
            command: vec![program.into()],
            probes: Vec::new(),
            changes: Vec::new(),
            workspace: None,
            selection: Selection { layers: vec![Layer::Behavioral, Layer::Project], ..Selection::default() },
            options: SessionOptions { config: ConfigSource::Without, ..SessionOptions::default() },
            deny: Vec::new(),
            strict: false,
            verbose: false,
        }
    }

    /// Adds an argument to all calls; the arguments of a probe follow it.
    pub fn arg(mut self, argument: impl Into<OsString>) -> Self {
        self.command.push(argument.into());
        self
    }

    /// Adds arguments to all calls; the arguments of a probe follow them.
    pub fn args(mut self, arguments: impl IntoIterator<Item = impl Into<OsString>>) -> Self {
        self.command.extend(arguments.into_iter().map(Into::into));
        self
    }

    /// Adds a probe, which is a call of the command, as `"[EXIT:]ARGS"`. `ARGS` are the arguments, split as in a shell:
    /// `"list"`, `"show 'two words'"`. `EXIT` is the expected exit code, if it is not 0: `"77:whoami"`.
    pub fn probe(mut self, probe: impl Into<String>) -> Self {
        self.probes.push(probe.into());
        self
    }

    /// Adds a call that changes something, in the syntax of [`probe`](Self::probe). It runs only for the checks that
    /// concern changes, confined, and in a copy of the [`workspace`](Self::workspace), or in an empty folder without one.
    pub fn changes(mut self, call: impl Into<String>) -> Self {
        self.changes.push(call.into());
        self
    }

    /// Starts each run of the probes, and of the calls that change something, in a copy of this folder.
    pub fn workspace(mut self, folder: impl Into<PathBuf>) -> Self {
        self.workspace = Some(folder.into());
        self
    }

    /// Checks against this contract instead of the default rules: the name of a bundled contract, or the path
    /// of a contract folder or a schema file.
    pub fn contract(mut self, contract: impl Into<String>) -> Self {
        self.options.contract = Some(contract.into());
        self
    }

    /// Makes only the checks of this principle of the agent-native CLI standard, such as 2 (repeatable).
    pub fn principle(mut self, principle: u8) -> Self {
        self.selection.principles.push(principle);
        self
    }

    /// Makes only this check (repeatable). `*` matches any part of an ID, as in `"p2-output-*"`.
    pub fn check(mut self, id: impl Into<String>) -> Self {
        self.selection.checks.push(id.into());
        self
    }

    /// Leaves this check out (repeatable). `*` matches any part of an ID.
    pub fn skip(mut self, id: impl Into<String>) -> Self {
        self.selection.skip.push(id.into());
        self
    }

    /// Uses this configuration: its probes, formats, services and waivers. By default no configuration is read, so
    /// that a test depends only on its own code.
    pub fn config(mut self, path: impl Into<PathBuf>) -> Self {
        self.options.config = ConfigSource::File(path.into());
        self
    }

    /// Sets an environment variable for all runs. Their environment otherwise contains only what programs need.
    pub fn env(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.options.env.insert(name.into(), value.into());
        self
    }

    /// Sets the working directory of the runs.
    pub fn current_dir(mut self, folder: impl Into<PathBuf>) -> Self {
        self.options.current_dir = Some(folder.into());
        self
    }

    /// Declares the exit codes of the command; its help or README has to document all of them. Without this
    /// declaration, 0, 1, 2, 77 and 78 are allowed, and the codes that the probes expect have to be documented.
    pub fn exit_codes(mut self, codes: impl IntoIterator<Item = i32>) -> Self {
        self.options.exit_codes = Some(codes.into_iter().collect());
        self
    }

    /// Sets the time limit of each run. The default is the limit in the configuration, or else 10 seconds.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.options.timeout = Some(timeout);
        self
    }

    /// Sets the number of parallel runs; the default is twice the number of cores.
    pub fn jobs(mut self, jobs: usize) -> Self {
        self.options.runner = RunnerOptions { jobs, ..self.options.runner };
        self
    }

    /// Makes only plain runs, without special conditions such as a terminal or a closed pipe. A check that needs other
    /// runs is unverified.
    pub fn fast(mut self, fast: bool) -> Self {
        self.options.fast = fast;
        self
    }

    /// Explores the command: finds calls in its help pages and examples, and judges them, too. They are made in full
    /// confinement, in a folder with a few sample files.
    pub fn explore(mut self) -> Self {
        self.options.explore.get_or_insert_default();
        self
    }

    /// Explores the command as [`explore`](Self::explore) does, with each call in a copy of this folder.
    pub fn explore_in(mut self, workspace: impl Into<PathBuf>) -> Self {
        self.options.explore.get_or_insert_default().workspace = Some(workspace.into());
        self
    }

    /// Also fails if a MUST requirement is unverified, that is, if the runs gave no evidence for it.
    pub fn strict(mut self, strict: bool) -> Self {
        self.strict = strict;
        self
    }

    /// Also fails if a requirement of this level is unmet, which is otherwise only a warning. Levels other than
    /// [`Level::Should`] are an error, since only unmet SHOULD requirements are warnings.
    pub fn deny(mut self, level: Level) -> Self {
        self.deny.push(level);
        self
    }

    /// Checks the requirements of this edition of the standard; the default is the newest.
    pub fn edition(mut self, edition: Edition) -> Self {
        self.selection.edition = Some(edition);
        self.options.edition = Some(edition);
        self
    }

    /// Lists all verdicts, and every place of each problem, in the panic message of [`assert`](Self::assert).
    pub fn verbose(mut self, verbose: bool) -> Self {
        self.verbose = verbose;
        self
    }

    /// Runs the command and returns all verdicts, including failures.
    ///
    /// # Errors
    /// If there is no such program, check, principle or contract; if a probe or the configuration is invalid; or if
    /// nothing could be run.
    pub fn run(&self) -> Result<Report> {
        Ok(self.judged()?.report)
    }

    /// Runs the command and returns all verdicts, if none of them is a failure.
    ///
    /// # Panics
    /// If a MUST failed, or a requirement that [`strict`](Self::strict) or [`deny`](Self::deny) adds; the message is
    /// the text report. Also on the errors of [`run`](Self::run).
    #[track_caller]
    pub fn assert(&self) -> Report {
        let failure = match self.judged() {
            Ok(judged) => match judged.report.exit_error(self.strict) {
                None => return judged.report,
                Some(unmet) => self.failure_text(judged, &unmet),
            },
            Err(error) => error_text(&error, false),
        };
        panic!("{}", failure.trim_end())
    }

    fn judged(&self) -> Result<Judged> {
        let session = self.session()?;
        let config = session.config()?.map(|config| config.check).unwrap_or_default();
        let (checks, skipped) = self.selection.resolve_with(&config)?;
        session.run(&checks, &mut |_| Ok(()))?.judged(&checks, &skipped, &self.deny)
    }

    /// Validates the settings and creates the session.
    fn session(&self) -> Result<Session> {
        if self.command.first().is_none_or(|program| program.is_empty()) {
            return Err(Error::usage("the program is empty; expected its path, or its name on PATH"));
        }
        if self.options.runner.jobs == 0 {
            return Err(Error::usage("the number of parallel runs is 0; expected at least 1"));
        }
        if self.options.timeout.is_some_and(|timeout| timeout.is_zero()) {
            return Err(Error::usage("the time limit is 0; expected a duration above 0"));
        }
        if let Some(level) = self.deny.iter().find(|level| **level != Level::Should) {
            let message = format!("deny({level:?}) has no effect; expected deny(Should)");
            return Err(Error::usage(message).hint("an unmet MUST fails without it, and a MAY never does"));
        }
        for pattern in &self.selection.checks {
            let mut named =
                catalogue::checks().iter().filter(|check| matches_pattern(pattern, check.id.as_str()));
            if named.clone().next().is_some() && named.all(|check| check.layer == Layer::Source) {
                let message = format!("`{pattern}` reads source code, but a command has none");
                return Err(
                    Error::usage(message).hint("check the project: agentnative check --layer source .")
                );
            }
        }
        let probes = self.probes.iter().map(|probe| ProbeConfig::from_flag(probe)).collect::<Result<_>>()?;
        let probes = ProbeConfig::with_changes(probes, &self.changes, self.workspace.as_deref())?;
        let options = SessionOptions { probes, ..self.options.clone() };
        Ok(Session::new(TargetSelector::command(&self.command), options))
    }

    /// Formats the report as text, followed by the reason why the check failed.
    fn failure_text(&self, judged: Judged, unmet: &Error) -> String {
        let folder = std::env::current_dir().ok();
        let judged = [judged];
        let view = ReportView {
            verbose: self.verbose,
            folder: folder.as_deref(),
            strict: self.strict,
            ..ReportView::new(&judged, OutputConfig::plain(OutputFormat::Text))
        };
        let report = text_report(&view).unwrap_or_else(|error| error_text(&error, false));
        report + &error_text(unmet, false)
    }
}
