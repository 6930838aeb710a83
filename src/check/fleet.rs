//! Several targets that are checked together: which there are, and which of them a part has.

use super::load_config;
use super::session::{ConfigSource, Session, SessionOptions};
use crate::report::{FleetInfo, VERSION};
use agentnative_contract::error::{Error, ErrorKind, Result};
use agentnative_core::catalogue::Check;
use agentnative_core::config::{Config, FILE_NAME, check_owner};
use agentnative_core::model::TargetInfo;
use agentnative_core::targets::TargetSelector;
use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;
use walkdir::{DirEntry, WalkDir};
use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

/// More parts than this are not made.
const MOST_PARTS: u32 = 10_000;
/// Folders that hold no configurations of their own.
const SKIPPED: [&str; 2] = ["node_modules", "target"];

/// Which part of the targets: `2/5` is the second of five.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Partition {
    /// Which one, from 1.
    pub part: u32,
    /// How many there are.
    pub of: u32,
}

impl FromStr for Partition {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let numbers =
            text.split_once('/').and_then(|(part, of)| Some((part.parse().ok()?, of.parse().ok()?)));
        let valid = numbers.filter(|(part, of)| (1..=MOST_PARTS).contains(of) && (1..=*of).contains(part));
        let (part, of) = valid
            .ok_or_else(|| format!("expected PART/PARTS, such as 2/5, with at most {MOST_PARTS} parts"))?;
        Ok(Self { part, of })
    }
}

/// The targets of several configurations.
#[derive(Debug, Clone)]
pub struct Fleet {
    /// In the order of their names.
    pub targets: Vec<FleetTarget>,
}

/// One of several targets.
#[derive(Debug, Clone)]
pub struct FleetTarget {
    /// The file with its configuration.
    pub path: PathBuf,
    /// Its name there, where that has several.
    pub bin: Option<String>,
    /// The configuration as it was read when the targets were found, whatever runs make of its file, or why it cannot
    /// be used.
    pub config: Result<Arc<Config>>,
}

impl Fleet {
    /// The targets of these configuration files, and of all that are in these folders or below; hidden folders,
    /// `node_modules` and `target` are left out.
    ///
    /// A configuration with a fault is one target, whose check gives the fault.
    ///
    /// # Errors
    /// Of kind `Config`: there is no configuration in a folder, or it cannot be read.
    pub fn find(paths: &[PathBuf]) -> Result<Self> {
        // A file that is named counts whoever owns it.
        let mut files: BTreeMap<PathBuf, Result<()>> = BTreeMap::new();
        for path in paths {
            let found = match path.is_dir() {
                true => configurations_below(path)?,
                false => vec![path.clone()],
            };
            if found.is_empty() {
                return Err(Error::config(format!("no {FILE_NAME} in {} or below", path.display())));
            }
            for file in found {
                let owned = if path.is_dir() { check_owner(&file, path) } else { Ok(()) };
                let file = file.strip_prefix(".").unwrap_or(&file).to_owned();
                let known = files.entry(file).or_insert_with(|| owned.clone());
                if owned.is_ok() {
                    *known = owned;
                }
            }
        }
        let mut targets = Vec::new();
        for (path, owned) in files {
            let hint = || format!("`--all {}` uses it all the same", path.display());
            let owned = owned.map_err(|error| error.hint(hint()));
            let config = owned.and_then(|()| load_config(&path)).map(Arc::new);
            let mut names: Vec<Option<String>> = match config.as_ref().map(|config| &config.targets[..]) {
                Err(_) | Ok([_]) => vec![None],
                Ok(several) => several.iter().map(|target| target.name.clone()).collect(),
            };
            names.sort();
            let target = |bin| FleetTarget { path: path.clone(), bin, config: config.clone() };
            targets.extend(names.into_iter().map(target));
        }
        Ok(Self { targets })
    }

    /// The targets of one part. Which part a target is in depends on its name alone: the file as it was named, and its
    /// name there.
    pub fn part(&self, partition: Partition) -> Vec<&FleetTarget> {
        let is_in = |target: &&FleetTarget| {
            xxh3_64(target.to_string().as_bytes()) % u64::from(partition.of) == u64::from(partition.part - 1)
        };
        self.targets.iter().filter(is_in).collect()
    }

    /// What parts of one fleet have in common, and which part this is.
    pub fn info(&self, checks: &[&Check], options: &SessionOptions, partition: Partition) -> FleetInfo {
        let mut all = format!("{VERSION}\n{}\n{}\n{}\n", partition.of, options.fast, options.no_runs);
        all.extend(options.overrides().iter().map(|option| format!("{option}\n")));
        all.extend(checks.iter().map(|check| format!("{}\n", check.id)));
        let digest = |target: &FleetTarget| match &target.config {
            Ok(config) => format!("{target} {}\n", config.digest),
            Err(_) => format!("{target} \n"),
        };
        all.extend(self.targets.iter().map(digest));
        FleetInfo {
            digest: format!("xxh128:{:032x}", xxh3_128(all.as_bytes())),
            targets: self.targets.len(),
            parts: vec![partition.part],
            of: partition.of,
        }
    }
}

impl FleetTarget {
    /// The session that checks it; the rest is as `options` say.
    pub fn session(&self, config: &Arc<Config>, options: &SessionOptions) -> Session {
        let folder = self.path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new(".")).to_owned();
        let config = ConfigSource::Read(Arc::clone(config));
        let options = SessionOptions { bin: self.bin.clone(), config, ..options.clone() };
        Session::new(TargetSelector::Path(folder), options)
    }

    /// What is known of it before it is found.
    pub fn info(&self) -> TargetInfo {
        TargetInfo { name: self.name(), command: Vec::new(), project: None }
    }

    /// Its name for people, among others: that in the configuration, else the folder of that.
    pub fn name(&self) -> String {
        let folder = self.path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(&self.path);
        self.bin.clone().unwrap_or_else(|| folder.display().to_string())
    }
}

/// Its name among all: the file, and its name there.
impl fmt::Display for FleetTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.path.display())?;
        self.bin.iter().try_for_each(|bin| write!(f, "#{bin}"))
    }
}

fn configurations_below(folder: &Path) -> Result<Vec<PathBuf>> {
    let is_looked_at = |entry: &DirEntry| {
        let name = entry.file_name().to_string_lossy();
        entry.depth() == 0
            || entry.file_type().is_dir() && !name.starts_with('.') && !SKIPPED.contains(&&*name)
    };
    let mut found = Vec::new();
    for entry in WalkDir::new(folder).sort_by_file_name().into_iter().filter_entry(is_looked_at) {
        let entry = entry.map_err(|error| {
            let path = error.path().unwrap_or(folder).to_owned();
            let error = error.into_io_error().unwrap_or_else(|| io::Error::other("its links form a loop"));
            Error::io(ErrorKind::Config, "read the folder", &path, &error)
        })?;
        found.extend(Config::in_folder(entry.path())?);
    }
    Ok(found)
}
