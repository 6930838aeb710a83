//! The language and the argument parser that a target is written with, as far as its files tell.

use super::binary::start_of;
use super::script::interpreter_name;
use super::{CodeBase, Project, Target};
use crate::manifest::requirements;
use crate::model::{ArgumentParser, HelpLanguage, Toolkit};
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

    /// What it is written with: its language, and the parser that the manifest of its package names, of its project, or
    /// that around the program.
    pub fn toolkit(&self) -> Toolkit {
        let project = self.project.as_ref().map(|project| &*project.folder);
        let own = self.package.as_deref().into_iter().chain(project);
        // What a package manager installed is built from no manifest around it.
        let program = self.prefix_args.first().map_or(&*self.program, |script| Path::new(script));
        let program = self.cwd.join(program);
        let program = program.canonicalize().unwrap_or(program);
        let around = program.parent().filter(|_| self.project.is_none() && !is_installed(&program));
        let nearest = around.and_then(|folder| Project::nearest(folder, false).ok().flatten());
        let nearest = nearest.as_ref().map(|project| &*project.folder);
        Toolkit::found(self.language(), own.chain(nearest).chain(around))
    }
}

impl CodeBase {
    /// What the code is written with; see [`Target::toolkit`].
    pub fn toolkit(&self) -> Toolkit {
        Toolkit::found(self.project.language(), [&*self.package, &*self.project.folder].into_iter())
    }
}

impl Toolkit {
    /// The language, and the parser that is named in the first of these folders that names one.
    fn found<'f>(language: Option<HelpLanguage>, mut folders: impl Iterator<Item = &'f Path>) -> Self {
        let parser = language.and_then(|language| {
            folders.find_map(|folder| ArgumentParser::of(language, &requirements(language, folder)))
        });
        Self { language, parser }
    }
}

/// Whether a program lies where package managers install programs.
fn is_installed(program: &Path) -> bool {
    const FOLDERS: [&str; 4] = ["node_modules", "site-packages", "venv", ".venv"];
    program.components().any(|part| FOLDERS.iter().any(|folder| part.as_os_str() == *folder))
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
