//! The language that a target is written in, as far as its files tell.

use super::binaries::start_of;
use super::script::interpreter_name;
use super::{Project, Target};
use crate::model::HelpLanguage;
use std::path::Path;

/// Programs that run code of a language, without the digits and dots of a version, and the extension of files
/// in it.
const INTERPRETERS: &[(HelpLanguage, &[&str], &[&str])] = &[
    (HelpLanguage::Python, &["python", "pypy", "uv", "poetry", "pipenv"], &["py"]),
    (HelpLanguage::Node, &["node", "nodejs", "deno", "bun", "tsx", "npx"], &["js", "mjs", "cjs", "ts"]),
    (HelpLanguage::Shell, &["sh", "bash", "dash", "zsh", "ksh"], &["sh"]),
    (HelpLanguage::Rust, &["cargo"], &[]),
    (HelpLanguage::Go, &["go"], &[]),
];

impl Target {
    /// The language that it is written in: that of its `#!` line, of the interpreter that it is run with, or of
    /// the project that it is built in.
    pub fn language(&self) -> Option<HelpLanguage> {
        let of_script = || self.prefix_args.first().and_then(|_| of_interpreter(&self.program));
        let of_project = || match &self.project {
            Some(project) => project.language(),
            None => Project::nearest(self.program.parent()?, false).ok()??.language(),
        };
        of_first_line(&self.program)
            .or_else(of_script)
            .or_else(|| of_extension(&self.program))
            .or_else(of_project)
    }
}

impl Project {
    /// The language of its only manifest.
    pub fn language(&self) -> Option<HelpLanguage> {
        let [manifest] = &self.manifests[..] else { return None };
        Some(manifest.language().into())
    }
}

/// The language of the interpreter in the `#!` line of a program, with or without `env`.
fn of_first_line(program: &Path) -> Option<HelpLanguage> {
    of_interpreter(Path::new(interpreter_name(&start_of(program))?))
}

fn of_interpreter(program: &Path) -> Option<HelpLanguage> {
    let name = program.file_name()?.to_str()?;
    let name = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    INTERPRETERS.iter().find(|(_, names, _)| names.contains(&name)).map(|(language, ..)| *language)
}

fn of_extension(program: &Path) -> Option<HelpLanguage> {
    let extension = program.extension()?.to_str()?;
    INTERPRETERS
        .iter()
        .find(|(.., extensions)| extensions.contains(&extension))
        .map(|(language, ..)| *language)
}
