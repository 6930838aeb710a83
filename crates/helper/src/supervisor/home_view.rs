//! Which paths in the user's home folders a run sees.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::PathBuf;

/// The files and folders in the user's home folders that a run sees.
#[derive(Clone, Default)]
pub(super) struct HomeView {
    pub visible: BTreeSet<PathBuf>,
    /// Visible symbolic links, and the targets of the links.
    pub links: BTreeSet<(PathBuf, PathBuf)>,
    /// Paths that exist for the run, but are empty.
    pub hidden: BTreeSet<PathBuf>,
}

/// Cached views of the home folders. The key is the program, its first argument, the working directory (empty if there
/// is a workspace), and PATH.
pub(super) type HomeViewCache = BTreeMap<[OsString; 4], HomeView>;
