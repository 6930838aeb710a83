//! What the compiler cannot hold: which room of the product imports which, who prints, exits and spawns,
//! and where code of one system stands. Read off the source.

use std::fs;
use std::path::{Path, PathBuf};

/// The rooms of a crate, each with those that it may import.
type Rooms = &'static [(&'static str, &'static [&'static str])];

/// What each room of a crate may import from the other rooms of that crate. A room that is not here may not exist. What
/// the crates may import from each other is in their manifests, and cargo holds it.
const ROOMS: &[(&str, Rooms)] = &[
    (
        "crates/core/src",
        &[
            ("model", &[]),
            ("files", &[]),
            ("catalogue", &["model"]),
            ("run", &["model"]),
            ("config", &["files", "model"]),
            ("manifest", &["files", "model"]),
            ("facts", &["manifest", "model"]),
            ("targets", &["config", "files", "manifest", "model"]),
            ("probe", &["catalogue", "config", "facts", "model", "run", "targets"]),
        ],
    ),
    (
        "src",
        &[
            ("report", &[]),
            ("baseline", &[]),
            ("check", &["baseline", "report"]),
            ("output", &["baseline", "check", "report"]),
            ("builder", &["check", "output"]),
            ("follow", &[]),
            ("cli", &["baseline", "check", "follow", "output", "report"]),
        ],
    ),
];

/// Words that only files under some paths may hold, with what holding them means. Handles of the standard
/// streams are held by clippy (`clippy.toml`), where the one ioctl on such a handle gives its reason.
const WORDS: &[(&[&str], Where, &str)] = &[
    (&["println!", "eprintln!", "print!(", "eprint!(", "dbg!"], Where::Only(&[]), "prints"),
    (&["process::exit", "process::abort"], Where::Only(&["src/main.rs"]), "exits"),
    // The agent's `run_command` tool is a command: one file, which the rest of the agent cannot pass by.
    (
        &["Command::new", "process::Command", "CommandExt"],
        Where::Only(&[
            "crates/helper/",
            "crates/core/src/run/",
            "crates/reference-agent/src/tools/command.rs",
        ]),
        "spawns",
    ),
    (
        &["std::fs", "File::open", "Instant::now", "SystemTime"],
        Where::Not(&["crates/judge/"], READING),
        "touches files or the clock",
    ),
    (
        &["\"/proc", "landlock::", "pidfd", "subreaper", "memfd"],
        Where::Only(&["crates/helper/src/sys/"]),
        "is Linux's own",
    ),
    (
        &["std::os::unix", "std::os::linux", "rustix::"],
        Where::Not(
            &[
                "crates/strict-json/",
                "crates/contract/",
                "crates/diff/",
                "crates/outcome/",
                "crates/judge/",
                "src/report/",
            ],
            READING,
        ),
        "is of one system only",
    ),
];

/// The part of the crate of the verdicts that reads code and files.
const READING: &[&str] = &["crates/judge/src/source/"];

/// Where words may stand.
enum Where {
    /// Under these paths alone.
    Only(&'static [&'static str]),
    /// Everywhere but under the first, unless under the second.
    Not(&'static [&'static str], &'static [&'static str]),
}

impl Where {
    fn allows(&self, file: &Path) -> bool {
        let under = |paths: &[&str]| paths.iter().any(|path| file.to_str().unwrap().starts_with(path));
        match self {
            Self::Only(paths) => under(paths),
            Self::Not(paths, exceptions) => !under(paths) || under(exceptions),
        }
    }
}

#[test]
fn rooms_import_only_what_they_may() {
    let mut wrong = Vec::new();
    for (file, text) in sources() {
        let Some((room, rooms)) = room(&file) else { continue };
        let Some((_, allowed)) = rooms.iter().find(|(name, _)| *name == room) else {
            if !["lib", "main"].contains(&room) {
                wrong.push(format!("{}: the room `{room}` is not in the table", file.display()));
            }
            continue;
        };
        for import in imports(&code(&text)) {
            let is_room = rooms.iter().any(|(name, _)| *name == import);
            if is_room && import != room && !allowed.contains(&import) {
                wrong.push(format!("{}: `{room}` imports `{import}`", file.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The principles share `kit`: one never imports another.
#[test]
fn the_checks_of_a_principle_do_not_import_those_of_another() {
    let principle = |word: &str| {
        let digits = word.strip_prefix('p')?;
        (!digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())).then(|| word.to_owned())
    };
    let mut wrong = Vec::new();
    for (file, text) in sources() {
        let parts: Vec<&str> = file.iter().map(|part| part.to_str().unwrap()).collect();
        let own = match parts[..] {
            ["crates", "judge", "src", "kit", ..] => "kit".to_owned(),
            ["crates", "judge", "src", folder, ..] if let Some(own) = principle(folder) => own,
            _ => continue,
        };
        let code = code(&text);
        let paths = code.split(|char: char| !(char.is_alphanumeric() || "_:".contains(char)));
        let named = paths.filter(|path| path.contains("::")).flat_map(|path| path.split("::"));
        for other in named.filter_map(principle).filter(|other| *other != own) {
            wrong.push(format!("{}: `{own}` imports `{other}`", file.display()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn only_some_places_print_exit_spawn_and_know_the_system() {
    let mut wrong = Vec::new();
    for (file, text) in sources() {
        for line in code(&text).lines() {
            for (words, place, what) in WORDS {
                if !place.allows(&file) && words.iter().any(|word| line.contains(word)) {
                    wrong.push(format!("{} {what}: {}", file.display(), line.trim()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_library_and_program_is_guarded() {
    for (file, text) in sources() {
        if file.ends_with("src/lib.rs") || file.ends_with("src/main.rs") {
            assert!(
                text.contains("clippy::disallowed_methods"),
                "{} does not raise the lints",
                file.display()
            );
        }
    }
}

#[test]
fn imports_are_seen_however_they_are_written() {
    let text = "use crate::{\n    judge::{self, Case},\n    report,\n};\nfn f() { crate::run::resolve() }";
    assert_eq!(imports(text), ["judge", "report", "run"]);
    assert_eq!(imports("use crate::config::Config;"), ["config"]);
}

/// Each source file of the product and its crates, by its path in the repository.
pub fn sources() -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let crates = std::fs::read_dir(root.join("crates")).unwrap().map(|entry| entry.unwrap().path());
    let folders = crates.map(|package| package.join("src")).chain([root.join("src")]);
    let files = folders.flat_map(|folder| walkdir::WalkDir::new(folder).into_iter().map(Result::unwrap));
    let files = files.filter(|entry| entry.path().extension().is_some_and(|extension| extension == "rs"));
    let sources: Vec<_> = files
        .map(|entry| {
            let path = entry.path().strip_prefix(root).unwrap().to_owned();
            (path, fs::read_to_string(entry.path()).unwrap())
        })
        .collect();
    assert!(sources.len() > 20, "the source was not found under {}", root.display());
    sources
}

/// The room of a file, the folder or file under the `src` of its crate, with the rooms of that crate.
fn room(file: &Path) -> Option<(&str, Rooms)> {
    let (inside, rooms) =
        ROOMS.iter().find_map(|(source, rooms)| Some((file.strip_prefix(source).ok()?, *rooms)))?;
    let first = inside.components().next()?.as_os_str().to_str()?;
    Some((first.trim_end_matches(".rs"), rooms))
}

/// The code, without comments and without unit tests at the file's end.
fn code(text: &str) -> String {
    let lines = text.lines().take_while(|line| !line.contains("#[cfg(test)]"));
    lines.filter(|line| !line.trim_start().starts_with("//")).map(|line| format!("{line}\n")).collect()
}

/// The names behind `crate::` in code, also in `crate::{name, …}`.
fn imports(code: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for (at, prefix) in code.match_indices("crate::") {
        let rest = &code[at + prefix.len()..];
        match rest.strip_prefix('{') {
            Some(group) => found.extend(group_names(group)),
            None => found.push(leading_name(rest)),
        }
    }
    found.retain(|name| !name.is_empty());
    found
}

/// The first path segment of each entry of `use crate::{…}`, from behind its opening brace.
fn group_names(group: &str) -> Vec<&str> {
    let mut depth = 0;
    let mut names = vec![leading_name(group)];
    for (at, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => names.push(leading_name(&group[at + 1..])),
            _ => {}
        }
    }
    names
}

fn leading_name(text: &str) -> &str {
    let text = text.trim_start();
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
    &text[..end]
}
