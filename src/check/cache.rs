//! The cache folder of the user.

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::{env, io};

/// Returns the user's cache folder according to the XDG Base Directory Specification. `None` if the home folder is
/// missing; it is not created.
pub fn cache_folder() -> Option<PathBuf> {
    let named = env::var_os("XDG_CACHE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    named.or_else(|| Some(env::home_dir().filter(|home| home.is_absolute() && home.is_dir())?.join(".cache")))
}

/// Creates the folders above a file in the cache folder, for the user alone.
pub fn create_cache_folder(file: &Path) -> io::Result<()> {
    let folder = file.parent().unwrap_or(file);
    DirBuilder::new().recursive(true).mode(0o700).create(folder)
}
