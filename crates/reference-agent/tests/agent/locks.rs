//! Locks of the agent's output: a lock is reproducible, the agent conforms to it, and breaking changes are reported with
//! their rule.

use super::programs::{program, repository};
use serde_json::Value;
use std::collections::BTreeMap;
use std::process::{Command, Output};
use std::sync::Mutex;

/// The mutation, and the rule that has to report it.
const MUTATIONS: &[(&str, &str)] = &[
    ("lock-key-removed", "diff-key-removed"),
    ("lock-key-renamed", "diff-key-removed"),
    ("lock-inner-key-removed", "diff-key-removed"),
    ("lock-envelope-lost", "diff-key-removed"),
    ("lock-number-as-text", "diff-type-changed"),
    ("lock-integer-as-number", "diff-integer-became-number"),
    ("lock-text-as-number", "diff-type-changed"),
    ("lock-object-as-array", "diff-object-became-array"),
    ("lock-array-as-object", "diff-array-became-object"),
    ("lock-document-as-lines", "diff-framing-changed"),
    ("lock-lines-as-document", "diff-framing-changed"),
    ("lock-null", "diff-null-added"),
    ("lock-two-types", "diff-type-widened"),
    ("lock-key-optional", "diff-key-optional"),
    ("lock-flag-as-text", "diff-type-changed"),
    ("lock-event-key-removed", "diff-key-removed"),
    ("lock-event-renamed", "diff-event-removed"),
    ("lock-event-gone", "diff-terminal-event-changed"),
    ("lock-event-behind-the-last", "diff-terminal-event-changed"),
    ("lock-event-before-the-first", "diff-first-event-changed"),
    ("lock-result-before-call", "diff-event-order-changed"),
    ("lock-other-discriminator", "diff-discriminator-changed"),
    ("lock-exit", "diff-exit-changed"),
    ("lock-error-elsewhere", "diff-error-stream-changed"),
    ("lock-error-without-kind", "diff-key-removed"),
    ("lock-error-as-list", "diff-type-changed"),
];

/// A folder with the configuration of an agent, whose output can be mutated.
struct LockedAgent(tempfile::TempDir);

impl LockedAgent {
    fn new() -> Self {
        let agent = Self(tempfile::tempdir().unwrap());
        let script = repository().join("fixtures/agent/two-tools.json");
        let mut script: Value = serde_json::from_slice(&std::fs::read(script).unwrap()).unwrap();
        // These tests do not depend on delays.
        script["turns"][1].as_object_mut().unwrap().remove("delay_ms").unwrap();
        std::fs::write(agent.0.path().join("two-tools.json"), script.to_string()).unwrap();
        agent.mutate("none");
        agent
    }

    fn mutate(&self, mutation: &str) {
        let scripts = repository().join("fixtures/agent");
        let (scripts, folder) = (scripts.to_str().unwrap(), self.0.path().display());
        let agent = env!("CARGO_BIN_EXE_reference-agent");
        let script = format!("{scripts}/mutate.py");
        let command = [&script, mutation, agent];
        let command = if mutation == "none" { &command[2..] } else { &command };
        let config = format!(
            "[target.agent]\ncommand = {command:?}\n\
            [[probe]]\nname = \"two-tools\"\nargs = [\"--script\", \"{folder}/two-tools.json\", \"a query\"]\n\
            [[probe]]\nname = \"failure\"\nargs = [\"--script\", \"{scripts}/failure.json\", \"a query\"]\nexit = 1\n"
        );
        std::fs::write(self.0.path().join("agentnative.toml"), config).unwrap();
    }

    fn run(&self, args: &[&str]) -> Output {
        let mut run = Command::new(program("agentnative"));
        run.args(args).arg("--config").arg(self.0.path().join("agentnative.toml"));
        // The script contains paths relative to the repository.
        run.current_dir(repository()).output().unwrap()
    }

    fn lock(&self, flag: &str) -> (i32, Value) {
        let output = self.run(&["contract", "lock", "--json", flag]);
        let document = serde_json::from_slice(&output.stdout);
        let document: Value = document.unwrap_or_else(|_| panic!("{output:?}"));
        (output.status.code().unwrap(), document["data"].clone())
    }

    /// Returns the files of the lock by name.
    fn files(&self) -> BTreeMap<String, Vec<u8>> {
        let folder = self.0.path().join("agentnative.lock");
        let entries = walkdir::WalkDir::new(&folder).into_iter().filter_map(Result::ok);
        let files = entries.filter(|entry| entry.file_type().is_file());
        files
            .map(|entry| {
                let name = entry.path().strip_prefix(&folder).unwrap().to_string_lossy().into_owned();
                (name, std::fs::read(entry.path()).unwrap())
            })
            .collect()
    }
}

#[test]
fn five_runs_write_the_same_lock_without_values_of_the_runs() {
    let first = LockedAgent::new();
    assert!(first.run(&["contract", "lock"]).status.success());
    let files = first.files();
    assert_eq!(files.len(), 8, "{:?}", files.keys());
    // The interface contains the help, with the names of providers.
    for (name, text) in files.iter().filter(|(name, _)| !name.ends_with("interface.json")) {
        let text = String::from_utf8_lossy(text);
        for value in ["/tmp", "/root", "scratchpad/", "scripted", "let me see", "call_1"] {
            assert!(!text.contains(value), "{name} contains {value}: {text}");
        }
    }
    for _ in 0..4 {
        let (code, done) = first.lock("--update");
        assert_eq!((code, &done["written"], &done["changes"]), (0, &false.into(), &Value::Array(Vec::new())));
        assert!(first.files() == files);
    }
    let other = LockedAgent::new();
    assert!(other.run(&["contract", "lock"]).status.success());
    assert!(other.files() == files);
}

#[test]
fn each_breaking_change_is_reported_with_its_rule() {
    let locked = LockedAgent::new();
    assert!(locked.run(&["contract", "lock"]).status.success());
    assert!(MUTATIONS.len() >= 20);
    let compatible = [("none", ""), ("lock-more", "")];
    let (next, wrong) = (Mutex::new(compatible.iter().chain(MUTATIONS)), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let Some((mutation, rule)) = next.lock().unwrap().next() else { return };
                    let agent = LockedAgent::new();
                    for (name, text) in locked.files() {
                        let path = agent.0.path().join("agentnative.lock").join(name);
                        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                        std::fs::write(path, text).unwrap();
                    }
                    agent.mutate(mutation);
                    let (code, done) = agent.lock("--check");
                    let breaks = |change: &&Value| change["class"] == "breaking";
                    let mut breaking = done["changes"].as_array().unwrap().iter().filter(breaks);
                    let good = match *rule {
                        "" => code == 0 && breaking.next().is_none(),
                        rule => code == 1 && breaking.any(|change| change["rule"] == rule),
                    };
                    if !good {
                        wrong
                            .lock()
                            .unwrap()
                            .push(format!("{mutation}, {rule}: {code} {:#}", done["changes"]));
                    }
                }
            });
        }
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn check_compares_the_agent_with_its_lock() {
    let agent = LockedAgent::new();
    let check = |probe: &str| {
        agent.mutate(probe);
        let output = agent.run(&["check", "--json", "--check", "p2-contract-locked"]);
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        report["data"]["results"][0].clone()
    };
    assert_eq!(check("none")["status"], "not-applicable");
    agent.mutate("none");
    assert!(agent.run(&["contract", "lock"]).status.success());
    assert_eq!(check("none")["status"], "pass");
    assert_eq!(check("lock-more")["status"], "pass");
    let broken = check("lock-key-removed");
    assert_eq!(broken["status"], "fail");
    let message = broken["message"].as_str().unwrap();
    assert!(message.starts_with("diff-key-removed: /data/query"), "{message}");
    // Another exit code and output that is not JSON are the subject of other checks.
    assert_eq!(check("lock-exit")["status"], "unverified");
    assert_eq!(check("prose-before")["status"], "unverified");
    // The check does not pass if a locked probe is missing.
    agent.mutate("none");
    let path = agent.0.path().join("agentnative.toml");
    let config = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, &config[..config.rfind("[[probe]]").unwrap()]).unwrap();
    let output = agent.run(&["check", "--json", "--check", "p2-contract-locked"]);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["data"]["results"][0]["status"], "unverified", "{report:#}");
    let (code, done) = agent.lock("--update");
    assert_eq!((code, &done["written"]), (0, &true.into()));
    assert!(done["changes"].as_array().unwrap().iter().any(|change| change["rule"] == "diff-output-removed"));
    assert_eq!(agent.files().len(), 5);
}

#[test]
fn a_lock_is_not_overwritten_or_written_for_invalid_output() {
    let agent = LockedAgent::new();
    let status_and_stderr =
        |output: Output| (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned());
    let (code, stderr) = status_and_stderr(agent.run(&["contract", "lock", "--check"]));
    assert!(code == Some(78) && stderr.contains("no lock found"), "{code:?} {stderr}");
    agent.mutate("prose-before");
    let (code, stderr) = status_and_stderr(agent.run(&["contract", "lock"]));
    assert!(code == Some(1) && stderr.contains("p2-output-json"), "{code:?} {stderr}");
    assert!(agent.files().is_empty());
    agent.mutate("none");
    assert!(agent.run(&["contract", "lock"]).status.success());
    let (code, stderr) = status_and_stderr(agent.run(&["contract", "lock"]));
    assert!(code == Some(2) && stderr.contains("--update"), "{code:?} {stderr}");
}
