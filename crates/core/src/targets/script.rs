//! Scripts: which interpreter runs one that cannot run by itself.

use super::binary::{is_executable, start_of};
use std::fs;
use std::path::{Path, PathBuf};

/// The interpreters of scripts, by the suffix of their files.
const INTERPRETERS: [(&str, &str); 6] =
    [("py", "python3"), ("js", "node"), ("mjs", "node"), ("cjs", "node"), ("sh", "sh"), ("bash", "bash")];
/// Starts the program that it finds in PATH.
const ENV: &str = "env";
/// More files of a folder are not looked at.
const MOST: usize = 1_000;

/// The interpreter, and its arguments in front of the file, of a script that is not executable or does not name
/// its interpreter. None for what runs by itself, and for a file of another kind.
pub(super) fn interpreter(file: &Path) -> Option<Vec<String>> {
    if !file.is_file() {
        return None;
    }
    let start = start_of(file);
    match (is_executable(file), start.starts_with(b"#!")) {
        (true, true) => None,
        (false, true) => shebang(&start),
        // A program that is not text has no suffix that tells its interpreter.
        _ if start.contains(&0) => None,
        _ => Some(vec![by_suffix(file)?.to_owned()]),
    }
}

fn by_suffix(file: &Path) -> Option<&'static str> {
    let suffix = file.extension()?.to_str()?;
    INTERPRETERS.iter().find(|(known, _)| *known == suffix).map(|(_, interpreter)| *interpreter)
}

/// The words of a first line such as `#!/usr/bin/env python3`; a program is called by its name.
fn shebang(start: &[u8]) -> Option<Vec<String>> {
    let words = first_line(start)?;
    let mut words = words.iter().copied().peekable();
    let mut program = file_name(words.next()?)?;
    if program == ENV {
        words.next_if_eq(&"-S");
        program = file_name(words.next().filter(|word| !is_setting(word))?)?;
    }
    Some(std::iter::once(program).chain(words).map(str::to_owned).collect())
}

/// The name of the interpreter in the `#!` line of a program that starts with `start`, whatever `env` sets for it.
pub(super) fn interpreter_name(start: &[u8]) -> Option<&str> {
    let words = first_line(start)?;
    let first = file_name(words.first()?)?;
    if first != ENV {
        return Some(first);
    }
    file_name(words[1..].iter().find(|word| !is_setting(word))?)
}

/// The words of the `#!` line.
fn first_line(start: &[u8]) -> Option<Vec<&str>> {
    let line = start.strip_prefix(b"#!")?.split(|byte| *byte == b'\n').next()?;
    Some(std::str::from_utf8(line).ok()?.split_whitespace().collect())
}

/// What `env` takes in front of the program: an option or a variable.
fn is_setting(word: &str) -> bool {
    word.starts_with('-') || word.contains('=')
}

fn file_name(word: &str) -> Option<&str> {
    Path::new(word).file_name()?.to_str()
}

/// The files of a folder that could be programs: scripts, and what is executable. Sorted by name.
pub(super) fn programs(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().take(MOST).flatten();
    let is_hidden =
        |file: &Path| file.file_name().is_none_or(|name| name.as_encoded_bytes().starts_with(b"."));
    let could_be = |file: &PathBuf| {
        !is_hidden(file) && file.is_file() && (is_executable(file) || interpreter(file).is_some())
    };
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(could_be).collect();
    files.sort();
    files
}
