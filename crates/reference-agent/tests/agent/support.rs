//! Runs the agent in a temporary folder and validates its output against contracts.

use agentnative_contract::{Contract, Framing, RunExit, split_version};
use serde_json::{Value, json};
use std::ffi::OsStr;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use strict_json::{ReadOptions, read_records, read_value};

/// All contracts but the agent's native one.
pub const CONTRACTS: [&str; 7] = [
    "dexter-flat",
    "dexter-nested",
    "agent-js",
    "opencode-events",
    "opencode-run",
    "codex-exec",
    "claude-stream",
];

/// The closed versions of contracts, which describe the original programs. The agent conforms to them, too.
const CLOSED_CONTRACTS: [&str; 3] = ["dexter-flat@2026.2", "dexter-nested@2026.2", "agent-js@1.5.8"];

/// A temporary folder with a workspace, a home folder and a script.
pub struct TestEnv {
    dir: tempfile::TempDir,
}

/// The output of a run. A signal that killed it is a negative exit code.
#[derive(Debug)]
pub struct RunOutput {
    pub stdout: String,
    pub stderr: String,
    pub code: i32,
}

impl TestEnv {
    pub fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("work")).unwrap();
        fs::create_dir(dir.path().join("home")).unwrap();
        Self { dir }
    }

    /// Returns the workspace, which is also the working directory.
    pub fn work(&self) -> PathBuf {
        self.dir.path().join("work")
    }

    /// Returns the path of a file outside the workspace.
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

    /// Writes the script of the scripted provider.
    pub fn script(&self, script: &Value) {
        fs::write(self.outside("script.json"), script.to_string()).unwrap();
    }

    /// Returns the command of the agent with these arguments, and with the script if one was written.
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

    pub fn run<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>) -> RunOutput {
        wait_for_output(self.agent(args).spawn().unwrap())
    }

    /// Runs the agent with these bytes on stdin.
    pub fn run_with<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>, stdin: &[u8]) -> RunOutput {
        let mut child = self.agent(args).stdin(Stdio::piped()).spawn().unwrap();
        // The agent may exit without reading stdin.
        let _ = child.stdin.take().unwrap().write_all(stdin);
        wait_for_output(child)
    }

    /// Plays a script under a contract and validates the output against it.
    pub fn play(&self, contract: &str, script: &Value, more: &[&str]) -> RunOutput {
        self.script(script);
        let mut args = vec!["--contract", contract, "a query"];
        args.extend(more);
        let output = self.run(args);
        output.assert_conforms(contract);
        output
    }

    /// Plays a script in the native json; returns the output and its envelope.
    pub fn json(&self, script: &Value, more: &[&str]) -> (RunOutput, Value) {
        self.script(script);
        let mut args = vec!["--json", "a query"];
        args.extend(more);
        let output = self.run(args);
        let document = output.document();
        (output, document)
    }
}

/// Waits for the agent and returns its output.
pub fn wait_for_output(child: Child) -> RunOutput {
    let output = child.wait_with_output().unwrap();
    use std::os::unix::process::ExitStatusExt as _;
    RunOutput {
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
        code: output.status.code().unwrap_or_else(|| -output.status.signal().unwrap()),
    }
}

impl RunOutput {
    /// Parses stdout strictly as one document.
    pub fn document(&self) -> Value {
        let parsed = read_value(self.stdout.as_bytes(), &ReadOptions::default(), u64::MAX).unwrap();
        assert!(parsed.summary.problems.is_empty(), "{:?}\n{self:?}", parsed.summary.problems);
        parsed.value.unwrap()
    }

    /// Parses stdout strictly as JSON Lines.
    pub fn records(&self) -> Vec<Value> {
        let mut records = Vec::new();
        let sink = |record: strict_json::Record| records.push(record.value.unwrap());
        let summary = read_records(self.stdout.as_bytes(), &ReadOptions::default(), u64::MAX, sink).unwrap();
        assert!(summary.problems.is_empty(), "{:?}\n{self:?}", summary.problems);
        records
    }

    /// Returns the records of this type.
    pub fn of_type(&self, name: &str) -> Vec<Value> {
        self.records().into_iter().filter(|record| record["type"] == name).collect()
    }

    /// Parses stderr as one error object.
    pub fn error(&self) -> Value {
        let error: Value = serde_json::from_str(&self.stderr).unwrap_or_else(|_| panic!("{self:?}"));
        for key in ["error", "kind", "message"] {
            assert!(error[key].as_str().is_some_and(|text| !text.is_empty()), "{key}: {error}");
        }
        error
    }

    /// Asserts that stdout and the exit code conform to a bundled contract and to its closed version.
    pub fn assert_conforms(&self, contract: &str) {
        let closed = CLOSED_CONTRACTS.into_iter().filter(|closed| split_version(closed).0 == contract);
        for name in std::iter::once(contract).chain(closed) {
            let (violations, known) = self.validate(name);
            assert!(violations.is_empty() && known.is_empty(), "{name}: {violations:#?} {known:?}\n{self:?}");
        }
    }

    pub fn violations(&self, name: &str) -> Vec<String> {
        self.validate(name).0
    }

    /// Returns the violations of a contract and the IDs of its known findings.
    pub fn validate(&self, name: &str) -> (Vec<String>, Vec<String>) {
        let contract = Contract::bundled(name).unwrap();
        let mut validator = contract.validator();
        let mut violations = Vec::new();
        let values = match () {
            _ if contract.framing() == Framing::Lines => self.records(),
            _ if self.stdout.is_empty() => Vec::new(),
            _ => vec![self.document()],
        };
        for (index, value) in values.iter().enumerate() {
            violations.extend(validator.push(index as u64 + 1, value));
        }
        let outcome = validator.finish(&RunExit::with_code(self.code));
        assert!(outcome.unknown.is_empty(), "types that {name} does not know: {:?}", outcome.unknown);
        violations.extend(outcome.violations);
        let known = outcome.known.into_iter().map(|known| known.finding.unwrap().id.unwrap());
        (violations.into_iter().map(|violation| format!("{violation:?}")).collect(), known.collect())
    }
}

/// Returns a script with these turns.
pub fn script(turns: &[Value]) -> Value {
    json!({"turns": turns})
}

/// Returns a turn with this text.
pub fn text_turn(text: &str) -> Value {
    json!({"text": text})
}

/// Returns a turn with one tool call.
pub fn tool_turn(tool: &str, args: Value) -> Value {
    json!({"calls": [{"tool": tool, "args": args}]})
}

/// Runs these tool calls in jsonl and returns their results.
pub fn tool_results(env: &TestEnv, calls: &[Value], more: &[&str]) -> Vec<Value> {
    env.script(&script(&[json!({"calls": calls}), text_turn("done")]));
    let mut args = vec!["--jsonl", "a query"];
    args.extend(more);
    let output = env.run(args);
    assert_eq!(output.code, 0, "{output:?}");
    output.of_type("tool-result")
}

/// Runs one tool call and returns its result.
pub fn tool_result(env: &TestEnv, tool: &str, args: Value, more: &[&str]) -> Value {
    tool_results(env, &[json!({"tool": tool, "args": args})], more).remove(0)
}

/// Returns whether a process is alive; a zombie is not.
pub fn is_alive(pid: &str) -> bool {
    let stat = fs::read_to_string(Path::new("/proc").join(pid.trim()).join("stat")).unwrap_or_default();
    stat.rsplit_once(')')
        .is_some_and(|(_, rest)| !matches!(rest.trim_start().chars().next(), Some('Z' | 'X')))
}
