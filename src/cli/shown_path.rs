//! Formats paths in messages.

use std::path::Path;

/// Formats a path: relative to the current folder if the path is below that folder, else unchanged.
pub(super) fn shown(path: &Path) -> String {
    let relative =
        std::env::current_dir().ok().and_then(|cwd| path.strip_prefix(cwd).ok().map(Path::to_owned));
    relative.as_deref().unwrap_or(path).display().to_string()
}
