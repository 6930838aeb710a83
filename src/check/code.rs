//! Adds facts about the code of a target and the files of its project to a recording.

use agentnative_contract::error::Result;
#[cfg(feature = "source")]
use agentnative_core::config::repository_root;
use agentnative_core::facts::{BuildTimes, CodeFacts};
use agentnative_core::probe::Recording;
use agentnative_core::targets::CodeBase;
use agentnative_judge::source::{name_in, read_project};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use strict_json::sanitize;

/// Adds facts to the recording: about the code of the target if `source`, about the files of its project if `project`.
/// Paths in the configuration are relative to `root`.
pub(super) fn add_code_facts(
    code: &CodeBase,
    root: Option<&Path>,
    source: bool,
    project: bool,
    recording: &mut Recording,
) -> Result<()> {
    if !recording.observations.is_empty() && code.config.build.is_none() {
        recording.built = build_info(code, root, &recording.target.command);
    }
    if project {
        recording.around = Some(read_project(&code.project.folder, &code.package));
    }
    if !source {
        return Ok(());
    }
    let Some(mut facts) = scan(&code.package)? else { return Ok(()) };
    facts.folder = match code.package.strip_prefix(&code.project.folder) {
        Ok(below) if below.as_os_str().is_empty() => String::new(),
        Ok(below) => with_trailing_slash(below),
        Err(_) => with_trailing_slash(&code.package),
    };
    recording.facts = Some(facts);
    for module in &code.config.output_modules {
        let path = root.map_or_else(|| module.into(), |root| root.join(module));
        match name_in(&code.package, &path.components().collect::<std::path::PathBuf>()) {
            Some(name) => recording.output_modules.push(name),
            None => recording.notes.push(format!(
                "the output module {module} is not in the target's package {}",
                code.package.display()
            )),
        }
    }
    Ok(())
}

/// Returns when the program of a command line was built and when its code changed last. `words` is the command line.
/// `None` if no word is a file in the repository.
#[cfg(feature = "source")]
fn build_info(code: &CodeBase, root: Option<&Path>, words: &[String]) -> Option<BuildTimes> {
    let folder = &code.project.folder;
    let repository = repository_root(folder);
    let tree = repository.as_deref().unwrap_or(folder);
    let files = words.iter().map(|word| root.unwrap_or(folder).join(word));
    let mut programs = files.filter(|path| path.is_file() && path.starts_with(tree));
    agentnative_judge::source::build_times(
        &code.package,
        &programs.next()?.components().collect::<std::path::PathBuf>(),
    )
}

/// Returns `None`, since the crate was compiled without the feature `source`.
#[cfg(not(feature = "source"))]
fn build_info(_: &CodeBase, _: Option<&Path>, _: &[String]) -> Option<BuildTimes> {
    None
}

/// Formats a folder with a trailing `/`.
fn with_trailing_slash(folder: &Path) -> String {
    format!("{}/", sanitize::lossless(folder.as_os_str().as_bytes()))
}

/// Returns the facts that the source checks need about the code in the folder `package`.
#[cfg(feature = "source")]
fn scan(package: &Path) -> Result<Option<CodeFacts>> {
    use agentnative_core::catalogue;
    use agentnative_judge::source::{BUDGET, Rules, scan_within};
    scan_within(BUDGET, package.to_owned(), Rules::new(catalogue::checks())).map(Some)
}

/// Returns `None`, since the crate was compiled without the feature `source`.
#[cfg(not(feature = "source"))]
fn scan(_: &Path) -> Result<Option<CodeFacts>> {
    Ok(None)
}
