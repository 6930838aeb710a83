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
    /// When the supervisor started.
    pub began: Instant,
    pub options: Options,
    pub root: Root,
    /// Home folders of the user.
    pub homes: Vec<PathBuf>,
    /// Cached views of the paths in [`Common::homes`] that runs need to see.
    pub home_views: RefCell<HomeViewCache>,
    /// Folders that are empty for confined runs, except for the entries that are made visible.
    pub masks: Vec<PathBuf>,
    /// Environment variables that every run receives.
    pub base: Environment,
    /// Folder for the variable `LOCPATH`, with a locale that the system lacks. It is created for the first run that
    /// uses the locale; the inner `None` means that the system has it.
    pub locales: cell::OnceCell<Option<PathBuf>>,
    pub caller: Environment,
    /// Numbers of the signals that were ignored when the supervisor was started.
    pub ignored: Vec<i32>,
    /// The caller's soft limit on open files, before the supervisor raised its own.
    pub open_files: Option<u64>,
    pub processors: u64,
    pub confinement: Cell<Option<Confinement>>,
    /// The process that starts confined runs, or the reason why this system has no namespaces. Empty before the first
    /// confined run.
    pub zygote: OnceCell<io::Result<Zygote>>,
    /// The control group that contains those of all runs; `None` if this system does not allow control groups.
    pub cgroups: Option<sys::Cgroups>,
    /// Removes the secrets of the client from every outcome.
    pub redaction: RefCell<Redaction>,
}

impl Common {
    /// Records how a run was confined, and keeps the weakest confinement of all runs.
    pub fn record_confinement(&self, confinement: Option<Confinement>) {
        self.confinement.set(self.confinement.get().max(confinement));
    }

    /// Returns the folders in which sockets have to be hidden one by one, since the folder itself could not be covered
    /// by an overlay.
    pub fn exposed_folders(&self) -> &[OsString] {
        self.zygote.get().and_then(|zygote| zygote.as_ref().ok()).map_or(&[], |zygote| &zygote.exposed)
    }
}
