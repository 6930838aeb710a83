//! README and the pages of `docs/` are true: their commands run as they stand there, their links lead somewhere.

use crate::playground::{Playground, assert_line_holds, command_and_code, run_in};
use crate::programs::program;
use std::fs;
use std::path::{Path, PathBuf};

/// Commands that are not run here, and what covers them.
const ELSEWHERE: &[(&str, &str)] = &[
    ("cargo test", "`.ci/run` runs it: it is what runs this test"),
    ("cargo install --locked --path .", "it builds the program anew, as `cargo build` does"),
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn readme() -> String {
    fs::read_to_string(root().join("README.md")).unwrap()
}

/// The pages of the book, with their paths.
fn pages() -> Vec<(PathBuf, String)> {
    let files = fs::read_dir(root().join("docs")).unwrap().map(|entry| entry.unwrap().path());
    let mut pages: Vec<PathBuf> =
        files.filter(|path| path.extension().is_some_and(|end| end == "md")).collect();
    pages.sort();
    pages.into_iter().map(|path| (path.clone(), fs::read_to_string(path).unwrap())).collect()
}

/// The lines of the `sh` blocks.
fn commands(text: &str) -> Vec<&str> {
    let blocks = text.split("```sh\n").skip(1).map(|rest| rest.split_once("```").unwrap().0);
    blocks.flat_map(str::lines).filter(|line| !line.trim().is_empty()).collect()
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

/// Runs the lines that are not covered elsewhere, one after the other; what `cargo run` would build is built.
fn run_lines(place: &str, text: &str, folder: &Path) {
    for line in commands(text) {
        if ELSEWHERE.iter().any(|(command, _)| *command == command_and_code(line).0) {
            continue;
        }
        assert_line_holds(place, line, |command| {
            let command = command.replace("cargo run --bin reference-agent -- ", "reference-agent ");
            let example = "cargo run --example check_a_command -- ";
            let command = command.replace(example, "target/debug/examples/check_a_command ");
            run_in(folder, &command.replace("cargo run -- ", "agentnative "))
        });
    }
}

#[test]
fn commands_of_the_readme_run_and_change_no_tracked_file() {
    let copy = copy();
    run_lines("README.md", &readme(), copy.path());
    for entry in project() {
        let name = entry.path().strip_prefix(root()).unwrap();
        if entry.file_type().is_file() {
            let same = fs::read(entry.path()).unwrap() == fs::read(copy.path().join(name)).unwrap();
            assert!(same, "{} was rewritten", name.display());
        }
    }
    for (command, why) in ELSEWHERE {
        let there = commands(&readme()).iter().any(|line| command_and_code(line).0 == *command);
        assert!(there, "`{command}` is no longer there ({why})");
    }
}

/// Each page in a folder of its own, which has a command-line tool `mycli`.
#[test]
fn commands_of_the_pages_run() {
    let pages = pages();
    std::thread::scope(|scope| {
        for (path, text) in pages.iter().filter(|(_, text)| !commands(text).is_empty()) {
            scope.spawn(|| run_lines(&path.display().to_string(), text, Playground::new().path()));
        }
    });
}

/// Relative links of a page, without their anchors.
fn links(text: &str) -> impl Iterator<Item = &str> {
    let links = text.split("](").skip(1).map(|rest| rest.split_once(')').unwrap().0);
    links.filter(|link| !link.contains("://")).map(|link| link.split('#').next().unwrap())
}

#[test]
fn what_the_documents_name_exists() {
    let documents =
        ["README.md", "ARCHITECTURE.md", "checks/README.md", "fixtures/README.md", "contracts/README.md"];
    let documents = documents.map(|name| (root().join(name), fs::read_to_string(root().join(name)).unwrap()));
    for (path, text) in documents.into_iter().chain(pages()) {
        let folder = path.parent().unwrap();
        for link in links(&text) {
            assert!(folder.join(link).exists(), "{}: {link}", path.display());
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

#[test]
fn each_page_is_in_the_summary_of_the_book() {
    let summary = fs::read_to_string(root().join("docs/SUMMARY.md")).unwrap();
    let named: Vec<PathBuf> = links(&summary).map(|link| root().join("docs").join(link)).collect();
    for (path, _) in pages() {
        let listed = named.contains(&path) || path.ends_with("SUMMARY.md");
        assert!(listed, "{} is not in docs/SUMMARY.md", path.display());
    }
}
