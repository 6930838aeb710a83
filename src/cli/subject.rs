//! What is checked: the four ways to name a target, and the configuration that holds for it.

use crate::config::{Config, Date, Known};
use crate::error::Result;
use crate::report::catalogue;
use crate::run::Runner;
use crate::target::Target;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// A folder, a binary, a command found on PATH, or a command line.
#[derive(clap::Args)]
pub(super) struct SubjectArgs {
    /// Project folder, or the binary itself (default: this folder).
    #[arg(value_name = "PATH")]
    path: Option<PathBuf>,
    /// A command that is found on PATH.
    #[arg(long = "command", id = "name", value_name = "NAME", conflicts_with_all = ["path", "bin"])]
    name: Option<OsString>,
    /// Which of a project's binaries, or of the configuration's targets.
    #[arg(long, value_name = "NAME")]
    bin: Option<String>,
    /// The configuration (default: the nearest agentnative.toml of the target's folder or above).
    #[arg(long, value_name = "FILE")]
    pub(super) config: Option<PathBuf>,
    /// The command and the arguments that stand before those of a probe.
    #[arg(last = true, value_name = "COMMAND", conflicts_with_all = ["path", "name", "bin"])]
    command: Vec<OsString>,
}
