//! Where the configuration is.

use super::{Config, Known, check_owner, folders_above, searched_folders};
use crate::files::{self, MAX_TEXT};
use agentnative_contract::error::{Error, ErrorKind, Issue, Place, Result};
use agentnative_contract::spanned_toml::{parse_part, place};
use std::path::{Path, PathBuf};
use xxhash_rust::xxh3::xxh3_128;

/// Name of the configuration file.
pub const FILE_NAME: &str = "agentnative.toml";

/// The manifests that can hold the configuration instead, with the keys to its table.
const MANIFESTS: [(&str, &[&str]); 3] = [
    ("Cargo.toml", &["package", "metadata", "agentnative"]),
    ("pyproject.toml", &["tool", "agentnative"]),
    ("package.json", &["agentnative"]),
];

/// What to do about a configuration that is not used.
const USE_IT: &str = "--config FILE uses it all the same";

/// The keys to the configuration in the file at `path`, if it is a manifest.
pub(super) fn part_of(path: &Path) -> Option<&'static [&'static str]> {
    let name = path.file_name()?;
    MANIFESTS.iter().find(|(manifest, _)| name == *manifest).map(|(_, keys)| *keys)
}

/// The root of the repository that `start` is in, if it is in one.
pub fn repository(start: &Path) -> Option<PathBuf> {
    folders_above(start).pop().filter(|folder| folder.join(".git").exists())
}

impl Config {
    /// The file with the configuration for `start`, a target or its folder: the nearest `agentnative.toml`, or
    /// manifest with a table for it, there or above, as far as [`searched_folders`] goes. None if there is none.
    ///
    /// # Errors
    /// Those of [`Config::in_folder`], and those of [`check_owner`] for what is found.
    pub fn find(start: &Path) -> Result<Option<PathBuf>> {
        let here = if start.is_dir() { start } else { start.parent().unwrap_or(start) };
        // In the folder itself the file is called as the user called the folder.
        let here = here.strip_prefix(".").unwrap_or(here).to_owned();
        let mut folders = std::iter::once(here.clone()).chain(searched_folders(start).into_iter().skip(1));
        let found = folders.find_map(|folder| Self::in_folder(&folder).transpose()).transpose()?;
        if let Some(file) = &found {
            check_owner(file, &here).map_err(|error| error.hint(USE_IT))?;
        }
        Ok(found)
    }

    /// The file with the configuration in this folder itself, if there is one.
    ///
    /// # Errors
    /// Of kind `Config`: the folder has several of them, or a manifest cannot be read; permission, where that or the
    /// folder may not be read.
    pub fn in_folder(folder: &Path) -> Result<Option<PathBuf>> {
        let own = folder.join(FILE_NAME);
        let mut found = Vec::new();
        if files::is_any(&own).map_err(|error| unreadable(&own, &error))? {
            found.push((own, FILE_NAME.to_owned(), (0, 0)));
        }
        for (name, keys) in MANIFESTS {
            let path = folder.join(name);
            let bytes = files::read_if_any(&path, MAX_TEXT).map_err(|error| unreadable(&path, &error))?;
            let Some(text) = bytes.and_then(|bytes| String::from_utf8(bytes).ok()) else { continue };
            let table = parse_part(&text, &path, keys, |table| place(&path, &text, table.span.start));
            // A part that is wrong is there, too; reading it tells what is wrong.
            let place = table.map_or(Some((0, 0)), |place| place.map(|place| (place.line, place.column)));
            found.extend(place.map(|place| (path, format!("{} in {name}", keys.join(".")), place)));
        }
        if found.len() < 2 {
            return Ok(found.pop().map(|(path, ..)| path));
        }
        let names: Vec<&str> = found.iter().map(|(_, name, _)| name.as_str()).collect();
        let message = format!("there are {} configurations in one folder: {}", names.len(), names.join(", "));
        let issue = |(file, name, (line, column)): (PathBuf, String, (usize, usize))| Issue {
            place: Some(Place { file, line, column }),
            message: name,
        };
        Err(Error::config(message)
            .issues(found.into_iter().map(issue).collect())
            .hint("keep one of them, or choose one with --config FILE"))
    }

    /// The configuration for `start`, as [`Config::find`] finds it.
    ///
    /// # Errors
    /// Those of [`Config::find`] and [`Config::load`].
    pub fn discover(start: &Path, known: &Known<'_>) -> Result<Option<Self>> {
        Self::find(start)?.map(|path| Self::load(&path, known)).transpose()
    }

    /// Reads the configuration in the file at `path`, an `agentnative.toml` by any name or a manifest, and the
    /// files that it names.
    ///
    /// # Errors
    /// Of kind `Config`: the file cannot be read, is no regular file of at most 4 MiB, is not UTF-8, or has faults;
    /// see [`Config::parse`].
    pub fn load(path: &Path, known: &Known<'_>) -> Result<Self> {
        let bytes = files::read(path, MAX_TEXT).map_err(|error| unreadable(path, &error))?;
        match std::str::from_utf8(&bytes) {
            Ok(text) => {
                let digest = format!("xxh128:{:032x}", xxh3_128(&bytes));
                Ok(Self { digest, ..Self::parse(text, path, known)? })
            }
            Err(error) => {
                let valid = String::from_utf8_lossy(&bytes[..error.valid_up_to()]);
                let syntax =
                    if path.extension().is_some_and(|name| name == "json") { "JSON" } else { "TOML" };
                let message = format!("a byte that is not UTF-8; expected {syntax} in UTF-8");
                let place = Some(place(path, &valid, valid.len()));
                Err(Error::config(format!("{} has an error", path.display()))
                    .issues(vec![Issue { place, message }]))
            }
        }
    }
}

fn unreadable(path: &Path, error: &std::io::Error) -> Error {
    Error::io(ErrorKind::Config, "read", path, error)
}
