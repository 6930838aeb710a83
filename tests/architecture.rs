//! Rules on the source code that the compiler does not enforce: imports between the modules of a crate, and the files
//! that may print, exit, spawn processes or depend on one operating system.

use std::fs;
use std::path::{Path, PathBuf};

/// The top-level modules of a crate, each with those that it may import.
type ModuleImports = &'static [(&'static str, &'static [&'static str])];

/// The imports that each top-level module may have from the others of its crate. A module that is not listed is an
/// error. Imports between crates are limited by their manifests.
const MODULES: &[(&str, ModuleImports)] = &[
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
            ("interface", &["catalogue", "config", "explore", "model", "probe", "run", "targets"]),
            ("explore", &["catalogue", "config", "facts", "model", "probe", "run", "targets"]),
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

/// Words that only files under some paths may contain, with a predicate for the message. Clippy restricts the handles
/// of the standard streams (`clippy.toml`); the one ioctl on such a handle states its reason.
const RESTRICTED_WORDS: &[(&[&str], AllowedIn, &str)] = &[
    (&["println!", "eprintln!", "print!(", "eprint!(", "dbg!"], AllowedIn::Only(&[]), "prints"),
    (&["process::exit", "process::abort"], AllowedIn::Only(&["src/main.rs"]), "exits"),
    // The only file of the agent that runs commands: its `run_command` tool.
    (
        &["Command::new", "process::Command", "CommandExt"],
        AllowedIn::Only(&[
            "crates/helper/",
            "crates/core/src/run/",
            "crates/reference-agent/src/tools/command.rs",
        ]),
        "spawns",
    ),
    (
        &["std::fs", "File::open", "Instant::now", "SystemTime"],
        AllowedIn::Except(&["crates/judge/"], SOURCE_READER),
        "touches files or the clock",
    ),
    (
        &["\"/proc", "landlock::", "pidfd", "subreaper", "memfd"],
        AllowedIn::Only(&["crates/helper/src/sys/"]),
        "depends on Linux",
    ),
    (
        &["std::os::unix", "std::os::linux", "rustix::"],
        AllowedIn::Except(
            &[
                "crates/strict-json/",
                "crates/contract/",
                "crates/diff/",
                "crates/outcome/",
                "crates/judge/",
                "src/report/",
            ],
            SOURCE_READER,
        ),
        "depends on one operating system",
    ),
];

/// The part of the judge crate that reads code and files.
const SOURCE_READER: &[&str] = &["crates/judge/src/source/"];

/// The files that may contain a restricted word.
enum AllowedIn {
    /// The files under these paths.
    Only(&'static [&'static str]),
    /// All files except those under the first paths, of which those under the second paths are allowed.
    Except(&'static [&'static str], &'static [&'static str]),
}

impl AllowedIn {
    fn allows(&self, file: &Path) -> bool {
        let under = |paths: &[&str]| paths.iter().any(|path| file.to_str().unwrap().starts_with(path));
        match self {
            Self::Only(paths) => under(paths),
            Self::Except(paths, exceptions) => !under(paths) || under(exceptions),
        }
    }
}

#[test]
fn modules_import_only_what_the_table_allows() {
    let mut wrong = Vec::new();
    for (file, text) in sources() {
        let Some((module, modules)) = top_level_module(&file) else { continue };
        let Some((_, allowed)) = modules.iter().find(|(name, _)| *name == module) else {
            if !["lib", "main"].contains(&module) {
                wrong.push(format!("{}: the module `{module}` is not in the table", file.display()));
            }
            continue;
        };
        for import in imports(&code(&text)) {
            let is_module = modules.iter().any(|(name, _)| *name == import);
            if is_module && import != module && !allowed.contains(&import) {
                wrong.push(format!("{}: `{module}` imports `{import}`", file.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The principles share `kit`.
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
fn only_listed_files_print_exit_spawn_or_depend_on_the_system() {
    let mut wrong = Vec::new();
    for (file, text) in sources() {
        for line in code(&text).lines() {
            for (words, allowed_in, predicate) in RESTRICTED_WORDS {
                if !allowed_in.allows(&file) && words.iter().any(|word| line.contains(word)) {
                    wrong.push(format!("{} {predicate}: {}", file.display(), line.trim()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_library_and_program_enables_the_lint_of_disallowed_methods() {
    for (file, text) in sources() {
        if file.ends_with("src/lib.rs") || file.ends_with("src/main.rs") {
            assert!(
                text.contains("clippy::disallowed_methods"),
                "{} does not enable clippy::disallowed_methods",
                file.display()
            );
        }
    }
}

#[test]
fn imports_are_found_in_groups_and_in_paths() {
    let text = "use crate::{\n    judge::{self, Case},\n    report,\n};\nfn f() { crate::run::resolve() }";
    assert_eq!(imports(text), ["judge", "report", "run"]);
    assert_eq!(imports("use crate::config::Config;"), ["config"]);
}

/// Returns the source files of the product and its crates, each with its path in the repository.
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

/// Returns the top-level module of a file and all modules of its crate. The module is the first component of the path
/// under `src`.
fn top_level_module(file: &Path) -> Option<(&str, ModuleImports)> {
    let (inside, modules) =
        MODULES.iter().find_map(|(source, modules)| Some((file.strip_prefix(source).ok()?, *modules)))?;
    let first = inside.components().next()?.as_os_str().to_str()?;
    Some((first.trim_end_matches(".rs"), modules))
}

/// Returns the code without comments and without the unit tests at the end of the file.
fn code(text: &str) -> String {
    let lines = text.lines().take_while(|line| !line.contains("#[cfg(test)]"));
    lines.filter(|line| !line.trim_start().starts_with("//")).map(|line| format!("{line}\n")).collect()
}

/// Returns the names after `crate::`, including those in `crate::{name, …}`.
fn imports(code: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for (start, prefix) in code.match_indices("crate::") {
        let rest = &code[start + prefix.len()..];
        match rest.strip_prefix('{') {
            Some(group) => found.extend(group_names(group)),
            None => found.push(leading_name(rest)),
        }
    }
    found.retain(|name| !name.is_empty());
    found
}

/// Returns the first path segment of each entry of `use crate::{…}`. `group` begins after the opening brace.
fn group_names(group: &str) -> Vec<&str> {
    let mut depth = 0;
    let mut names = vec![leading_name(group)];
    for (index, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => names.push(leading_name(&group[index + 1..])),
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
