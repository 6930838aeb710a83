//! Determines the interpreter of a script that is not executable by itself.

use super::binary::{is_executable, start_of};
use std::fs;
use std::path::{Path, PathBuf};

const INTERPRETERS: [(&str, &str); 6] =
    [("py", "python3"), ("js", "node"), ("mjs", "node"), ("cjs", "node"), ("sh", "sh"), ("bash", "bash")];
/// Program that starts an interpreter from PATH, as in `#!/usr/bin/env python3`.
const ENV: &str = "env";
/// Maximum number of entries that are examined in a folder.
const MAX_ENTRIES: usize = 1_000;

/// Returns the interpreter of a script that cannot be executed by itself, followed by the arguments that precede the
/// file. Such a script is not executable or has no `#!` line. Returns `None` for any other file.
pub(super) fn interpreter(file: &Path) -> Option<Vec<String>> {
    if !file.is_file() {
        return None;
    }
    let start = start_of(file);
    match (is_executable(file), start.starts_with(b"#!")) {
        (true, true) => None,
        (false, true) => shebang_command(&start),
        // The extension of a binary file does not name an interpreter.
        _ if start.contains(&0) => None,
        _ => Some(vec![by_extension(file)?.to_owned()]),
    }
}

fn by_extension(file: &Path) -> Option<&'static str> {
    let extension = file.extension()?.to_str()?;
    INTERPRETERS.iter().find(|(known, _)| *known == extension).map(|(_, interpreter)| *interpreter)
}

/// Returns the command in the `#!` line of a file that begins with `start`. The program is a name on PATH: `python3`
/// for `#!/usr/bin/env python3`.
fn shebang_command(start: &[u8]) -> Option<Vec<String>> {
    let words = shebang_words(start)?;
    let mut words = words.iter().copied().peekable();
    let mut program = file_name(words.next()?)?;
    if program == ENV {
        words.next_if_eq(&"-S");
        program = file_name(words.next().filter(|word| !is_setting(word))?)?;
    }
    Some(std::iter::once(program).chain(words).map(str::to_owned).collect())
}

/// Returns the name of the interpreter in the `#!` line of a file that begins with `start`, without `env` and its
/// settings.
pub(super) fn interpreter_name(start: &[u8]) -> Option<&str> {
    let words = shebang_words(start)?;
    let first = file_name(words.first()?)?;
    if first != ENV {
        return Some(first);
    }
    file_name(words[1..].iter().find(|word| !is_setting(word))?)
}

fn shebang_words(start: &[u8]) -> Option<Vec<&str>> {
    let line = start.strip_prefix(b"#!")?.split(|byte| *byte == b'\n').next()?;
    Some(std::str::from_utf8(line).ok()?.split_whitespace().collect())
}

/// Returns whether a word after `env` is an option or a variable assignment.
fn is_setting(word: &str) -> bool {
    word.starts_with('-') || word.contains('=')
}

fn file_name(word: &str) -> Option<&str> {
    Path::new(word).file_name()?.to_str()
}

/// Returns the scripts and executable files in a folder, sorted by name. Hidden files are omitted.
pub(super) fn programs(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().take(MAX_ENTRIES).flatten();
    let is_hidden =
        |file: &Path| file.file_name().is_none_or(|name| name.as_encoded_bytes().starts_with(b"."));
    let could_be = |file: &PathBuf| {
        !is_hidden(file) && file.is_file() && (is_executable(file) || interpreter(file).is_some())
    };
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(could_be).collect();
    files.sort();
    files
}
