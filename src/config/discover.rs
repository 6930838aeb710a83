//! Where the configuration is.

use super::{Config, Known};
use agentnative_contract::error::{Error, ErrorKind, Issue, Result};
use agentnative_contract::spanned_toml::place;
use std::path::{Path, PathBuf};

/// Name of the configuration file.
pub const FILE_NAME: &str = "agentnative.toml";

/// `start` (its folder, if it is a file) and the folders above it, up to and with the root of the
/// repository: the first that holds a `.git`. Without one, up to the root of the file system.
pub fn folders_above(start: &Path) -> Vec<PathBuf> {
    let absolute = std::path::absolute(start).unwrap_or_else(|_| start.to_owned());
    let mut folders = Vec::new();
    for folder in absolute.ancestors().skip(usize::from(!absolute.is_dir())) {
        folders.push(folder.to_owned());
        if folder.join(".git").exists() {
            break;
        }
    }
    folders
}

/// The root of the repository that `start` is in, if it is in one.
pub fn repository(start: &Path) -> Option<PathBuf> {
    folders_above(start).pop().filter(|folder| folder.join(".git").exists())
}

impl Config {
    /// The configuration that holds for `start`, a target or its folder: the nearest
    /// `agentnative.toml` there or above, up to the root of the repository. None if there is none.
    pub fn discover(start: &Path, known: &Known<'_>) -> Result<Option<Self>> {
        Self::find(start).map(|path| Self::load(&path, known)).transpose()
    }

    /// The path of that configuration, whatever is in the file.
    pub fn find(start: &Path) -> Option<PathBuf> {
        let here = if start.is_dir() { start.join(FILE_NAME) } else { start.with_file_name(FILE_NAME) };
        // In the folder itself the file is called as the user called the folder.
        let here = here.strip_prefix(".").map(Path::to_owned).unwrap_or(here);
        let above = folders_above(start).into_iter().skip(1).map(|folder| folder.join(FILE_NAME));
        std::iter::once(here).chain(above).find(|path| path.is_file())
    }

    /// Reads the file at `path`, and the files that it names.
    ///
    /// # Errors
    /// Of kind `Config`: the file cannot be read, is not UTF-8, or has faults; see
    /// [`Config::parse`].
    pub fn load(path: &Path, known: &Known<'_>) -> Result<Self> {
        let bytes =
            std::fs::read(path).map_err(|error| Error::io(ErrorKind::Config, "read", path, &error))?;
        match std::str::from_utf8(&bytes) {
            Ok(text) => Self::parse(text, path, known),
            Err(error) => {
                let valid = String::from_utf8_lossy(&bytes[..error.valid_up_to()]);
                let message = "a byte that is not UTF-8; expected TOML in UTF-8".to_owned();
                let place = Some(place(path, &valid, valid.len()));
                Err(Error::config(format!("{} has an error", path.display()))
                    .issues(vec![Issue { place, message }]))
            }
        }
    }
}
