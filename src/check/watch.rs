//! Which files a check depends on, and which of them changed.

use super::{ConfigSource, Session};
use agentnative_contract::contract_path;
use agentnative_core::config::{Config, FILE_NAME, TargetConfig, Workspace};
use agentnative_core::files::{self, MAX_DATA};
use agentnative_core::targets::TargetSelector;
use agentnative_judge::source::{is_code, kept_files};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Read as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use xxhash_rust::xxh3::xxh3_64;

/// The files that a check depends on.
#[derive(Debug, Clone, Default)]
pub struct Watched {
    /// The configuration and the files that it names, the program and its scripts.
    files: BTreeSet<PathBuf>,
    /// Those of them that a build makes.
    made: BTreeSet<PathBuf>,
    /// The folder whose code is part of the target.
    code: Option<PathBuf>,
    /// The target is built from any file of that folder.
    builds: bool,
    /// The file with the configuration.
    config: PathBuf,
    /// What the configuration says is executed without confinement: a build or services.
    executes: bool,
}

/// The files at one moment: when the inode of each was changed, which no program can set, and its length.
pub type Look = BTreeMap<PathBuf, (i64, i64, u64)>;

impl Session {
    /// The files that a check depends on, as far as they are known. `command` is the command line of the target;
    /// empty while none was found.
    pub fn watched(&self, command: &[String]) -> Watched {
        let cwd = std::env::current_dir().unwrap_or_default();
        let config = self.config().ok().flatten();
        let named: Vec<PathBuf> = match &self.target {
            TargetSelector::Path(path) => vec![cwd.join(path)],
            TargetSelector::Argv(words) => words.iter().map(|word| cwd.join(word)).collect(),
            TargetSelector::Name(_) => Vec::new(),
        };
        let start = named.first().unwrap_or(&cwd);
        let folder = if start.is_file() { start.parent().unwrap_or(&cwd) } else { start };
        let root = config.as_ref().map_or(folder, |config| &config.root);
        let targets: Vec<&TargetConfig> = config.iter().flat_map(|config| self.meant(config)).collect();
        let words = targets.iter().flat_map(|target| target.command.iter().flatten()).chain(command);
        let base = if matches!(self.target, TargetSelector::Argv(_)) { &cwd } else { root };
        let programs: BTreeSet<PathBuf> = words
            .map(|word| base.join(word))
            .chain(named.iter().cloned())
            .filter(|file| file.is_file())
            .collect();

        let file = cwd.join(self.config_file(config.as_ref(), folder));
        let mut files: BTreeSet<PathBuf> = programs.iter().cloned().chain([file.clone()]).collect();
        files.extend(config.iter().flat_map(|config| named_files(config, &targets)));
        let builds = targets.iter().any(|target| target.build.is_some());
        let is_script = |file: &PathBuf| file.starts_with(root) && !is_machine_code(file);
        let reads_code = builds || command.is_empty() || programs.iter().any(is_script);
        Watched {
            files,
            made: if builds { programs } else { BTreeSet::new() },
            code: reads_code.then(|| root.to_owned()),
            builds,
            executes: builds || config.is_some_and(|config| !config.services.is_empty()),
            config: file,
        }
    }

    /// The file of the configuration, of a target in this folder; it may have faults, or be still to come.
    fn config_file(&self, config: Option<&Config>, folder: &Path) -> PathBuf {
        match (&self.options.config, config) {
            (ConfigSource::File(path), _) => path.clone(),
            (_, Some(config)) => config.path.clone(),
            (_, None) => Config::find(folder).ok().flatten().unwrap_or_else(|| folder.join(FILE_NAME)),
        }
    }

    /// The targets of a configuration that may be the one that is checked.
    fn meant<'c>(&self, config: &'c Config) -> impl Iterator<Item = &'c TargetConfig> {
        let (bin, only) = (self.options.bin.clone(), config.targets.len() == 1);
        config.targets.iter().filter(move |target| only || bin.is_none() || target.name == bin)
    }
}

/// The files that a configuration names for these targets: contracts, those of the home and of workspaces.
fn named_files(config: &Config, targets: &[&TargetConfig]) -> Vec<PathBuf> {
    let probes =
        config.probes.iter().flat_map(|probe| [&probe.call.contract.json, &probe.call.contract.jsonl]);
    let contracts = targets.iter().map(|target| &target.contract).chain(probes).flatten();
    let paths = contracts.filter_map(|name| contract_path(&config.root, name));
    let homes = targets.iter().flat_map(|target| target.home.values().cloned());
    let workspaces = config.probes.iter().filter_map(|probe| match &probe.call.workspace {
        Some(Workspace::Copy(folder)) => Some(folder.clone()),
        Some(Workspace::Empty) | None => None,
    });
    let all = paths.chain(homes).chain(workspaces);
    all.flat_map(|path| if path.is_dir() { kept_files(&path).collect() } else { vec![path] }).collect()
}

/// Whether a file is a program that was compiled, not one that is read when it runs.
fn is_machine_code(path: &Path) -> bool {
    let mut head = [0; 4];
    files::open(path).and_then(|mut file| file.read_exact(&mut head)).is_ok() && head == *b"\x7fELF"
}

impl Watched {
    /// These files and one more that people edit.
    #[must_use]
    pub fn with(mut self, file: Option<PathBuf>) -> Self {
        self.files.extend(file);
        self
    }

    /// How the files are now; those that are not there are left out.
    pub fn look(&self) -> Look {
        let look = |path: PathBuf| {
            let metadata = path.metadata().ok()?;
            Some((path, (metadata.ctime(), metadata.ctime_nsec(), metadata.len())))
        };
        self.files.iter().cloned().chain(self.code_files(!self.builds)).filter_map(look).collect()
    }

    /// A file that changed while runs were made since this look, and that decides what is executed without confinement:
    /// the configuration, or any file if that has a build or services.
    pub fn changed_in_runs(&self, before: &Look) -> Option<PathBuf> {
        let decides = |path: &PathBuf| self.executes || *path == self.config;
        let files = |look: Look| look.into_iter().filter(|(path, _)| decides(path)).collect();
        first_change(&files(before.clone()), &files(self.look()))
    }

    /// What is in the files that people edit: all but what a build makes. While a check works these alone are
    /// looked at, since building and running write files as well.
    pub fn contents(&self) -> BTreeMap<PathBuf, u64> {
        let edited = self.files.iter().cloned().chain(self.code_files(true));
        let content = |path: PathBuf| {
            let length = path.metadata().ok()?.len();
            Some((files::read(&path, MAX_DATA).map_or(length, |bytes| xxh3_64(&bytes)), path))
        };
        let edited = edited.filter(|path| !self.made.contains(path)).filter_map(content);
        edited.map(|(content, path)| (path, content)).collect()
    }

    fn code_files(&self, code_alone: bool) -> impl Iterator<Item = PathBuf> {
        let files = self.code.iter().flat_map(|folder| kept_files(folder));
        files.filter(move |path| !code_alone || is_code(path))
    }
}

/// A file that is not as it was before.
pub fn first_change<T: PartialEq>(
    before: &BTreeMap<PathBuf, T>,
    after: &BTreeMap<PathBuf, T>,
) -> Option<PathBuf> {
    let gone = before.iter().find(|(path, was)| after.get(*path) != Some(was));
    gone.or_else(|| after.iter().find(|(path, _)| !before.contains_key(*path))).map(|(path, _)| path.clone())
}
