//! Finds the program, the code and the configuration of a target.

use super::build::build;
use super::{ConfigSource, Session};
use agentnative_contract::error::{Error, Result};
use agentnative_core::catalogue::{self, Check};
use agentnative_core::config::{Config, Date, ValidationContext};
use agentnative_core::model::{CheckId, Layer};
use agentnative_core::run::{self, Runner};
use agentnative_core::targets::{CodeBase, Finder, Target, TargetSelector};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// The configuration, program and code of a target, as far as they were requested and found.
pub(super) struct Located {
    /// The configuration of the target, if there is one.
    pub config: Option<Config>,
    /// The program of the target, or why it was not found; `None` if it was not requested. Without code, it is always
    /// requested.
    pub target: Option<Result<Target>>,
    /// The code of the target; `None` if it was not requested, or if the user named a program instead of a project.
    pub code: Option<CodeBase>,
}

impl Session {
    /// Returns the configuration of the target, if there is one. Runs nothing.
    ///
    /// # Errors
    /// The errors of [`Finder::search_start`] and [`Config::load`].
    pub fn config(&self) -> Result<Option<Config>> {
        self.find_config(&self.finder(&current_folder()?))
    }

    /// Creates a finder that searches for the target from the folder `cwd`.
    fn finder<'f>(&'f self, cwd: &'f Path) -> Finder<'f> {
        Finder {
            cwd,
            bin_name: self.options.bin.as_deref(),
            trusts_folder: matches!(self.options.config, ConfigSource::File(_) | ConfigSource::Read(_)),
            resolve: &run::find_program,
            env: &|name| std::env::var_os(name),
        }
    }

    /// Executes the `build` command of the target if these checks need the program; [`Session::run`] then does not
    /// execute it again.
    ///
    /// # Errors
    /// The errors of [`Session::config`] and of the build; an interruption after a signal.
    pub fn build(&mut self, checks: &[&Check]) -> Result<()> {
        if self.needs_build(checks) {
            let cwd = current_folder()?;
            let finder = self.finder(&cwd);
            let config = self.find_config(&finder)?;
            self.build_configured(&finder, config.as_ref(), &mut Runner::new(self.options.runner.clone()))?;
        }
        self.options.built = true;
        Ok(())
    }

    /// Returns whether the target has to be built before these checks: they need its program, runs are allowed, and it
    /// was not built yet.
    pub(super) fn needs_build(&self, checks: &[&Check]) -> bool {
        needs_program(checks) && !self.options.no_runs && !self.options.built
    }

    fn build_configured(
        &self,
        finder: &Finder<'_>,
        config: Option<&Config>,
        runner: &mut Runner,
    ) -> Result<()> {
        let target = config.and_then(|config| Some((finder.configured(&self.target, config)?, config)));
        target.map_or(Ok(()), |(target, config)| build(target, &config.root, runner))
    }

    fn find_config(&self, finder: &Finder<'_>) -> Result<Option<Config>> {
        match (&self.options.config, &self.target) {
            (ConfigSource::File(path), _) => load_config(path).map(Some),
            (ConfigSource::Read(config), _) => Ok(Some(Config::clone(config))),
            (ConfigSource::Without, _) => Ok(None),
            // Keeps the folder as it was given, so that the path of the configuration begins with it.
            (ConfigSource::Nearest, TargetSelector::Path(path)) => {
                with_known(|known| Config::discover(path, known))
            }
            (ConfigSource::Nearest, selector) => {
                let start = finder.search_start(selector)?;
                with_known(|known| Config::discover(&start, known))
            }
        }
    }

    /// Finds the configuration of the target, its program if `program`, and its code if `code`. With a `builder`, first
    /// executes the `build` command of the configuration, if there is one.
    pub(super) fn locate(&self, builder: Option<&mut Runner>, program: bool, code: bool) -> Result<Located> {
        let cwd = current_folder()?;
        let finder = self.finder(&cwd);
        let config = self.find_config(&finder)?;
        if let Some(runner) = builder {
            self.build_configured(&finder, config.as_ref(), runner)?;
        }
        let code = if code { finder.code(&self.target, config.as_ref())? } else { None };
        let needs_target = program || code.is_none();
        let target = needs_target.then(|| find_single(&finder, &self.target, config.as_ref()));
        Ok(Located { config, target, code })
    }
}

fn current_folder() -> Result<PathBuf> {
    std::env::current_dir().map_err(|error| Error::general(format!("no current folder: {error}")))
}

/// Returns whether these checks need the program of the target, and not only its files.
pub(super) fn needs_program(checks: &[&Check]) -> bool {
    let needs = |check: &&Check| check.layer != Layer::Source || check.id == CheckId::P8BundleInstall;
    checks.iter().any(needs)
}

/// Reads a configuration file; checks and bundled contracts that it names must exist.
pub fn load_config(path: &Path) -> Result<Config> {
    with_known(|known| Config::load(path, known))
}

fn with_known<T>(read: impl FnOnce(&ValidationContext) -> T) -> T {
    let checks: Vec<&str> = catalogue::checks().iter().map(|check| check.id.as_str()).collect();
    let contracts: Vec<&str> = agentnative_contract::bundled_names().collect();
    read(&ValidationContext {
        checks: &checks,
        contracts: &contracts,
        today: Date::from_time(SystemTime::now()),
    })
}

/// Returns the target that the selector matches; a configuration error if it matches several.
fn find_single(finder: &Finder<'_>, selector: &TargetSelector, config: Option<&Config>) -> Result<Target> {
    let mut targets = finder.find(selector, config)?;
    match (targets.pop(), targets.is_empty()) {
        (Some(target), true) => Ok(target),
        (last, _) => {
            let names: Vec<String> = targets.into_iter().chain(last).map(|target| target.name).collect();
            let message = format!("the configuration declares several targets: {}", names.join(", "));
            Err(Error::config(message).hint("choose one with --bin NAME"))
        }
    }
}
