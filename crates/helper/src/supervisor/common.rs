//! State that all runs share.

use super::environment::Environment;
use super::folder::Root;
use super::home_view::HomeViewCache;
use super::redaction::Redaction;
use super::zygote::Zygote;
use crate::sys;
use crate::{Confinement, Options};
use std::cell::{self, Cell, RefCell};
use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use tokio::sync::OnceCell;
use tokio::time::Instant;

pub(super) struct Common {
    /// Start of the supervisor.
    pub began: Instant,
    pub options: Options,
    pub root: Root,
    /// Home folders of the user.
    pub homes: Vec<PathBuf>,
    /// The parts of [`Common::homes`] that jobs need.
    pub home_views: RefCell<HomeViewCache>,
    /// Folders that confined runs find empty, except for the entries that are made visible.
    pub masks: Vec<PathBuf>,
    /// Variables that every run has.
    pub base: Environment,
    /// Folder for `LOCPATH` with the locale that the system lacks; made for the first run that uses it.
    pub locales: cell::OnceCell<Option<PathBuf>>,
    pub caller: Environment,
    /// Signals that were ignored when the supervisor was started.
    pub ignored: Vec<i32>,
    /// The caller's soft limit on open files, before the supervisor raised its own.
    pub open_files: Option<u64>,
    pub processors: u64,
    pub confinement: Cell<Option<Confinement>>,
    /// Starts confined runs, or the reason why this system has no namespaces.
    pub zygote: OnceCell<io::Result<Zygote>>,
    /// Control groups of the runs, if this system allows them.
    pub cgroups: Option<sys::Cgroups>,
    /// The secrets that are removed from every outcome.
    pub redaction: RefCell<Redaction>,
}

impl Common {
    /// Records how a run was confined. The weakest confinement wins.
    pub fn record_confinement(&self, confinement: Option<Confinement>) {
        self.confinement.set(self.confinement.get().max(confinement));
    }

    /// Returns the folders whose sockets have to be hidden one by one.
    pub fn exposed_folders(&self) -> &[OsString] {
        self.zygote.get().and_then(|zygote| zygote.as_ref().ok()).map_or(&[], |zygote| &zygote.exposed)
    }
}
