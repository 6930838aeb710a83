//! Reads the manual page of a target.

use agentnative_core::facts::ProjectDocument;
use agentnative_core::targets::{self, CodeBase, Target};
use std::ffi::OsStr;
use std::path::Path;

/// Reads the manual page of the target, next to its program or in its project.
pub(super) fn read_manual(target: Option<&Target>, code: Option<&CodeBase>) -> Option<ProjectDocument> {
    // The manual of an interpreter does not describe the script that it runs.
    let is_script = |target: &&Target| target.prefix_args.iter().any(|word| target.cwd.join(word).is_file());
    let program = target.filter(|target| !is_script(target)).map(|target| target.program.as_path());
    let name = program.and_then(Path::file_name);
    let name = name
        .or_else(|| Some(OsStr::new(target.map(|target| &target.name).or(code.map(|code| &code.name))?)))?;
    let package = code.map(|code| code.package.as_path());
    let project = target.and_then(|target| target.project.as_ref()).or(code.map(|code| &code.project));
    let project = project.map(|project| project.folder.as_path());
    let folders: Vec<&Path> = package.into_iter().chain(project).collect();
    let (file, text) = targets::manual::page(name, program, &folders)?;
    let file = project.and_then(|project| file.strip_prefix(project).ok()).unwrap_or(&file);
    Some(ProjectDocument { file: file.display().to_string(), text })
}
