//! From what the user named to the program, the code behind it and the configuration that holds for both.

use super::build::build;
use super::inspect::page_of;
use super::{ConfigSource, Session};
use crate::catalogue;
use crate::config::{Config, Date, Known};
use crate::run::{self, Observation, Runner};
use crate::target::{CodeBase, Finder, Help, Target, TargetSelector};
use agentnative_contract::error::{Error, Result};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// More of a stream is no help, in bytes.
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
        self.config_by(&self.finder(&current_folder()?))
    }

    /// Finds targets from the working directory on.
    fn finder<'f>(&'f self, cwd: &'f Path) -> Finder<'f> {
        Finder {
            cwd,
            bin: self.options.bin.as_deref(),
            resolve: &run::find,
            env: &|name| std::env::var_os(name),
        }
    }

    fn config_by(&self, finder: &Finder<'_>) -> Result<Option<Config>> {
        match (&self.options.config, &self.target) {
            (ConfigSource::File(path), _) => load_config(path).map(Some),
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
        if let (Some(runner), Some(config)) = (builder, &config)
            && let Some(target) = finder.configured(&self.target, config)
        {
            build(target, &config.root, runner)?;
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

/// What a run that asked for help says, on either stream.
pub(super) fn help_of(seen: &Observation) -> Help {
    Help::parse(&page_of(seen))
}
