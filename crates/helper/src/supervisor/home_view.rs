//! The paths in the home folders that a run sees.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::PathBuf;

/// What a run sees of the home folders.
#[derive(Clone, Default)]
pub(super) struct HomeView {
    pub visible: BTreeSet<PathBuf>,
    /// Symbolic links and their targets.
    pub links: BTreeSet<(PathBuf, PathBuf)>,
    /// Paths that are empty for the run.
    pub hidden: BTreeSet<PathBuf>,
}

/// Cached views, by what they depend on: the program, its first argument, the working directory unless it is the
/// workspace, and PATH.
pub(super) type HomeViewCache = BTreeMap<[OsString; 4], HomeView>;
