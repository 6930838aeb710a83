//! The skeletons that `init --skeleton` writes: small, complete tools that pass every check.

use super::embedded::{File, files};
use agentnative_core::config::FILE_NAME;
use std::path::PathBuf;

/// Beginning of the first line of a configuration, followed by the command that prepares the tool for a check.
const PREPARATION: &str = "# Before the first check: ";

/// The files that each skeleton has, unless it has one of the same name.
const COMMON: &[File] = files!("examples/skeletons/common": "SKILL.md" "tests/todo.json" "todo.schema.json");

const SKELETONS: &[(&str, &[File])] = &[
    (
        "clap",
        files!("examples/skeletons/clap": "Cargo.template.toml" "agentnative.toml" "src/main.rs" "src/output.rs" "src/server.rs" "src/store.rs"),
    ),
    (
        "typer",
        files!("examples/skeletons/typer": "agentnative.toml" "pyproject.toml" "todo.py" "todo_output.py"),
    ),
    ("argparse", files!("examples/skeletons/argparse": "agentnative.toml" "todo.py" "todo_output.py")),
    ("yargs", files!("examples/skeletons/yargs": "agentnative.toml" "package.json" "todo.js")),
    (
        "cobra",
        files!("examples/skeletons/cobra": "agentnative.toml" "go.mod" "main.go" "output.go" "server.go" "store.go"),
    ),
    ("bash", files!("examples/skeletons/bash": "SKILL.md" "agentnative.toml" "tests/todo.tsv" "todo")),
];

/// Returns the names of the skeletons.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    SKELETONS.iter().map(|(name, _)| *name)
}

/// Returns the files of a skeleton; none if the name is unknown.
pub(super) fn files(name: &str) -> Vec<(PathBuf, &'static str)> {
    let own = SKELETONS.iter().find(|(known, _)| *known == name).map_or(&[][..], |(_, files)| *files);
    let is_common = |(path, _): &&File| !own.is_empty() && own.iter().all(|(known, _)| known != path);
    let all = own.iter().chain(COMMON.iter().filter(is_common));
    // A folder with a Cargo.toml would be left out of the package of this crate.
    let mut all: Vec<_> = all.map(|(path, text)| (path.replace(".template.", ".").into(), *text)).collect();
    all.sort();
    all
}

/// Returns the configuration among the files of a skeleton.
pub(super) fn configuration(files: &[(PathBuf, &'static str)]) -> &'static str {
    files.iter().find(|(path, _)| path.as_os_str() == FILE_NAME).map_or("", |(_, text)| text)
}

/// Returns the command that a configuration names as the preparation of its tool.
pub(super) fn preparation(configuration: &'static str) -> Option<&'static str> {
    configuration.lines().next()?.strip_prefix(PREPARATION)
}

/// Returns the names of the probes that the configuration of a skeleton declares.
pub(super) fn probes(configuration: &'static str) -> impl Iterator<Item = String> {
    let names = configuration.lines().filter_map(|line| line.strip_prefix("name = \"")?.strip_suffix('"'));
    names.map(str::to_owned)
}
