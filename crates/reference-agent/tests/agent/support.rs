//! Running the agent in a folder of its own, and holding what it prints to contracts.

use agentnative_contract::{Contract, Framing, RunExit, split_version};
use serde_json::{Value, json};
use std::ffi::OsStr;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use strict_json::{ReadOptions, read_records, read_value};

/// The contracts beside the agent's own.
pub const CONTRACTS: [&str; 7] = [
    "dexter-flat",
    "dexter-nested",
    "agent-js",
    "opencode-events",
    "opencode-run",
    "codex-exec",
    "claude-stream",
];

/// The closed forms that the programs have whose contracts these are: the agent keeps them as well.
const CLOSED: [&str; 3] = ["dexter-flat@2026.2", "dexter-nested@2026.2", "agent-js@1.5.8"];

/// A workspace, a home, and a script.
pub struct Place {
    dir: tempfile::TempDir,
}

/// What a run gave.
#[derive(Debug)]
pub struct Ran {
    pub stdout: String,
    pub stderr: String,
    pub code: i32,
}

impl Place {
    pub fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("work")).unwrap();
        fs::create_dir(dir.path().join("home")).unwrap();
        Self { dir }
    }

    /// The workspace, which is also the working directory.
    pub fn work(&self) -> PathBuf {
        self.dir.path().join("work")
    }

    /// A file outside of the workspace.
    pub fn outside(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Writes a file of the workspace.
    pub fn file(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.work().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.work().join(name)).unwrap()
    }

    /// Writes the script that is played.
    pub fn script(&self, script: &Value) {
        fs::write(self.outside("script.json"), script.to_string()).unwrap();
    }

    /// The agent with these arguments; with the script, when one was written.
    pub fn agent<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_reference-agent"));
        command
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.outside("home"))
            .current_dir(self.work())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        if self.outside("script.json").exists() {
            command.arg("--script").arg(self.outside("script.json"));
        }
        command.args(args);
        command
    }

    pub fn run<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>) -> Ran {
        ran(self.agent(args).spawn().unwrap())
    }

    /// Runs with these bytes on standard input.
    pub fn run_with<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>, stdin: &[u8]) -> Ran {
        let mut child = self.agent(args).stdin(Stdio::piped()).spawn().unwrap();
        // An agent that does not read it is no failure of the test.
        let _ = child.stdin.take().unwrap().write_all(stdin);
        ran(child)
    }

    /// Plays a script under a contract, and holds what is printed to it.
    pub fn play(&self, contract: &str, script: &Value, more: &[&str]) -> Ran {
        self.script(script);
        let mut args = vec!["--contract", contract, "a query"];
        args.extend(more);
        let ran = self.run(args);
        ran.keeps(contract);
        ran
    }

    /// Plays a script in the agent's own json, and gives the envelope.
    pub fn json(&self, script: &Value, more: &[&str]) -> (Ran, Value) {
        self.script(script);
        let mut args = vec!["--json", "a query"];
        args.extend(more);
        let ran = self.run(args);
        let document = ran.document();
        (ran, document)
    }
}

pub fn ran(child: Child) -> Ran {
    let output = child.wait_with_output().unwrap();
    use std::os::unix::process::ExitStatusExt as _;
    Ran {
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
        code: output.status.code().unwrap_or_else(|| -output.status.signal().unwrap()),
    }
}

impl Ran {
    /// The one document of standard output, read strictly.
    pub fn document(&self) -> Value {
        let read = read_value(self.stdout.as_bytes(), &ReadOptions::default(), u64::MAX).unwrap();
        assert!(read.summary.problems.is_empty(), "{:?}\n{self:?}", read.summary.problems);
        read.value.unwrap()
    }

    /// The records of standard output, read strictly.
    pub fn records(&self) -> Vec<Value> {
        let mut records = Vec::new();
        let take = |record: strict_json::Record| records.push(record.value.unwrap());
        let summary = read_records(self.stdout.as_bytes(), &ReadOptions::default(), u64::MAX, take).unwrap();
        assert!(summary.problems.is_empty(), "{:?}\n{self:?}", summary.problems);
        records
    }

    /// The records of this type.
    pub fn of_type(&self, name: &str) -> Vec<Value> {
        self.records().into_iter().filter(|record| record["type"] == name).collect()
    }

    /// The one error object of standard error.
    pub fn error(&self) -> Value {
        let error: Value = serde_json::from_str(&self.stderr).unwrap_or_else(|_| panic!("{self:?}"));
        for key in ["error", "kind", "message"] {
            assert!(error[key].as_str().is_some_and(|text| !text.is_empty()), "{key}: {error}");
        }
        error
    }

    /// Holds standard output and the exit code to a bundled contract, and to the closed form of it.
    pub fn keeps(&self, contract: &str) {
        let closed = CLOSED.into_iter().filter(|closed| split_version(closed).0 == contract);
        for name in std::iter::once(contract).chain(closed) {
            let (violations, known) = self.judged(name);
            assert!(violations.is_empty() && known.is_empty(), "{name}: {violations:#?} {known:?}\n{self:?}");
        }
    }

    pub fn violations(&self, name: &str) -> Vec<String> {
        self.judged(name).0
    }

    /// The violations of a contract, and the IDs of the findings that are shown.
    pub fn judged(&self, name: &str) -> (Vec<String>, Vec<String>) {
        let contract = Contract::bundled(name).unwrap();
        let mut judge = contract.validator();
        let mut found = Vec::new();
        let values = match () {
            _ if contract.framing() == Framing::Lines => self.records(),
            _ if self.stdout.is_empty() => Vec::new(),
            _ => vec![self.document()],
        };
        for (at, value) in values.iter().enumerate() {
            found.extend(judge.push(at as u64 + 1, value));
        }
        let outcome = judge.finish(&RunExit::exit(self.code));
        assert!(outcome.unknown.is_empty(), "types that {name} does not know: {:?}", outcome.unknown);
        found.extend(outcome.violations);
        let known = outcome.known.into_iter().map(|known| known.finding.unwrap().id.unwrap());
        (found.into_iter().map(|violation| format!("{violation:?}")).collect(), known.collect())
    }
}

/// A script of these turns.
pub fn script(turns: &[Value]) -> Value {
    json!({"turns": turns})
}

/// A turn that says this.
pub fn says(text: &str) -> Value {
    json!({"text": text})
}

/// A turn that asks for one tool.
pub fn asks(tool: &str, args: Value) -> Value {
    json!({"calls": [{"tool": tool, "args": args}]})
}

/// Tool results of a jsonl run, by tool.
pub fn results(place: &Place, calls: &[Value], more: &[&str]) -> Vec<Value> {
    place.script(&script(&[json!({"calls": calls}), says("done")]));
    let mut args = vec!["--jsonl", "a query"];
    args.extend(more);
    let ran = place.run(args);
    assert_eq!(ran.code, 0, "{ran:?}");
    ran.of_type("tool-result")
}

/// The result of one tool call.
pub fn result(place: &Place, tool: &str, args: Value, more: &[&str]) -> Value {
    results(place, &[json!({"tool": tool, "args": args})], more).remove(0)
}

/// Whether a process is alive; a zombie is not.
pub fn alive(pid: &str) -> bool {
    let stat = fs::read_to_string(Path::new("/proc").join(pid.trim()).join("stat")).unwrap_or_default();
    stat.rsplit_once(')')
        .is_some_and(|(_, rest)| !matches!(rest.trim_start().chars().next(), Some('Z' | 'X')))
}
