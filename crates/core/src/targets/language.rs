//! Detects the language and the argument parser of a target from its files.

use super::binary::start_of;
use super::script::interpreter_name;
use super::{CodeBase, Project, Target};
use crate::manifest::requirements;
use crate::model::{ArgumentParser, HelpLanguage, Toolkit};
use std::path::Path;

/// Interpreters and build tools of each language, without version suffixes, and its file extensions.
const INTERPRETERS: &[(HelpLanguage, &[&str], &[&str])] = &[
    (HelpLanguage::Python, &["python", "pypy", "uv", "poetry", "pipenv"], &["py"]),
    (HelpLanguage::Node, &["node", "nodejs", "deno", "bun", "tsx", "npx"], &["js", "mjs", "cjs", "ts"]),
    (HelpLanguage::Shell, &["sh", "bash", "dash", "zsh", "ksh"], &["sh"]),
    (HelpLanguage::Rust, &["cargo"], &[]),
    (HelpLanguage::Go, &["go"], &[]),
];

impl Target {
    /// Returns the language of the target: from its `#!` line, else its interpreter, else its file extension, else its
    /// project.
    pub fn language(&self) -> Option<HelpLanguage> {
        let interpreter_language =
            || self.prefix_args.first().and_then(|_| language_of_interpreter(&self.program));
        let project_language = || match &self.project {
            Some(project) => project.language(),
            None => Project::nearest(self.program.parent()?, false).ok()??.language(),
        };
        shebang_language(&self.program)
            .or_else(interpreter_language)
            .or_else(|| language_of_extension(&self.program))
            .or_else(project_language)
    }

    /// Returns the toolkit of the target: its language, and the argument parser that is a dependency of its package, of
    /// its project, or of the project around its program.
    pub fn toolkit(&self) -> Toolkit {
        let project = self.project.as_ref().map(|project| &*project.folder);
        let own = self.package.as_deref().into_iter().chain(project);
        // The manifests around an installed program are not its own.
        let program = self.prefix_args.first().map_or(&*self.program, |script| Path::new(script));
        let program = self.cwd.join(program);
        let program = program.canonicalize().unwrap_or(program);
        let program_folder = program.parent().filter(|_| self.project.is_none() && !is_installed(&program));
        let nearest = program_folder.and_then(|folder| Project::nearest(folder, false).ok().flatten());
        let nearest = nearest.as_ref().map(|project| &*project.folder);
        Toolkit::detect_in_folders(self.language(), own.chain(nearest).chain(program_folder))
    }
}

impl CodeBase {
    /// Returns the toolkit of the code; see [`Target::toolkit`].
    pub fn toolkit(&self) -> Toolkit {
        Toolkit::detect_in_folders(
            self.project.language(),
            [&*self.package, &*self.project.folder].into_iter(),
        )
    }
}

impl Toolkit {
    /// Creates a toolkit of this language. Its argument parser is the one that the manifests in the first possible
    /// folder require.
    fn detect_in_folders<'f>(
        language: Option<HelpLanguage>,
        mut folders: impl Iterator<Item = &'f Path>,
    ) -> Self {
        let parser = language.and_then(|language| {
            folders.find_map(|folder| ArgumentParser::detect(language, &requirements(language, folder)))
        });
        Self { language, parser }
    }
}

/// Returns whether a program is in a folder of a package manager, such as `node_modules`.
fn is_installed(program: &Path) -> bool {
    const FOLDERS: [&str; 4] = ["node_modules", "site-packages", "venv", ".venv"];
    program.components().any(|part| FOLDERS.iter().any(|folder| part.as_os_str() == *folder))
}

impl Project {
    /// Returns the language of the project's manifest; `None` if the project does not have exactly one manifest.
    pub fn language(&self) -> Option<HelpLanguage> {
        let [manifest] = &self.manifests[..] else { return None };
        Some(manifest.language().into())
    }
}

/// Returns the language of the interpreter in the `#!` line of a program, with or without `env`; `None` if there is
/// none.
fn shebang_language(program: &Path) -> Option<HelpLanguage> {
    language_of_interpreter(Path::new(interpreter_name(&start_of(program))?))
}

fn language_of_interpreter(program: &Path) -> Option<HelpLanguage> {
    let name = program.file_name()?.to_str()?;
    let name = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    INTERPRETERS.iter().find(|(_, names, _)| names.contains(&name)).map(|(language, ..)| *language)
}

fn language_of_extension(program: &Path) -> Option<HelpLanguage> {
    let extension = program.extension()?.to_str()?;
    INTERPRETERS
        .iter()
        .find(|(.., extensions)| extensions.contains(&extension))
        .map(|(language, ..)| *language)
}
