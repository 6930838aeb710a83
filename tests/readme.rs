//! The README is true: its commands are run as they stand there, its table of checks is the catalogue.

use crate::programs::program;
use agentnative::catalogue::checks;
use agentnative::model::Level;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Commands that are not run here, and what covers them.
const ELSEWHERE: &[(&str, &str)] = &[
    ("cargo test", "`.ci/run` runs it: it is what runs this test"),
    ("cargo install --locked --path .", "it builds the program anew, as `cargo build` does"),
];

const BEGIN: &str = "<!-- checks: written by tests/readme.rs -->\n";
const END: &str = "<!-- /checks -->";

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn readme() -> String {
    fs::read_to_string(root().join("README.md")).unwrap()
}

/// The lines of the `sh` blocks: command and expected exit code (`# exit N` at the end; else 0).
fn commands(readme: &str) -> Vec<(String, i32)> {
    let blocks = readme.split("```sh\n").skip(1).map(|rest| rest.split_once("```").unwrap().0);
    let lines = blocks.flat_map(str::lines).filter(|line| !line.trim().is_empty());
    lines
        .map(|line| match line.split_once(" # exit ") {
            Some((command, code)) => (command.trim().to_owned(), code.trim().parse().unwrap()),
            None => (line.trim().to_owned(), 0),
        })
        .collect()
}

/// The project without what is built, and without its tests.
fn project() -> impl Iterator<Item = walkdir::DirEntry> {
    let walk = walkdir::WalkDir::new(root()).min_depth(1).into_iter();
    let wanted = |name: &str| !["target", ".git", "tests"].contains(&name);
    walk.filter_entry(move |entry| entry.depth() != 1 || wanted(&entry.file_name().to_string_lossy()))
        .map(|entry| entry.unwrap())
}

/// A copy of it, with the programs where a build puts them.
fn copy() -> tempfile::TempDir {
    let copy = tempfile::tempdir().unwrap();
    for entry in project() {
        let to = copy.path().join(entry.path().strip_prefix(root()).unwrap());
        if entry.file_type().is_dir() {
            fs::create_dir(to).unwrap();
        } else if entry.path_is_symlink() {
            std::os::unix::fs::symlink(fs::read_link(entry.path()).unwrap(), to).unwrap();
        } else {
            fs::copy(entry.path(), to).unwrap();
        }
    }
    fs::create_dir(copy.path().join(".git")).unwrap();
    fs::create_dir_all(copy.path().join("target/debug/examples")).unwrap();
    for (name, built) in [
        ("agentnative", program("agentnative")),
        ("reference-agent", program("reference-agent")),
        ("examples/check_a_command", program("examples/check_a_command")),
    ] {
        fs::copy(built, copy.path().join("target/debug").join(name)).unwrap();
    }
    copy
}

#[test]
fn every_command_does_what_it_says() {
    let copy = copy();
    let mut folders = vec![copy.path().join("target/debug")];
    folders.extend(std::env::split_paths(&std::env::var_os("PATH").unwrap()).collect::<Vec<PathBuf>>());
    let path = std::env::join_paths(folders).unwrap();
    let commands = commands(&readme());
    assert!(commands.len() > 10, "{commands:?}");
    for (told, code) in &commands {
        if ELSEWHERE.iter().any(|(command, _)| command == told) {
            continue;
        }
        // What `cargo run` would build is built.
        let command = told.replace("cargo run --bin reference-agent -- ", "reference-agent ");
        let example = "cargo run --example check_a_command -- ";
        let command = command.replace(example, "target/debug/examples/check_a_command ");
        let command = command.replace("cargo run -- ", "agentnative ");
        let output = Command::new("sh")
            .args(["-c", &command])
            .current_dir(copy.path())
            .env("PATH", &path)
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert_eq!(output.status.code(), Some(*code), "{told}\n{err}\n{out}");
        assert!(!out.is_empty(), "{told}");
    }
    // No command rewrites what is under version control.
    for entry in project() {
        let name = entry.path().strip_prefix(root()).unwrap();
        if entry.file_type().is_file() {
            let same = fs::read(entry.path()).unwrap() == fs::read(copy.path().join(name)).unwrap();
            assert!(same, "{} was rewritten", name.display());
        }
    }
    for (command, why) in ELSEWHERE {
        assert!(commands.iter().any(|(told, _)| told == command), "`{command}` is no longer there ({why})");
    }
}

#[test]
fn the_table_of_checks_is_the_catalogue() {
    let mut table = String::from("\n| id | level | demanded |\n|---|---|---|\n");
    for check in checks() {
        let level = match check.level {
            Level::Must => "must",
            Level::Should => "should",
            Level::May => "may",
        };
        table += &format!("| {} | {level} | {} |\n", check.id, check.title);
    }
    table += "\n";
    let readme = readme();
    let (before, rest) = readme.split_once(BEGIN).unwrap();
    let (told, after) = rest.split_once(END).unwrap();
    if std::env::var_os("UPDATE").is_some_and(|value| value == "1") {
        fs::write(root().join("README.md"), format!("{before}{BEGIN}{table}{END}{after}")).unwrap();
        return;
    }
    assert_eq!(told, table, "UPDATE=1 rewrites it");
}

#[test]
fn what_the_documents_name_exists() {
    for document in ["README.md", "ARCHITECTURE.md", "checks/README.md", "fixtures/README.md"] {
        let text = fs::read_to_string(root().join(document)).unwrap();
        let folder = Path::new(document).parent().unwrap();
        for link in text.split("](").skip(1).map(|rest| rest.split_once(')').unwrap().0) {
            assert!(root().join(folder).join(link).exists(), "{document}: {link}");
        }
    }
    // Each room has a line.
    let architecture = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    for entry in fs::read_dir(root().join("src")).unwrap() {
        let name = entry.unwrap().file_name().to_string_lossy().into_owned();
        let room = name.trim_end_matches(".rs");
        if !["main", "lib", "bin"].contains(&room) {
            assert!(architecture.contains(&format!("| `{room}` |")), "{room}");
        }
    }
}
