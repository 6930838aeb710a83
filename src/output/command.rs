//! Shortens the command lines of a target for display: paths of the program become relative to the current folder.

use crate::report::Report;
use agentnative_core::model::{Evidence, condition_assignments};
use std::path::Path;

/// Maximum length of a program path in short command lines, in bytes.
const MAX_PROGRAM: usize = 32;

/// Returns a command line with the program as a path relative to `folder`, the current folder. Unchanged if the program
/// is not below that folder.
pub(super) fn relative_command_line(report: &Report, folder: Option<&Path>, line: &str) -> String {
    with_program(report, line, |program| relative_path(folder, program))
}

/// Returns a short command line. The program is a path relative to `folder`, the current folder; if that path is long,
/// or the program is elsewhere, its file name is used.
pub(super) fn short_command_line(report: &Report, folder: Option<&Path>, line: &str) -> String {
    let short_path = |program: &Path| relative_path(folder, program).filter(|path| path.len() <= MAX_PROGRAM);
    with_program(report, line, |program| short_path(program).or_else(|| file_name(program)))
}

/// Returns the command line of the run that shows the evidence, after assignments of the environment variables that the
/// run sets. It is ready to paste into a shell in `folder`; a program outside that folder is called by its name.
pub(super) fn shell_command(report: &Report, folder: Option<&Path>, evidence: &Evidence) -> Option<String> {
    let line = with_program(report, evidence.argv.as_deref()?, |program| {
        relative_path(folder, program).or_else(|| file_name(program))
    });
    let set =
        evidence.variant.map(|variant| condition_assignments(variant, evidence.nth.unwrap_or_default()));
    Some(set.unwrap_or_default() + &line)
}

fn file_name(program: &Path) -> Option<String> {
    program.file_name()?.to_str().map(str::to_owned)
}

/// Returns the path of a program relative to `folder`, such as `./bin/mycli`; `None` if it is not below that folder.
fn relative_path(folder: Option<&Path>, program: &Path) -> Option<String> {
    Some(format!("./{}", program.strip_prefix(folder?).ok()?.to_str()?))
}

/// Replaces the program at the start of a command line with the result of `word`, which is called with the program's
/// path. The line stays unchanged if it starts with another word, or `word` returns `None`.
fn with_program(report: &Report, line: &str, word: impl Fn(&Path) -> Option<String>) -> String {
    let replaced = || {
        let program = report.target.command.first()?;
        let arguments = line.strip_prefix(&*shlex::try_quote(program).ok()?)?;
        let word = word(Path::new(program))?;
        Some(format!("{}{arguments}", shlex::try_quote(&word).ok()?))
    };
    replaced().unwrap_or_else(|| line.to_owned())
}
