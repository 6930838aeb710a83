//! Paths for people.

use std::path::Path;

/// A path for people: relative to the current folder, where it is below it.
pub(super) fn shown(path: &Path) -> String {
    let below = std::env::current_dir().ok().and_then(|cwd| path.strip_prefix(cwd).ok().map(Path::to_owned));
    below.as_deref().unwrap_or(path).display().to_string()
}
