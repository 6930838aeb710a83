//! Mutations of the agent's documents and streams: the contract rejects each one, with the location of the violation.

use crate::support::{RunOutput, TestEnv, script, text_turn, tool_turn};
use agentnative_contract::split_version;
use serde_json::{Value, json};

/// A contract, the mutation of an output, and the text that a violation has to contain.
type Mutation = (&'static str, fn(&mut MutatedOutput), &'static str);

/// The document or the records, and the exit code.
struct MutatedOutput {
    values: Vec<Value>,
    code: i32,
}

impl MutatedOutput {
    fn set(&mut self, pointer: &str, value: Value) {
        *self.values[0].pointer_mut(pointer).unwrap() = value;
    }
    fn add(&mut self, pointer: &str, key: &str, value: Value) {
        self.values[0].pointer_mut(pointer).unwrap()[key] = value;
    }
    fn drop(&mut self, pointer: &str, key: &str) {
        let object = self.values[0].pointer_mut(pointer).unwrap().as_object_mut().unwrap();
        object.remove(key).unwrap();
    }
    fn find(&self, text: &str) -> usize {
        self.values.iter().position(|value| value.to_string().contains(text)).unwrap()
    }
    fn move_to(&mut self, text: &str, to: usize) {
        let index = self.find(text);
        let value = self.values.remove(index);
        self.values.insert(to, value);
    }
    fn remove(&mut self, text: &str) {
        self.values.remove(self.find(text));
    }
    fn remove_all(&mut self, text: &str) {
        self.values.retain(|value| !value.to_string().contains(text));
    }
    fn edit(&mut self, text: &str, pointer: &str, value: Value) {
        let index = self.find(text);
        *self.values[index].pointer_mut(pointer).unwrap() = value;
    }
}

const MUTATIONS: &[Mutation] = &[
    ("dexter-flat", |s| s.drop("", "answer"), "answer"),
    ("dexter-flat", |s| s.set("/answer", json!("")), "/answer"),
    ("dexter-flat", |s| s.set("/success", json!("yes")), "success"),
    ("dexter-flat", |s| s.set("/success", json!(false)), ""),
    ("dexter-flat", |s| s.set("/iterations", json!(0)), "/iterations"),
    ("dexter-flat", |s| s.set("/duration", json!(-1)), "/duration"),
    ("dexter-flat", |s| s.set("/toolCalls", json!(null)), "/toolCalls"),
    ("dexter-flat", |s| s.set("/toolCalls/0/args", json!("{}")), "/toolCalls/0/args"),
    ("dexter-flat", |s| s.set("/toolCalls/0/result", json!({})), "/toolCalls/0/result"),
    ("dexter-flat", |s| s.drop("/tokenUsage", "totalTokens"), "totalTokens"),
    ("dexter-flat", |s| s.code = 1, "exit-code"),
    ("dexter-nested", |s| s.set("/status", json!("ok")), "/status"),
    ("dexter-nested", |s| s.set("/status", json!("error")), "error"),
    ("dexter-nested", |s| s.add("", "error", json!({"code": "NO_QUERY", "message": "x"})), "error"),
    ("dexter-nested", |s| s.set("/scratchpadFile", json!("scratch.jsonl")), "/scratchpadFile"),
    ("dexter-nested", |s| s.set("/query", json!("")), "/query"),
    ("dexter-nested", |s| s.add("", "toolCalls", json!([])), "toolCalls"),
    ("dexter-nested", |s| s.add("/metadata", "cost", json!(1)), "cost"),
    ("dexter-nested", |s| s.set("/metadata/totalTimeMs", json!("1")), "/metadata/totalTimeMs"),
    ("dexter-nested", |s| s.set("/metadata/totalTimeMs", json!(-1.5)), "/metadata/totalTimeMs"),
    ("dexter-nested@2026.2", |s| s.set("/metadata/totalTimeMs", json!(1.5)), "/metadata/totalTimeMs"),
    ("dexter-nested", |s| s.drop("/tools/0", "args"), "args"),
    ("dexter-nested", |s| s.code = 2, "exit-code"),
    ("agent-js", |s| s.drop("", "health"), "health"),
    ("agent-js", |s| s.drop("", "timingMs"), "timingMs"),
    ("agent-js", |s| s.set("/profile", json!("root")), "/profile"),
    ("agent-js", |s| s.set("/health/toolCallsTotal", json!(7)), "tool-calls-total"),
    ("agent-js", |s| s.set("/health/toolCallsFailed", json!(0)), "tool-calls-failed"),
    ("agent-js", |s| s.set("/health/toolCallFailureRate", json!(0)), "tool-call-failure-rate"),
    ("agent-js", |s| s.set("/termination/turnsUsed", json!(11)), "turns"),
    ("agent-js", |s| s.set("/toolCalls/1/error", json!(null)), "/toolCalls/1/error"),
    ("agent-js", |s| s.drop("/toolCalls/1/error", "code"), "code"),
    ("agent-js", |s| s.set("/toolCalls/1/error/code", json!(7)), "/toolCalls/1/error/code"),
    ("agent-js@1.5.8", |s| s.set("/toolCalls/1/error/code", json!("TOOL_BROKEN")), "/toolCalls/1/error/code"),
    ("agent-js@1.5.8", |s| s.set("/termination/reason", json!("tired")), "/termination/reason"),
    ("agent-js", |s| s.drop("/toolCalls/0", "meta"), "meta"),
    ("agent-js", |s| s.set("/toolCalls/0/result", json!("text")), "/toolCalls/0/result"),
    ("agent-js", |s| s.set("/status", json!("failed")), ""),
    ("agent-js", |s| s.code = 3, "exit-code"),
    ("opencode-events", |s| s.remove("session.created"), "session-first"),
    ("opencode-events", |s| s.remove_all("\"role\":\"assistant\""), "message-first"),
    ("opencode-events", |s| s.remove("\"pending\""), "tool-call"),
    ("opencode-events", |s| s.move_to("\"status\":\"running\"", 1), ""),
    ("opencode-events", |s| s.move_to("session.idle", 2), "idle"),
    (
        "opencode-events",
        |s| s.edit("\"completed\"", "/properties/part/state/time/end", json!(1)),
        "tool-time",
    ),
    (
        "opencode-events",
        |s| s.edit("\"finish\"", "/properties/info/time/completed", json!(1)),
        "message-time",
    ),
    (
        "opencode-events",
        |s| s.edit("\"pending\"", "/properties/part/state/status", json!("waiting")),
        "status",
    ),
    ("opencode-events", |s| s.edit("session.idle", "/properties", json!({})), "sessionID"),
    ("opencode-events", |s| s.edit("\"busy\"", "/properties/status/type", json!("working")), "type"),
];

#[test]
fn each_mutation_violates_its_contract() {
    let env = TestEnv::new();
    let turns = script(&[
        tool_turn("list_files", json!({})),
        tool_turn("read_file", json!({"path": "absent"})),
        json!({"text": "done", "usage": {"input": 1, "output": 2}}),
    ]);
    assert!(MUTATIONS.len() >= 40);
    for (index, (contract, mutate, expected)) in MUTATIONS.iter().enumerate() {
        let output = env.play(split_version(contract).0, &turns, &[]);
        let values = if *contract == "opencode-events" { output.records() } else { vec![output.document()] };
        let mut mutated = MutatedOutput { values, code: output.code };
        mutate(&mut mutated);
        let lines: String = mutated.values.iter().map(|value| format!("{value}\n")).collect();
        let violations =
            RunOutput { stdout: lines, stderr: String::new(), code: mutated.code }.violations(contract);
        assert!(
            violations.iter().any(|violation| violation.contains(expected)),
            "{contract} {index} {expected}: {violations:#?}"
        );
    }
}

#[test]
fn mutated_failures_violate_their_contract() {
    let env = TestEnv::new();
    let fail = script(&[json!({"fail": {"kind": "request"}})]);
    let endless = json!({"turns": [tool_turn("list_files", json!({}))], "repeat": true});
    for (contract, script, code, pointer, value) in [
        ("dexter-flat", &fail, 0, "", json!(null)),
        ("dexter-flat", &fail, 1, "/error", json!("")),
        ("dexter-nested", &fail, 1, "/error/code", json!(7)),
        ("dexter-nested@2026.2", &fail, 1, "/error/code", json!("BROKEN")),
        ("agent-js", &fail, 1, "/code", json!(null)),
        ("agent-js@1.5.8", &fail, 1, "/code", json!("BROKEN")),
        ("agent-js", &fail, 7, "", json!(null)),
        ("agent-js", &endless, 1, "/termination/reason", json!("completed")),
    ] {
        let output = env.play(split_version(contract).0, script, &[]);
        let mut document = output.document();
        if !pointer.is_empty() {
            *document.pointer_mut(pointer).unwrap() = value;
        }
        let mutated = RunOutput { stdout: document.to_string(), stderr: String::new(), code };
        assert!(!mutated.violations(contract).is_empty(), "{contract} {pointer} {code}");
    }
    // Values for which the documentation of a contract only has examples are findings, not violations.
    for (contract, script, pointer, value, finding) in [
        ("dexter-nested", &fail, "/error/code", "BROKEN", "unknown-error-code"),
        ("agent-js", &fail, "/code", "BROKEN", "unknown-error-code"),
        ("agent-js", &fail, "/termination/reason", "tired", "unknown-termination-reason"),
    ] {
        let output = env.play(contract, script, &[]);
        let mut document = output.document();
        *document.pointer_mut(pointer).unwrap() = json!(value);
        let changed = RunOutput { stdout: document.to_string(), ..output };
        assert_eq!(changed.validate(contract), (vec![], vec![finding.to_owned()]), "{contract} {pointer}");
    }
    let good = env.play("agent-js", &script(&[text_turn("yes")]), &[]);
    assert!(good.violations("agent-js").is_empty());
}
