//! From what the user named to the program, the code behind it and the configuration that holds for both.

use super::build::build;
use super::{ConfigSource, Session};
use agentnative_contract::error::{Error, Result};
use agentnative_core::catalogue::{self, Check};
use agentnative_core::config::{Config, Date, Known};
use agentnative_core::model::{CheckId, Layer};
use agentnative_core::run::{self, Runner};
use agentnative_core::targets::{CodeBase, Finder, Target, TargetSelector};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

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
        self.config_by(&self.finder(&current_folder()?))
    }

    /// Finds targets from the working directory on.
    fn finder<'f>(&'f self, cwd: &'f Path) -> Finder<'f> {
        Finder {
            cwd,
            bin: self.options.bin.as_deref(),
            named: matches!(self.options.config, ConfigSource::File(_) | ConfigSource::Read(_)),
            resolve: &run::find,
            env: &|name| std::env::var_os(name),
        }
    }

    /// Executes the `build` of the target, if these checks need the program: [`Session::run`] does not execute it
    /// again.
    ///
    /// # Errors
    /// Those of [`Session::config`] and of the build; interrupted, when a signal told us to stop.
    pub fn build(&mut self, checks: &[&Check]) -> Result<()> {
        if self.builds(checks) {
            let cwd = current_folder()?;
            let finder = self.finder(&cwd);
            let config = self.config_by(&finder)?;
            self.build_with(&finder, config.as_ref(), &mut Runner::new(self.options.runner.clone()))?;
        }
        self.options.built = true;
        Ok(())
    }

    /// Whether the target is built before these checks.
    pub(super) fn builds(&self, checks: &[&Check]) -> bool {
        needs_program(checks) && !self.options.no_runs && !self.options.built
    }

    fn build_with(&self, finder: &Finder<'_>, config: Option<&Config>, runner: &mut Runner) -> Result<()> {
        let target = config.and_then(|config| Some((finder.configured(&self.target, config)?, config)));
        target.map_or(Ok(()), |(target, config)| build(target, &config.root, runner))
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

    /// Finds the program, the code behind it, or both. The target is built first if there is a runner for that and
    /// the configuration says how.
    pub(super) fn locate(&self, builder: Option<&mut Runner>, program: bool, code: bool) -> Result<Located> {
        let cwd = current_folder()?;
        let finder = self.finder(&cwd);
        let config = self.config_by(&finder)?;
        if let Some(runner) = builder {
            self.build_with(&finder, config.as_ref(), runner)?;
        }
        let code = if code { finder.code(&self.target, config.as_ref())? } else { None };
        let wanted = program || code.is_none();
        let target = wanted.then(|| find_one(&finder, &self.target, config.as_ref()));
        Ok(Located { config, target, code })
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
fn find_one(finder: &Finder<'_>, selector: &TargetSelector, config: Option<&Config>) -> Result<Target> {
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
