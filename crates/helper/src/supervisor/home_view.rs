//! The paths of the home folders that runs see.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::PathBuf;

/// What a run sees of the homes.
#[derive(Clone, Default)]
pub(super) struct InHome {
    pub visible: BTreeSet<PathBuf>,
    /// Links, and where they lead to.
    pub links: BTreeSet<(PathBuf, PathBuf)>,
    /// What it finds empty.
    pub hidden: BTreeSet<PathBuf>,
}

/// What the programs and projects of jobs need, by what this follows from: the program, its first argument, the working
/// directory that is not the run's own, and PATH.
pub(super) type Known = BTreeMap<[OsString; 4], InHome>;
