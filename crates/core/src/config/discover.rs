//! Finds and loads the configuration of a target.

use super::{Config, ValidationContext, ancestors_in_repository, check_owner, searched_folders};
use crate::files::{self, MAX_TEXT_BYTES};
use agentnative_contract::error::{Error, ErrorKind, Issue, Place, Result};
use agentnative_contract::spanned_toml::{parse_table, place};
use std::path::{Path, PathBuf};
use xxhash_rust::xxh3::xxh3_128;

/// Name of the configuration file.
pub const FILE_NAME: &str = "agentnative.toml";

/// Manifests that can contain the configuration instead, each with the path of the configuration's table.
const MANIFESTS: [(&str, &[&str]); 3] = [
    ("Cargo.toml", &["package", "metadata", "agentnative"]),
    ("pyproject.toml", &["tool", "agentnative"]),
    ("package.json", &["agentnative"]),
];

const OVERRIDE_HINT: &str = "use it anyway with --config FILE";

/// Returns the path of the configuration's table in a manifest, such as `package.metadata.agentnative` in `Cargo.toml`;
/// `None` if the file is not a manifest.
pub(super) fn table_keys(path: &Path) -> Option<&'static [&'static str]> {
    let name = path.file_name()?;
    MANIFESTS.iter().find(|(manifest, _)| name == *manifest).map(|(_, keys)| *keys)
}

/// Returns the nearest folder around `start` that contains `.git`, the root of the repository; `None` outside a
/// repository.
pub fn repository_root(start: &Path) -> Option<PathBuf> {
    ancestors_in_repository(start).pop().filter(|folder| folder.join(".git").exists())
}

impl Config {
    /// Finds the configuration for `start`, a program or a folder. Returns the nearest `agentnative.toml`, or the
    /// nearest manifest with a table for it, in the folder or one of the [`searched_folders`] above it.
    ///
    /// # Errors
    /// The errors of [`Config::find_in_folder`], and those of [`check_owner`] for the file.
    pub fn find(start: &Path) -> Result<Option<PathBuf>> {
        let folder = if start.is_dir() { start } else { start.parent().unwrap_or(start) };
        // For the folder itself, the path of the file keeps the user's spelling of the folder.
        let folder = folder.strip_prefix(".").unwrap_or(folder).to_owned();
        let mut folders = std::iter::once(folder.clone()).chain(searched_folders(start).into_iter().skip(1));
        let found = folders.find_map(|folder| Self::find_in_folder(&folder).transpose()).transpose()?;
        if let Some(file) = &found {
            check_owner(file, &folder).map_err(|error| error.hint(OVERRIDE_HINT))?;
        }
        Ok(found)
    }

    /// Returns the path of the `agentnative.toml`, or of the manifest with a configuration table, in `folder`; `None`
    /// if there is none. Does not search the folders above.
    ///
    /// # Errors
    /// Of kind `Config` if the folder contains several configurations or a manifest cannot be read; of kind `Auth` if
    /// the permission to read a manifest or the folder is missing.
    pub fn find_in_folder(folder: &Path) -> Result<Option<PathBuf>> {
        let config_file = folder.join(FILE_NAME);
        let mut found = Vec::new();
        if files::exists_as_file(&config_file).map_err(|error| read_error(&config_file, &error))? {
            found.push((config_file, FILE_NAME.to_owned(), (0, 0)));
        }
        for (name, keys) in MANIFESTS {
            let path = folder.join(name);
            let bytes =
                files::read_if_exists(&path, MAX_TEXT_BYTES).map_err(|error| read_error(&path, &error))?;
            let Some(text) = bytes.and_then(|bytes| String::from_utf8(bytes).ok()) else { continue };
            let table = parse_table(&text, &path, keys, |table| place(&path, &text, table.span.start));
            // An invalid table counts as well; loading it reports the error.
            let place = table.map_or(Some((0, 0)), |place| place.map(|place| (place.line, place.column)));
            found.extend(place.map(|place| (path, format!("{} in {name}", keys.join(".")), place)));
        }
        if found.len() < 2 {
            return Ok(found.pop().map(|(path, ..)| path));
        }
        let names: Vec<&str> = found.iter().map(|(_, name, _)| name.as_str()).collect();
        let message = format!("{} configurations in one folder: {}", names.len(), names.join(", "));
        let issue = |(file, name, (line, column)): (PathBuf, String, (usize, usize))| Issue {
            place: Some(Place { file, line, column }),
            message: name,
        };
        Err(Error::config(message)
            .issues(found.into_iter().map(issue).collect())
            .hint("remove all but one, or select one with --config FILE"))
    }

    /// Finds and loads the configuration for `start`, a program or a folder; `None` if there is none.
    ///
    /// # Errors
    /// The errors of [`Config::find`] and [`Config::load`].
    pub fn discover(start: &Path, known: &ValidationContext<'_>) -> Result<Option<Self>> {
        Self::find(start)?.map(|path| Self::load(&path, known)).transpose()
    }

    /// Reads the configuration in the file at `path`, and the files that the configuration names. By its name, the file
    /// is a manifest such as `Cargo.toml`, or else an `agentnative.toml`.
    ///
    /// # Errors
    /// Of kind `Config` if the file cannot be read, is not a regular file of at most 4 MiB, is not UTF-8, or is invalid
    /// ([`Config::parse`]).
    pub fn load(path: &Path, known: &ValidationContext<'_>) -> Result<Self> {
        let bytes = files::read(path, MAX_TEXT_BYTES).map_err(|error| read_error(path, &error))?;
        match std::str::from_utf8(&bytes) {
            Ok(text) => {
                let digest = format!("xxh128:{:032x}", xxh3_128(&bytes));
                Ok(Self { digest, ..Self::parse(text, path, known)? })
            }
            Err(error) => {
                let valid = String::from_utf8_lossy(&bytes[..error.valid_up_to()]);
                let syntax =
                    if path.extension().is_some_and(|name| name == "json") { "JSON" } else { "TOML" };
                let message = format!("invalid UTF-8; expected {syntax} in UTF-8");
                let place = Some(place(path, &valid, valid.len()));
                Err(Error::config(format!("{} is invalid", path.display()))
                    .issues(vec![Issue { place, message }]))
            }
        }
    }
}

fn read_error(path: &Path, error: &std::io::Error) -> Error {
    Error::io(ErrorKind::Config, "read", path, error)
}
