//! Who may import whom, who prints, who exits, who spawns: read off the source.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// What each room may import. A room that is not here may not exist.
const ROOMS: &[(&str, &[&str])] = &[
    ("error", &[]),
    ("sanitize", &[]),
    ("json", &["error"]),
    ("report", &["error", "sanitize"]),
    ("tables", &["error"]),
    ("contract", &["error", "json", "report", "sanitize", "tables"]),
    ("config", &["contract", "error", "report", "tables"]),
    ("run", &["error", "report"]),
    ("manifest", &["config", "error", "report"]),
    ("target", &["config", "error", "manifest", "report", "sanitize"]),
    ("probe", &["config", "contract", "error", "report", "run", "source", "target"]),
    ("source", &["error", "manifest", "report", "sanitize"]),
    ("judge", &["config", "contract", "json", "manifest", "probe", "report", "run", "sanitize", "source"]),
    ("output", &["error", "report", "sanitize"]),
    ("outcome", &["contract", "error", "json", "report", "sanitize"]),
    // The reference agent knows nothing of running or judging. Of `report` it has the envelope.
    ("agent", &["contract", "error", "output", "report"]),
    (
        "cli",
        &[
            "config", "contract", "error", "json", "judge", "outcome", "output", "probe", "report", "run",
            "sanitize", "source", "target",
        ],
    ),
];

/// Words that only some rooms (or single files, under `src`) may hold, with those. Handles of the
/// standard streams are held by clippy (`clippy.toml`), where the one ioctl on such a handle gives its
/// reason.
const WORDS: &[(&[&str], &[&str], &str)] = &[
    (&["println!", "eprintln!", "print!(", "eprint!(", "dbg!"], &["output"], "prints"),
    (&["process::exit", "process::abort"], &["main"], "exits"),
    // The agent's `run_command` tool is a command: one file, which the rest of the agent cannot pass by.
    (&["Command::new", "process::Command", "CommandExt"], &["run", "agent/tools/command.rs"], "spawns"),
    (
        &["std::fs", "File::open", "Instant::now", "SystemTime"],
        &["*", "!judge"],
        "touches files or the clock",
    ),
];

#[test]
fn rooms_import_only_what_they_may() {
    let mut wrong = Vec::new();
    for (room, file, text) in sources() {
        let Some((_, allowed)) = ROOMS.iter().find(|(name, _)| *name == room) else {
            if !["lib", "main"].contains(&room.as_str()) {
                wrong.push(format!("{}: the room `{room}` is not in the table", file.display()));
            }
            continue;
        };
        for (number, line) in code(&text) {
            for import in imports(line) {
                if import != room && !allowed.contains(&import) {
                    wrong.push(format!("{}:{number}: `{room}` imports `{import}`", file.display()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn only_some_rooms_print_exit_and_spawn() {
    let mut wrong = Vec::new();
    for (room, file, text) in sources() {
        for (number, line) in code(&text) {
            for (words, rooms, what) in WORDS {
                let allowed = match rooms.split_first() {
                    Some((&"*", not)) => !not.contains(&format!("!{room}").as_str()),
                    _ => rooms.iter().any(|allowed| *allowed == room || file == Path::new(allowed)),
                };
                if !allowed && words.iter().any(|word| line.contains(word)) {
                    wrong.push(format!("{}:{number}: `{room}` {what}: {}", file.display(), line.trim()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_binary_is_guarded() {
    for (room, file, text) in sources() {
        if room == "lib" || room == "main" {
            assert!(
                text.contains("clippy::disallowed_methods"),
                "{} does not raise the lints",
                file.display()
            );
        }
    }
}

/// Each source file with its room: the folder under `src`, or the file.
fn sources() -> Vec<(String, PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let files = walkdir::WalkDir::new(&root).into_iter().map(Result::unwrap);
    let files = files.filter(|entry| entry.path().extension().is_some_and(|extension| extension == "rs"));
    let sources: Vec<_> = files
        .map(|entry| {
            let path = entry.path().strip_prefix(&root).unwrap().to_owned();
            let first = path.components().next().unwrap().as_os_str().to_string_lossy().into_owned();
            let room = match first.as_str() {
                "bin" => "main".to_owned(),
                first => first.trim_end_matches(".rs").to_owned(),
            };
            (room, path, fs::read_to_string(entry.path()).unwrap())
        })
        .collect();
    assert!(sources.len() > 20, "the source was not found under {}", root.display());
    sources
}

/// The lines of code, without comments and without unit tests at a file's end.
fn code(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let lines = text.lines().enumerate().map(|(at, line)| (at + 1, line));
    lines
        .take_while(|(_, line)| !line.contains("#[cfg(test)]"))
        .filter(|(_, line)| !line.trim_start().starts_with("//"))
}

/// The rooms that a line names as `crate::room` (or `agentnative::room` in a binary).
fn imports(line: &str) -> Vec<&str> {
    let mut found: BTreeMap<usize, &str> = BTreeMap::new();
    for (at, prefix) in line.match_indices("crate::") {
        let rest = &line[at + prefix.len()..];
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        if ROOMS.iter().any(|(room, _)| *room == &rest[..end]) {
            found.insert(at, &rest[..end]);
        }
    }
    found.into_values().collect()
}
