//! State that all runs share.

use super::environment::Environment;
use super::folder::Root;
use super::home_view::Known;
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

/// What all runs have in common.
pub(super) struct Common {
    /// When we were started.
    pub began: Instant,
    pub options: Options,
    pub root: Root,
    /// The homes of the user.
    pub homes: Vec<PathBuf>,
    /// What is known of what runs need in these.
    pub in_home: RefCell<Known>,
    /// Folders that are empty for confined runs, but for what is shown to them.
    pub masks: Vec<PathBuf>,
    /// The environment of the runs, but for what is each run's own.
    pub base: Environment,
    /// The folder of the locale that the system lacks, for `LOCPATH`; made for the first run that uses it.
    pub locales: cell::OnceCell<Option<PathBuf>>,
    /// The caller's environment.
    pub caller: Environment,
    /// Signals that were ignored when we were started.
    pub ignored: Vec<i32>,
    /// The caller's limit on open files, before we raised our own.
    pub open_files: Option<u64>,
    pub processors: u64,
    pub confinement: Cell<Option<Confinement>>,
    /// What starts confined runs, or why nothing can.
    pub zygote: OnceCell<io::Result<Zygote>>,
    /// Where the groups of the processes of runs are, if there can be any.
    pub cgroups: Option<sys::Cgroups>,
    /// What is told of no run.
    pub redaction: RefCell<Redaction>,
}

impl Common {
    /// Takes note of how a run was confined: the weakest way counts.
    pub fn note(&self, confinement: Option<Confinement>) {
        self.confinement.set(self.confinement.get().max(confinement));
    }

    /// Folders whose sockets have to be hidden one by one.
    pub fn exposed(&self) -> &[OsString] {
        self.zygote.get().and_then(|zygote| zygote.as_ref().ok()).map_or(&[], |zygote| &zygote.exposed)
    }
}
