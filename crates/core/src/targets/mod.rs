//! The target: the project around it, its manifest, its built binaries, and what its help says.
//!
//! Nothing is run here, and no variable is read: looking up a name on PATH or a variable comes in as a function.

mod belonging;
mod binaries;
mod binary;
mod cargo;
mod code;
mod commands;
mod effect;
mod env;
mod find;
pub mod help;
mod language;
pub mod manual;
mod project;
mod script;
#[cfg(feature = "init")]
mod skeleton;

pub use binary::Binary;
pub use code::CodeBase;
pub use commands::{Ask, Call, Commands};
pub use effect::Effect;
pub use find::{Finder, TargetSelector};
pub use help::{Choices, Command, Example, HelpPage, Interface, Names, Page, documented_exit_codes};
pub use project::Project;
#[cfg(feature = "init")]
pub use skeleton::Skeleton;

use crate::config::TargetConfig;
use crate::model::TargetInfo;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use strict_json::sanitize::lossless;

/// A CLI to check: an argv prefix, and what is said of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Target {
    /// Name for people: the configured one, else that of the program.
    pub name: String,
    /// Absolute path of the program.
    pub program: PathBuf,
    /// The arguments that stand before those of a probe.
    pub prefix_args: Vec<OsString>,
    /// Absolute working directory of its runs: the project's folder, that of the configuration that
    /// names the command, or our own.
    pub cwd: PathBuf,
    /// The project that it was found in; none for a command or a binary that was named, and for a configured
    /// command from PATH or from outside the configuration's tree.
    pub project: Option<Project>,
    /// Absolute folder of the package that builds it, in a project.
    pub package: Option<PathBuf>,
    /// What the configuration says of it.
    pub config: TargetConfig,
}

impl Target {
    /// The folder that its configuration belongs in.
    pub fn folder(&self) -> &Path {
        self.project.as_ref().map_or(&self.cwd, |project| &project.folder)
    }

    /// Whether the target's own project has a program of this name where it keeps programs.
    pub fn provides(&self, name: &str) -> bool {
        const FOLDERS: [&str; 4] = ["", "bin", "scripts", "node_modules/.bin"];
        let Some(project) = &self.project else { return false };
        let beside = self.program.parent().filter(|folder| folder.starts_with(&project.folder));
        let folders = FOLDERS.iter().map(|folder| project.folder.join(folder));
        folders.chain(beside.map(Path::to_path_buf)).any(|folder| folder.join(name).is_file())
    }

    /// The variables of its runs: those of ours (`ours` looks them up) that the configuration
    /// passes on, then those that it sets.
    pub fn env(&self, ours: impl Fn(&str) -> Option<OsString>) -> BTreeMap<OsString, OsString> {
        let passed = self.config.pass_env.iter().filter_map(|name| Some((name.into(), ours(name)?)));
        passed.chain(self.config.env.iter().map(|(name, value)| (name.into(), value.into()))).collect()
    }

    /// The target as a report has it; the project's folder is relative to `cwd` if it is below it.
    pub fn info(&self, cwd: &Path) -> TargetInfo {
        let words =
            std::iter::once(self.program.as_os_str()).chain(self.prefix_args.iter().map(|arg| &**arg));
        TargetInfo {
            name: self.name.clone(),
            command: words.map(|word| lossless(word.as_bytes()).into_owned()).collect(),
            project: self.project.as_ref().map(|project| display_path(&project.folder, cwd)),
        }
    }
}

/// A path for people: relative to `base` if it is below it.
fn display_path(path: &Path, base: &Path) -> String {
    match path.strip_prefix(base) {
        Ok(below) if below.as_os_str().is_empty() => ".".to_owned(),
        Ok(below) => below.display().to_string(),
        Err(_) => path.display().to_string(),
    }
}
