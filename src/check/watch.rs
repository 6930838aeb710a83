//! Finds the files that a check depends on, and detects which of them changed.

use super::{ConfigSource, Session};
use agentnative_contract::contract_path;
use agentnative_core::config::{Config, FILE_NAME, TargetConfig, Workspace};
use agentnative_core::files::{self, MAX_DATA_BYTES};
use agentnative_core::targets::TargetSelector;
use agentnative_judge::source::{is_code, project_files};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Read as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use xxhash_rust::xxh3::xxh3_64;

/// The files that a check depends on.
#[derive(Debug, Clone, Default)]
pub struct WatchedFiles {
    /// The configuration, the files that it names, the program and its scripts.
    files: BTreeSet<PathBuf>,
    /// The files in `files` that the `build` command creates.
    built_files: BTreeSet<PathBuf>,
    /// The folder with the code of the target; `None` if no code has to be watched.
    code: Option<PathBuf>,
    /// Whether the configuration has a `build` command, which may read any file in the folder `code`.
    has_build: bool,
    /// The configuration file.
    config: PathBuf,
    /// Whether the configuration has a build or services, which run without confinement.
    runs_unconfined: bool,
}

/// The state of files at one time, by path: seconds and nanoseconds of the last inode change, which programs cannot
/// set, and the length in bytes.
pub type FileSnapshot = BTreeMap<PathBuf, (i64, i64, u64)>;

impl Session {
    /// Returns the files that a check depends on, as far as they are known. `command` is the command line of the
    /// target; empty if it was not found yet.
    pub fn watched_files(&self, command: &[String]) -> WatchedFiles {
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
        let targets: Vec<&TargetConfig> =
            config.iter().flat_map(|config| self.possible_targets(config)).collect();
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
        let has_build = targets.iter().any(|target| target.build.is_some());
        let is_script = |file: &PathBuf| file.starts_with(root) && !is_elf(file);
        let reads_code = has_build || command.is_empty() || programs.iter().any(is_script);
        WatchedFiles {
            files,
            built_files: if has_build { programs } else { BTreeSet::new() },
            code: reads_code.then(|| root.to_owned()),
            has_build,
            runs_unconfined: has_build || config.is_some_and(|config| !config.services.is_empty()),
            config: file,
        }
    }

    /// Returns the path of the configuration file, even if the file is invalid or missing.
    fn config_file(&self, config: Option<&Config>, folder: &Path) -> PathBuf {
        match (&self.options.config, config) {
            (ConfigSource::File(path), _) => path.clone(),
            (_, Some(config)) => config.path.clone(),
            (_, None) => Config::find(folder).ok().flatten().unwrap_or_else(|| folder.join(FILE_NAME)),
        }
    }

    /// Returns the targets of a configuration that this session may check: all, unless the options select one by name.
    fn possible_targets<'c>(&self, config: &'c Config) -> impl Iterator<Item = &'c TargetConfig> {
        let (bin, only) = (self.options.bin.clone(), config.targets.len() == 1);
        config.targets.iter().filter(move |target| only || bin.is_none() || target.name == bin)
    }
}

/// Returns the files that a configuration names for these targets: contracts, home files and workspaces.
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
    all.flat_map(|path| if path.is_dir() { project_files(&path).collect() } else { vec![path] }).collect()
}

/// Returns whether a file is a compiled program (ELF) and not a script.
fn is_elf(path: &Path) -> bool {
    let mut head = [0; 4];
    files::open(path).and_then(|mut file| file.read_exact(&mut head)).is_ok() && head == *b"\x7fELF"
}

impl WatchedFiles {
    /// Adds a file to watch, which a user may edit.
    #[must_use]
    pub fn with_edited_file(mut self, file: Option<PathBuf>) -> Self {
        self.files.extend(file);
        self
    }

    /// Returns the current state of all watched files that exist.
    pub fn snapshot(&self) -> FileSnapshot {
        let metadata = |path: PathBuf| {
            let file = path.metadata().ok()?;
            Some((path, (file.ctime(), file.ctime_nsec(), file.len())))
        };
        self.files.iter().cloned().chain(self.code_files(!self.has_build)).filter_map(metadata).collect()
    }

    /// Returns a file that changed since the snapshot `before`, which was taken before the runs, and that decides what
    /// is executed without confinement. This is the configuration, or any watched file if the configuration has a build
    /// or services.
    pub fn changed_in_runs(&self, before: &FileSnapshot) -> Option<PathBuf> {
        let decides = |path: &PathBuf| self.runs_unconfined || *path == self.config;
        let files = |snapshot: FileSnapshot| snapshot.into_iter().filter(|(path, _)| decides(path)).collect();
        first_change(&files(before.clone()), &files(self.snapshot()))
    }

    /// Returns content hashes of the files that users edit: all except those that a build creates. Changes during a
    /// check are detected by these hashes alone, since building and running write files as well.
    pub fn content_hashes(&self) -> BTreeMap<PathBuf, u64> {
        let edited = self.files.iter().cloned().chain(self.code_files(true));
        let hashed = |path: PathBuf| {
            let length = path.metadata().ok()?.len();
            Some((files::read(&path, MAX_DATA_BYTES).map_or(length, |bytes| xxh3_64(&bytes)), path))
        };
        let edited = edited.filter(|path| !self.built_files.contains(path)).filter_map(hashed);
        edited.map(|(hash, path)| (path, hash)).collect()
    }

    fn code_files(&self, only_code: bool) -> impl Iterator<Item = PathBuf> {
        let files = self.code.iter().flat_map(|folder| project_files(folder));
        files.filter(move |path| !only_code || is_code(path))
    }
}

/// Returns a file that was changed, added or removed; `None` if there is none.
pub fn first_change<T: PartialEq>(
    before: &BTreeMap<PathBuf, T>,
    after: &BTreeMap<PathBuf, T>,
) -> Option<PathBuf> {
    let changed = before.iter().find(|(path, was)| after.get(*path) != Some(was));
    changed
        .or_else(|| after.iter().find(|(path, _)| !before.contains_key(*path)))
        .map(|(path, _)| path.clone())
}
