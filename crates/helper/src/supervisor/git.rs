//! Reads files of git: where the data of a repository are, and whether a configuration file contains credentials.

#![expect(
    clippy::disallowed_methods,
    reason = "runs cannot write to the homes and to what git keeps of a project"
)]

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Maximum number of bytes that are read of a file of git.
const MAX_GIT_FILE_BYTES: u64 = 64 * 1024;

/// Returns the folder that a file `.git` refers to by `gitdir: PATH`, as in linked worktrees and submodules. `None` if
/// `link` is not such a file.
pub(super) fn git_folder(link: &Path) -> Option<PathBuf> {
    if !link.symlink_metadata().is_ok_and(|found| found.is_file()) {
        return None;
    }
    let text = read_first(link, MAX_GIT_FILE_BYTES)?;
    link.parent()?.join(text.strip_prefix("gitdir:")?.trim()).canonicalize().ok()
}

/// Returns the git folder of the repository to which the linked worktree `project` belongs. `None` if it is not a
/// worktree, or if the repository does not list it.
pub(super) fn repository_of_worktree(project: &Path) -> Option<PathBuf> {
    let link = project.join(".git");
    let of_worktree = git_folder(&link)?;
    let text =
        |name: &str| Some(PathBuf::from(read_first(&of_worktree.join(name), MAX_GIT_FILE_BYTES)?.trim()));
    // Otherwise a project could name any folder of the home.
    let is_known = text("gitdir")?.canonicalize().ok()? == link.canonicalize().ok()?;
    is_known.then_some(of_worktree.join(text("commondir")?))
}

/// Whether a configuration file of git contains a token or a password. CI systems write tokens into repositories that
/// they check out.
pub(super) fn has_credentials(path: &Path) -> bool {
    let Some(text) = read_first(path, MAX_GIT_FILE_BYTES).map(|text| text.to_ascii_lowercase()) else {
        return false;
    };
    let has_password = |line: &str| {
        let address = line.split_once("://").and_then(|(_, address)| address.split_once('@'));
        address.is_some_and(|(user, _)| user.contains(':') && !user.contains('/'))
    };
    text.contains("extraheader") || text.lines().any(has_password)
}

fn read_first(path: &Path, max: u64) -> Option<String> {
    let mut text = Vec::new();
    File::open(path).ok()?.take(max).read_to_end(&mut text).ok()?;
    Some(String::from_utf8_lossy(&text).into_owned())
}
