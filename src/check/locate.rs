//! From what the user named to the program, the code behind it and the configuration that holds for both.

use super::build::build;
use super::inspect::page_of;
use super::{ConfigSource, Session};
use crate::catalogue::{self, Check};
use crate::config::{Config, Date, Known};
use crate::model::{CheckId, Layer};
use crate::run::{self, End, Job, Observation, Runner};
use crate::target::{CodeBase, Finder, Help, Target, TargetSelector, Tool};
use agentnative_contract::error::{Error, Result};
use std::cell::RefCell;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// How long a tool that we need ourselves, such as `cargo metadata`, may take.
const TOOL: Duration = Duration::from_secs(120);
/// More of a stream is neither help nor metadata, in bytes.
pub(super) const MAX_TEXT: u64 = 16 << 20;

/// What was named, as far as it is asked for.
pub(super) struct Located {
    /// The configuration that holds for it, if there is one.
    pub config: Option<Config>,
    /// The program, which is looked for where there is no code, too.
    pub target: Option<Result<Target>>,
    /// The code; none when a program was named.
    pub code: Option<CodeBase>,
}

impl Session {
    /// The configuration that holds for the target, if there is one; nothing is run.
    ///
    /// # Errors
    /// Those of [`Finder::start`] and [`Config::load`].
    pub fn config(&self) -> Result<Option<Config>> {
        let tool = |_: &[OsString], _: &Path| Err(Error::general("no tool finds a configuration"));
        let cwd = current_folder()?;
        self.config_by(&self.finder(&cwd, &tool))
    }

    fn finder<'f>(&'f self, cwd: &'f Path, tool: Tool<'f>) -> Finder<'f> {
        let named = matches!(self.options.config, ConfigSource::File(_) | ConfigSource::Read(_));
        Finder { cwd, bin: self.options.bin.as_deref(), named, resolve: &run::find, tool }
    }

    /// Executes the `build` of the target, if these checks need the program: [`Session::run`] does not execute it
    /// again.
    ///
    /// # Errors
    /// Those of [`Session::config`] and of the build; interrupted, when a signal told us to stop.
    pub fn build(&mut self, checks: &[&Check]) -> Result<()> {
        let mut runner = Runner::new(self.options.runner.clone());
        self.with_finder(&mut runner, needs_program(checks), |_, _| Ok(()))?;
        self.options.built = true;
        Ok(())
    }

    fn config_by(&self, finder: &Finder<'_>) -> Result<Option<Config>> {
        match (&self.options.config, &self.target) {
            (ConfigSource::File(path), _) => load_config(path).map(Some),
            (ConfigSource::Read(config), _) => Ok(Some(Config::clone(config))),
            (ConfigSource::Without, _) => Ok(None),
            // A folder as it was named: so is the file in it.
            (ConfigSource::Nearest, TargetSelector::Path(path)) => {
                known(|known| Config::discover(path, known))
            }
            (ConfigSource::Nearest, selector) => {
                let start = finder.start(selector)?;
                known(|known| Config::discover(&start, known))
            }
        }
    }

    /// Finds the program, the code behind it, or both.
    pub(super) fn locate(&self, runner: &mut Runner, program: bool, code: bool) -> Result<Located> {
        self.with_finder(runner, program, |finder, config| {
            let code = if code { finder.code(&self.target, config.as_ref())? } else { None };
            let wanted = program || code.is_none();
            let target = wanted.then(|| find_one(finder, &self.target, config.as_ref()));
            Ok(Located { config, target, code })
        })
    }

    /// Reads the configuration, builds the target if `builds` and the configuration says how, and then finds
    /// what it is about.
    pub(super) fn with_finder<T>(
        &self,
        runner: &mut Runner,
        builds: bool,
        then: impl FnOnce(&Finder<'_>, Option<Config>) -> Result<T>,
    ) -> Result<T> {
        let cwd = current_folder()?;
        let runner = RefCell::new(runner);
        let tool = |argv: &[OsString], folder: &Path| tool(&mut runner.borrow_mut(), argv, folder);
        let finder = self.finder(&cwd, &tool);
        let config = self.config_by(&finder)?;
        if builds
            && !self.options.built
            && let Some(config) = &config
            && let Some(target) = finder.configured(&self.target, config)
        {
            build(target, &config.root, &mut runner.borrow_mut())?;
        }
        then(&finder, config)
    }
}

fn current_folder() -> Result<PathBuf> {
    std::env::current_dir().map_err(|error| Error::general(format!("no current folder: {error}")))
}

/// Whether these checks need the program of the target, and not only its files.
pub(super) fn needs_program(checks: &[&Check]) -> bool {
    let needs = |check: &&Check| check.layer != Layer::Source || check.id == CheckId::P8BundleInstall;
    checks.iter().any(needs)
}

/// Reads a configuration file, held against the catalogue and the bundled contracts.
pub fn load_config(path: &Path) -> Result<Config> {
    known(|known| Config::load(path, known))
}

fn known<T>(read: impl FnOnce(&Known) -> T) -> T {
    let checks: Vec<&str> = catalogue::checks().iter().map(|check| check.id.as_str()).collect();
    let contracts: Vec<&str> = agentnative_contract::names().collect();
    read(&Known { checks: &checks, contracts: &contracts, today: Date::of(SystemTime::now()) })
}

/// The one target that is meant.
pub(super) fn find_one(
    finder: &Finder<'_>,
    selector: &TargetSelector,
    config: Option<&Config>,
) -> Result<Target> {
    let mut targets = finder.find(selector, config)?;
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
pub(super) fn tool(runner: &mut Runner, argv: &[OsString], folder: &Path) -> Result<Vec<u8>> {
    let Some((program, args)) = argv.split_first() else { return Err(Error::general("no tool to run")) };
    let seen = runner.run_trusted(Job::new(run::find(program)?, args, folder, TOOL))?;
    if seen.end == End::Exited(0) {
        return Ok(seen.stdout.bytes.first(MAX_TEXT));
    }
    let words = String::from_utf8_lossy(&seen.stderr.bytes.first(MAX_TEXT)).trim().to_owned();
    Err(Error::config(format!("{} failed: {words}", program.to_string_lossy())))
}

/// What a run that asked for help says, on either stream.
pub(super) fn help_of(seen: &Observation) -> Help {
    Help::parse(&page_of(seen))
}
