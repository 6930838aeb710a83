//! Every field in the documents of the contracts.

use crate::support::{CONTRACTS, TestEnv, script, tool_turn};
use serde_json::{Value, json};

fn keys(value: &Value) -> Vec<&str> {
    let mut keys: Vec<&str> = value.as_object().unwrap().keys().map(String::as_str).collect();
    keys.sort_unstable();
    keys
}

fn turns() -> Value {
    script(&[
        tool_turn("list_files", json!({})),
        json!({"text": "  two files \n", "usage": {"input": 3, "output": 4}}),
    ])
}

#[test]
fn the_first_query_of_a_new_user_works_offline_in_every_contract() {
    let env = TestEnv::new();
    env.file("hello.txt", "hello");
    for contract in CONTRACTS {
        let output = env.run(["--contract", contract, "list the files here"]);
        output.assert_conforms(contract);
        assert_eq!(output.code, 0);
        assert!(output.stdout.contains("hello.txt"), "{contract}");
    }
    for (query, answer) in [
        ("list the files here", "hello.txt"),
        ("read hello.txt", "hello"),
        ("search hel+o in hello.txt", "hello.txt:1: hello"),
        ("what is (2 + 3) * 4?", "(2 + 3) * 4 = 20"),
        ("write \"a line\" to new.txt", "Wrote 7 bytes to new.txt."),
        ("read absent.txt", "That did not work. Error: absent.txt does not exist"),
    ] {
        let output = env.run(["--raw", query]);
        assert_eq!((output.code, output.stdout.trim_end()), (0, answer), "{query}");
    }
    assert_eq!(env.read("new.txt"), "a line\n");
    assert!(env.run(["hello?"]).stdout.contains("offline"));
}

#[test]
fn dexter_flat_success_has_all_fields() {
    let env = TestEnv::new();
    let output = env.play("dexter-flat", &turns(), &["--model", "theirs"]);
    let document = output.document();
    let expected =
        ["answer", "duration", "iterations", "model", "query", "success", "tokenUsage", "toolCalls"];
    assert_eq!(keys(&document), expected);
    assert_eq!((&document["success"], &document["answer"]), (&true.into(), &"two files".into()));
    assert_eq!((&document["model"], &document["iterations"]), (&"theirs".into(), &2.into()));
    let call = &document["toolCalls"][0];
    assert_eq!(keys(call), ["args", "result", "tool"]);
    assert!(call["args"].is_object() && call["result"].is_string());
    assert_eq!((output.code, output.stderr.as_str(), output.stdout.lines().count()), (0, "", 1));
}

#[test]
fn dexter_nested_success_has_all_fields_and_names_its_scratchpad() {
    let env = TestEnv::new();
    let output = env.play("dexter-nested", &turns(), &[]);
    let document = output.document();
    assert_eq!(keys(&document), ["answer", "metadata", "query", "scratchpadFile", "status", "tools"]);
    assert_eq!(keys(&document["metadata"]), ["iterations", "model", "tokenUsage", "totalTimeMs"]);
    assert_eq!(keys(&document["tools"][0]), ["args", "name", "result"]);
    // One line on stdout, and diagnostics on stderr unless quiet.
    assert_eq!((output.stdout.lines().count(), output.stderr.as_str()), (1, "[tool] list_files\n"));
    assert_eq!(env.play("dexter-nested", &turns(), &["--quiet"]).stderr, "");
    // The scratchpad has one JSON object per line.
    let scratchpad = env.read(document["scratchpadFile"].as_str().unwrap());
    let lines: Vec<Value> = scratchpad.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let types: Vec<&str> = lines.iter().map(|line| line["type"].as_str().unwrap()).collect();
    assert_eq!(types, ["init", "start", "tool_result", "answer"]);
    assert!(lines.iter().all(|line| line["timestamp"].is_string()));

    let fail = script(&[tool_turn("list_files", json!({})), json!({"fail": {"kind": "request"}})]);
    let error = env.play("dexter-nested", &fail, &[]).document();
    assert_eq!(keys(&error), ["answer", "error", "metadata", "query", "scratchpadFile", "status", "tools"]);
    assert_eq!((&error["status"], &error["answer"]), (&"error".into(), &"".into()));
    assert_eq!(keys(&error["error"]), ["code", "message"]);
    assert!(env.read(error["scratchpadFile"].as_str().unwrap()).contains("\"type\":\"error\""));
}

#[test]
fn the_scratchpad_is_in_the_workspace_only_if_the_contract_requires_it() {
    let env = TestEnv::new();
    for contract in ["dexter-flat", "dexter-nested"] {
        env.play(contract, &turns(), &[]);
    }
    assert_eq!(std::fs::read_dir(env.work().join(".dexter/scratchpad")).unwrap().count(), 2);
    std::fs::remove_dir_all(env.work().join(".dexter")).unwrap();
    env.play("agent-js", &turns(), &[]);
    let (_, native) = env.json(&turns(), &[]);
    let scratchpad = native["data"]["scratchpad"].as_str().unwrap();
    assert!(scratchpad.starts_with(env.outside("home").to_str().unwrap()), "{scratchpad}");
    assert_eq!(std::fs::read_dir(env.work()).unwrap().count(), 0, "the project was littered");
    // A link out of the workspace is not followed. The contract requires the file, so this is an error.
    std::os::unix::fs::symlink(env.outside("home"), env.work().join(".dexter")).unwrap();
    let output = env.play("dexter-nested", &turns(), &[]);
    assert_eq!((output.code, &output.document()["error"]["code"]), (1, &"AGENT_ERROR".into()));
}

#[test]
fn agent_js_success_has_seventeen_keys() {
    let env = TestEnv::new();
    let document = env.play("agent-js", &turns(), &[]).document();
    let mut expected = vec![
        "ok",
        "provider",
        "model",
        "profile",
        "status",
        "mode",
        "approvalMode",
        "toolsMode",
        "toolsEnabled",
        "toolsFallbackUsed",
        "health",
        "termination",
        "attachments",
        "usage",
        "message",
        "toolCalls",
        "timingMs",
    ];
    expected.sort_unstable();
    assert_eq!(keys(&document), expected);
    assert_eq!((&document["ok"], &document["status"]), (&true.into(), &"completed".into()));
    assert_eq!((&document["model"], &document["provider"]), (&"scripted/offline".into(), &"scripted".into()));
    assert_eq!(document["termination"], json!({"reason": "completed", "maxToolTurns": 10, "turnsUsed": 2}));
    let call = &document["toolCalls"][0];
    assert_eq!(keys(call), ["error", "input", "meta", "ok", "result", "tool"]);
    assert_eq!((&call["ok"], &call["error"]), (&true.into(), &Value::Null));
    assert_eq!(keys(&call["meta"]), ["duration_ms", "ts"]);
    let time = call["meta"]["ts"].as_str().unwrap();
    assert!(time.len() == 24 && time.ends_with('Z') && time.as_bytes()[10] == b'T', "{time}");
}

#[test]
fn every_failure_of_agent_js_has_ok_error_and_code() {
    let env = TestEnv::new();
    let before = env.run(["--contract", "agent-js"]).document();
    assert_eq!(keys(&before), ["code", "error", "ok"]);
    let during = env.play("agent-js", &script(&[json!({"fail": {"kind": "request"}})]), &[]).document();
    assert_eq!(keys(&during).len(), 19);
    for document in [before, during] {
        assert_eq!(document["ok"], false);
        assert!(document["error"].is_string() && document["code"].is_string());
    }
}

#[test]
fn native_output() {
    let env = TestEnv::new();
    let (output, document) = env.json(&turns(), &[]);
    assert_eq!((output.code, output.stderr.as_str()), (0, ""));
    assert_eq!(keys(&document), ["command", "data", "ok"]);
    output.assert_conforms("p2-envelope");
    let steps = document["data"]["steps"].as_array().unwrap();
    assert_eq!(steps.last().unwrap()["answer"], document["data"]["answer"]);
    // A failure: the document on stdout, the error on stderr.
    let (output, document) = env.json(&script(&[json!({"fail": {"kind": "request"}})]), &[]);
    assert_eq!((output.code, &document["ok"]), (1, &false.into()));
    output.error();
}
