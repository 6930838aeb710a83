//! Finds targets: their projects, built programs and source code, and the interface that their help describes.
//!
//! This module runs no program and reads no environment variable: callers pass functions for lookups on PATH, for
//! variables and for help calls.

mod binaries;
mod binary;
mod cargo;
mod code;
mod command_project;
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
pub use commands::{CommandNode, CommandTree, LeafCommand, MakeHelpCalls, ParsedPage, TreeLimits};
pub use effect::Effect;
pub use find::{Finder, TargetSelector};
pub use help::{
    Argument, CliOption, Command, CommandPage, Example, HelpCall, HelpPage, Interface, META_ARGUMENTS,
    OptionChoices, TargetNames, described_command, documented_exit_codes, exit_code_meanings, is_path,
};
pub(crate) use help::{is_deprecated, listed_aliases};
pub use project::Project;
#[cfg(feature = "init")]
pub use skeleton::ConfigTemplate;

use crate::config::TargetConfig;
use crate::model::TargetInfo;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use strict_json::sanitize::lossless;

/// A target: a command-line program that is checked, with its configuration.
#[derive(Debug, Clone, PartialEq)]
pub struct Target {
    /// Name of the target in reports: the configured name, else that of the program.
    pub name: String,
    /// Absolute path of the program.
    pub program: PathBuf,
    /// Arguments that precede those of each probe, such as the path of a script.
    pub prefix_args: Vec<OsString>,
    /// Absolute working directory of the runs: the folder of the project, of the configuration that sets the command,
    /// or of this process.
    pub cwd: PathBuf,
    /// Project that contains the program. `None` for a program from the command line, and for a configured command
    /// outside the file tree of the configuration.
    pub project: Option<Project>,
    /// Absolute path of the folder of the package that builds the program.
    pub package: Option<PathBuf>,
    /// Configuration of the target.
    pub config: TargetConfig,
}

impl Target {
    /// Returns the folder in which the configuration file of the target belongs.
    pub fn config_folder(&self) -> &Path {
        self.project.as_ref().map_or(&self.cwd, |project| &project.folder)
    }

    /// Returns whether the project of the target contains a file of this name where programs usually are, such as in
    /// `bin`.
    pub fn provides(&self, name: &str) -> bool {
        const FOLDERS: [&str; 4] = ["", "bin", "scripts", "node_modules/.bin"];
        let Some(project) = &self.project else { return false };
        let program_folder = self.program.parent().filter(|folder| folder.starts_with(&project.folder));
        let folders = FOLDERS.iter().map(|folder| project.folder.join(folder));
        folders.chain(program_folder.map(Path::to_path_buf)).any(|folder| folder.join(name).is_file())
    }

    /// Returns the environment variables of the target's runs: those of this process that `pass_env` lists, and those
    /// that `env` of the configuration sets. `lookup` returns the value of a variable of this process.
    pub fn env(&self, lookup: impl Fn(&str) -> Option<OsString>) -> BTreeMap<OsString, OsString> {
        let passed = self.config.pass_env.iter().filter_map(|name| Some((name.into(), lookup(name)?)));
        passed.chain(self.config.env.iter().map(|(name, value)| (name.into(), value.into()))).collect()
    }

    /// Returns the description of the target for a report. The project's folder is relative to `cwd` if it is below
    /// `cwd`.
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

/// Returns a path for messages, relative to `base` if the path is below `base`.
fn display_path(path: &Path, base: &Path) -> String {
    match path.strip_prefix(base) {
        Ok(below) if below.as_os_str().is_empty() => ".".to_owned(),
        Ok(below) => below.display().to_string(),
        Err(_) => path.display().to_string(),
    }
}
