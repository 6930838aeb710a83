//! What is checked: the ways to name a target, and the configuration that holds for it.

use crate::config::{Config, Date, Known};
use crate::report::catalogue;
use crate::run::{self, End, Observation, Runner};
use crate::target::help::Help;
use crate::target::{CodeBase, Finder, Target, Way};
use agentnative_contract;
use agentnative_contract::error::{Error, Result};
use std::cell::RefCell;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// How long a tool that we need ourselves, such as `cargo metadata`, may take.
const TOOL: Duration = Duration::from_secs(120);
/// How long a target may take to print its help.
const HELP: Duration = Duration::from_secs(10);

/// A folder, a binary, a command found on PATH, or a command line.
#[derive(clap::Args)]
pub(super) struct SubjectArgs {
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

impl SubjectArgs {
    /// A command line, with this configuration.
    pub(super) fn of_command(command: Vec<OsString>, config: Option<PathBuf>) -> Self {
        Self { path: None, name: None, bin: None, config, command }
    }

    fn way(&self) -> Way<'_> {
        match (&self.path, &self.name) {
            (_, Some(name)) => Way::Name(name),
            (Some(path), None) => Way::Path(path),
            (None, None) if self.command.is_empty() => Way::Path(Path::new(".")),
            (None, None) => Way::Argv(&self.command),
        }
    }

    /// The command as it was given, for a configuration; none for a project's own binary.
    ///
    /// # Errors
    /// Usage, for a word that is not UTF-8: TOML cannot hold it.
    pub(super) fn command(&self) -> Result<Option<Vec<String>>> {
        let word = |word: &OsStr| {
            let not_utf8 = || Error::usage(format!("{word:?} is not UTF-8: agentnative.toml cannot hold it"));
            word.to_str().map(str::to_owned).ok_or_else(not_utf8)
        };
        let words = match self.way() {
            Way::Argv(argv) => argv.iter().map(|arg| word(arg)).collect::<Result<_>>()?,
            Way::Name(name) => vec![word(name)?],
            Way::Path(path) if path.is_file() => {
                let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
                vec![word(path.as_os_str())?]
            }
            Way::Path(_) => return Ok(None),
        };
        Ok(Some(words))
    }
}

/// Reads a configuration file.
pub(super) fn load(path: &Path) -> Result<Config> {
    known(|known| Config::load(path, known))
}

fn known<T>(read: impl FnOnce(&Known) -> T) -> T {
    let checks: Vec<&str> = catalogue::checks().iter().map(|check| check.id.as_str()).collect();
    let contracts: Vec<&str> = agentnative_contract::names().collect();
    read(&Known { checks: &checks, contracts: &contracts, today: Date::of(SystemTime::now()) })
}

/// The target, and the configuration that holds for it, if there is one.
///
/// # Errors
/// Those of [`Finder::find`] and [`Config::load`]; of kind `Config` when there are several targets and
/// none was chosen.
pub(super) fn resolve(args: &SubjectArgs, runner: &mut Runner) -> Result<(Target, Option<Config>)> {
    with_finder(args, runner, |finder, way, config| Ok((target(finder, way, config.as_ref())?, config)))
}

/// What was named, as far as it is asked for.
pub(super) struct Found {
    /// The configuration that holds for it, if there is one.
    pub config: Option<Config>,
    /// The program, which is looked for where there is no code, too.
    pub target: Option<Result<Target>>,
    /// The code; none when a program was named.
    pub code: Option<CodeBase>,
}

/// Finds the program, the code behind it, or both.
///
/// # Errors
/// Those of [`Config::load`] and [`Finder::code`].
pub(super) fn find(args: &SubjectArgs, runner: &mut Runner, program: bool, code: bool) -> Result<Found> {
    with_finder(args, runner, |finder, way, config| {
        let code = if code { finder.code(way, config.as_ref())? } else { None };
        let target = (program || code.is_none()).then(|| target(finder, way, config.as_ref()));
        Ok(Found { config, target, code })
    })
}

fn with_finder<T>(
    args: &SubjectArgs,
    runner: &mut Runner,
    then: impl FnOnce(&Finder<'_>, Way<'_>, Option<Config>) -> Result<T>,
) -> Result<T> {
    let cwd =
        std::env::current_dir().map_err(|error| Error::general(format!("no current folder: {error}")))?;
    let path = std::env::var_os("PATH");
    let runner = RefCell::new(runner);
    let program = |word: &OsStr| run::resolve(word, path.as_deref());
    let tool = |argv: &[OsString], folder: &Path| tool(&mut runner.borrow_mut(), argv, folder, &program);
    let finder = Finder { cwd: &cwd, bin: args.bin.as_deref(), resolve: &program, tool: &tool };

    let way = args.way();
    let config = match &args.config {
        Some(path) => Some(load(path)?),
        None => {
            // A folder as it was named: so is the file in it.
            let start = if let Way::Path(path) = way { path.to_owned() } else { finder.start(way)? };
            known(|known| Config::discover(&start, known))?
        }
    };
    then(&finder, way, config)
}

fn target(finder: &Finder<'_>, way: Way<'_>, config: Option<&Config>) -> Result<Target> {
    let mut targets = finder.find(way, config)?;
    match (targets.pop(), targets.is_empty()) {
        (Some(target), true) => Ok(target),
        (last, _) => {
            let names: Vec<String> = targets.into_iter().chain(last).map(|target| target.name).collect();
            let message = format!("the configuration has several targets: {}", names.join(", "));
            Err(Error::config(message).hint("choose one with --bin NAME"))
        }
    }
}

/// Runs a tool that we need ourselves; it must succeed.
fn tool(
    runner: &mut Runner,
    argv: &[OsString],
    folder: &Path,
    resolve: &dyn Fn(&OsStr) -> Result<PathBuf>,
) -> Result<Vec<u8>> {
    let Some((program, args)) = argv.split_first() else { return Err(Error::general("no tool to run")) };
    let seen = runner.run_trusted(&resolve(program)?, args, folder, TOOL)?;
    if seen.end == End::Exited(0) {
        return Ok(read(&seen.stdout.bytes));
    }
    let words = String::from_utf8_lossy(&read(&seen.stderr.bytes)).trim().to_owned();
    Err(Error::config(format!("{} failed: {words}", program.to_string_lossy())))
}

/// What the help of a target says.
pub(super) fn help(target: &Target, runner: &mut Runner) -> Result<Help> {
    let args: Vec<OsString> = target.prefix_args.iter().cloned().chain(["--help".into()]).collect();
    let seen = runner.run_trusted(&target.program, &args, &target.cwd, HELP)?;
    match &seen.end {
        End::Exited(_) => Ok(help_of(&seen)),
        End::NotStarted(_, words) => {
            Err(Error::config(format!("{} could not be started: {words}", target.name)))
        }
        _ => Err(Error::general(format!("`{} --help` did not end by itself", target.name))),
    }
}

/// What a run that asked for help says, on either stream.
pub(super) fn help_of(seen: &Observation) -> Help {
    let text = [read(&seen.stdout.bytes), read(&seen.stderr.bytes)].concat();
    Help::parse(&text)
}

/// At most 16 MiB of a stream: more is neither help nor metadata.
fn read(bytes: &run::Bytes) -> Vec<u8> {
    let mut all = Vec::new();
    // An unreadable capture is an empty one; what needs it says so.
    let _ = std::io::Read::read_to_end(&mut std::io::Read::take(bytes.reader(), 16 << 20), &mut all);
    all
}
