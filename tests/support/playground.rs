//! A folder with a sample command-line tool `mycli`, to run the commands of help texts and pages.

use crate::programs::{program, repository};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

const CONFIG: &str = r#"[target]
command = ["./mycli"]
schema = ["schema"]

[[probe]]
name = "list"
args = ["list"]

[[probe]]
name = "missing"
args = ["show", "99"]
exit = 1

[[probe]]
name = "signed-out"
args = ["whoami"]
exit = 77

[[probe]]
name = "bad-config"
args = ["sync"]
exit = 78
"#;

/// The folder; it is removed on drop.
pub struct Playground(tempfile::TempDir);

impl Playground {
    /// Creates a folder with `mycli`, which conforms, its `agentnative.toml`, `list.json` with its schema
    /// `list.schema.json`, `run.jsonl` with the events of an agent's run, and `report.json`.
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let lib = repository().join("fixtures/clis/lib/conforming.sh");
        fs::write(at("mycli"), format!("#!/bin/sh\n. '{}'\nmain \"$@\"\n", lib.display())).unwrap();
        fs::set_permissions(at("mycli"), fs::Permissions::from_mode(0o755)).unwrap();
        fs::create_dir(at(".git")).unwrap();
        fs::write(at("agentnative.toml"), CONFIG).unwrap();
        let events = repository().join("contracts/opencode-events/examples/valid/whole-run.jsonl");
        fs::copy(events, at("run.jsonl")).unwrap();
        let report = repository().join("contracts/agentnative-report/examples/valid/passed.json");
        fs::copy(report, at("report.json")).unwrap();
        let playground = Self(folder);
        for command in
            ["mycli list --json > list.json", "agentnative contract infer list.json > list.schema.json"]
        {
            assert!(playground.run(command).status.success(), "{command}");
        }
        playground
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// Runs a command line in the folder with `sh`, with `mycli` and the programs of this workspace on PATH.
    pub fn run(&self, command: &str) -> Output {
        run_in(self.path(), command)
    }
}

/// Runs a command line in this folder with `sh`, with the folder itself and the programs of this workspace on PATH.
pub fn run_in(folder: &Path, command: &str) -> Output {
    let built = program("agentnative").parent().unwrap().to_owned();
    let inherited = std::env::var_os("PATH").unwrap();
    let folders = [folder.to_owned(), built].into_iter().chain(std::env::split_paths(&inherited));
    Command::new("sh")
        .args(["-c", command])
        .current_dir(folder)
        .env("PATH", std::env::join_paths(folders.collect::<Vec<PathBuf>>()).unwrap())
        .env("XDG_CACHE_HOME", folder.join(".cache"))
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

/// Splits a line of a text into the command line and its exit code: `# exit N` at the end, else 0.
pub fn command_and_code(line: &str) -> (&str, i32) {
    match line.split_once(" # exit ") {
        Some((command, code)) => (command.trim(), code.trim().parse().unwrap()),
        None => (line.trim(), 0),
    }
}

/// Panics unless the command exits with the code of its line and prints something.
pub fn assert_line_holds(place: &str, line: &str, run: impl FnOnce(&str) -> Output) {
    let (command, code) = command_and_code(line);
    let output = run(command);
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(code), "{place}: {line}\n{err}\n{out}");
    let silent = command.contains(" > ") || command.contains("--quiet");
    assert!(!out.is_empty() || silent, "{place}: {line}: no output");
}
