//! Finds the targets of `check --all`, and selects those of one part (`--partition 2/5`).

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

const MAX_PARTS: u32 = 10_000;
/// Names of folders that are not searched for configurations.
const SKIPPED_FOLDERS: [&str; 2] = ["node_modules", "target"];

/// The value of `--partition`: which part of the targets is checked. `2/5` is the second of five parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Partition {
    /// Number of this part, from 1.
    pub part: u32,
    /// Number of parts.
    pub parts: u32,
}

impl FromStr for Partition {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let numbers =
            text.split_once('/').and_then(|(part, parts)| Some((part.parse().ok()?, parts.parse().ok()?)));
        let valid =
            numbers.filter(|(part, parts)| (1..=MAX_PARTS).contains(parts) && (1..=*parts).contains(part));
        let (part, parts) = valid
            .ok_or_else(|| format!("expected PART/PARTS, such as 2/5, with at most {MAX_PARTS} parts"))?;
        Ok(Self { part, parts })
    }
}

/// The targets of `check --all`, from any number of configuration files.
#[derive(Debug, Clone)]
pub struct Fleet {
    /// The targets, sorted by configuration file, then by name.
    pub targets: Vec<FleetTarget>,
}

/// One target of `check --all`.
#[derive(Debug, Clone)]
pub struct FleetTarget {
    /// Path of the configuration file.
    pub path: PathBuf,
    /// Name of the target in the configuration file; `None` if the file declares only one target or is invalid.
    pub bin: Option<String>,
    /// The configuration, read when the targets were found; later changes of the file are ignored. `Err` if it is
    /// invalid.
    pub config: Result<Arc<Config>>,
}

impl Fleet {
    /// Finds the targets of configuration files. For a folder in `paths`, uses all configurations in it and below;
    /// hidden folders, `node_modules` and `target` are skipped.
    ///
    /// An invalid configuration counts as one target, whose check returns the error.
    ///
    /// # Errors
    /// A configuration error if a folder contains no configuration or cannot be read.
    pub fn find(paths: &[PathBuf]) -> Result<Self> {
        // A file that is named explicitly is used regardless of its owner.
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
                let owner_check = if path.is_dir() { check_owner(&file, path) } else { Ok(()) };
                let file = file.strip_prefix(".").unwrap_or(&file).to_owned();
                let entry = files.entry(file).or_insert_with(|| owner_check.clone());
                if owner_check.is_ok() {
                    *entry = owner_check;
                }
            }
        }
        let mut targets = Vec::new();
        for (path, owner_check) in files {
            let hint = || format!("to use it anyway, run with `--all {}`", path.display());
            let owner_check = owner_check.map_err(|error| error.hint(hint()));
            let config = owner_check.and_then(|()| load_config(&path)).map(Arc::new);
            let mut names: Vec<Option<String>> = match config.as_ref().map(|config| &config.targets[..]) {
                Err(_) | Ok([_]) => vec![None],
                Ok(targets) => targets.iter().map(|target| target.name.clone()).collect(),
            };
            names.sort();
            let target = |bin| FleetTarget { path: path.clone(), bin, config: config.clone() };
            targets.extend(names.into_iter().map(target));
        }
        Ok(Self { targets })
    }

    /// Returns the targets that belong to one part. The part of a target depends only on the path of its configuration
    /// file, as the user gave it, and on the name of the target in that file.
    pub fn targets_of_part(&self, partition: Partition) -> Vec<&FleetTarget> {
        let is_in_part = |target: &&FleetTarget| {
            xxh3_64(target.to_string().as_bytes()) % u64::from(partition.parts)
                == u64::from(partition.part - 1)
        };
        self.targets.iter().filter(is_in_part).collect()
    }

    /// Describes one part of the targets for its report. The digest covers all that the parts of the same check have in
    /// common: version, number of parts, options, checks, targets and configurations.
    pub fn part_info(&self, checks: &[&Check], options: &SessionOptions, partition: Partition) -> FleetInfo {
        let mut text = format!("{VERSION}\n{}\n{}\n{}\n", partition.parts, options.fast, options.no_runs);
        text.extend(options.overrides().iter().map(|option| format!("{option}\n")));
        text.extend(checks.iter().map(|check| format!("{}\n", check.id)));
        let digest = |target: &FleetTarget| match &target.config {
            Ok(config) => format!("{target} {}\n", config.digest),
            Err(_) => format!("{target} \n"),
        };
        text.extend(self.targets.iter().map(digest));
        FleetInfo {
            digest: format!("xxh128:{:032x}", xxh3_128(text.as_bytes())),
            targets: self.targets.len(),
            parts: vec![partition.part],
            of: partition.parts,
        }
    }
}

impl FleetTarget {
    /// Creates the session that checks this target with the given configuration; all other settings come from
    /// `options`.
    pub fn session(&self, config: &Arc<Config>, options: &SessionOptions) -> Session {
        let folder = self.path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new(".")).to_owned();
        let config = ConfigSource::Read(Arc::clone(config));
        let options = SessionOptions { bin: self.bin.clone(), config, ..options.clone() };
        Session::new(TargetSelector::Path(folder), options)
    }

    /// Returns the description of the target for a report if its program was not searched for: only the name.
    pub fn info(&self) -> TargetInfo {
        TargetInfo { name: self.name(), command: Vec::new(), project: None }
    }

    /// Returns the name for reports: the name in the configuration file, else the folder of that file.
    pub fn name(&self) -> String {
        let folder = self.path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(&self.path);
        self.bin.clone().unwrap_or_else(|| folder.display().to_string())
    }
}

/// Formats a name that is unique in the fleet: `tools/agentnative.toml#mycli`, the path of the configuration file and,
/// if the file declares several targets, the name of the target.
impl fmt::Display for FleetTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.path.display())?;
        self.bin.iter().try_for_each(|bin| write!(f, "#{bin}"))
    }
}

fn configurations_below(folder: &Path) -> Result<Vec<PathBuf>> {
    let is_searched = |entry: &DirEntry| {
        let name = entry.file_name().to_string_lossy();
        entry.depth() == 0
            || entry.file_type().is_dir() && !name.starts_with('.') && !SKIPPED_FOLDERS.contains(&&*name)
    };
    let mut found = Vec::new();
    for entry in WalkDir::new(folder).sort_by_file_name().into_iter().filter_entry(is_searched) {
        let entry = entry.map_err(|error| {
            let path = error.path().unwrap_or(folder).to_owned();
            let error = error.into_io_error().unwrap_or_else(|| io::Error::other("its links form a loop"));
            Error::io(ErrorKind::Config, "read the folder", &path, &error)
        })?;
        found.extend(Config::find_in_folder(entry.path())?);
    }
    Ok(found)
}
