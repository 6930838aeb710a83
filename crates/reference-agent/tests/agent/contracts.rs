//! The documents of the contracts: every field of the contracts.

use crate::support::{CONTRACTS, Place, asks, script};
use serde_json::{Value, json};

fn keys(value: &Value) -> Vec<&str> {
    let mut keys: Vec<&str> = value.as_object().unwrap().keys().map(String::as_str).collect();
    keys.sort_unstable();
    keys
}

fn turns() -> Value {
    script(&[
        asks("list_files", json!({})),
        json!({"text": "  two files \n", "usage": {"input": 3, "output": 4}}),
    ])
}

#[test]
fn the_first_query_of_a_new_user_works_offline_in_every_contract() {
    let place = Place::new();
    place.file("hello.txt", "hello");
    for contract in CONTRACTS {
        let ran = place.run(["--contract", contract, "list the files here"]);
        ran.keeps(contract);
        assert_eq!(ran.code, 0);
        assert!(ran.stdout.contains("hello.txt"), "{contract}");
    }
    for (query, answer) in [
        ("list the files here", "hello.txt"),
        ("read hello.txt", "hello"),
        ("search hel+o in hello.txt", "hello.txt:1: hello"),
        ("what is (2 + 3) * 4?", "(2 + 3) * 4 = 20"),
        ("write \"a line\" to new.txt", "Wrote 7 bytes to new.txt."),
        ("read absent.txt", "That did not work. Error: absent.txt does not exist"),
    ] {
        let ran = place.run(["--raw", query]);
        assert_eq!((ran.code, ran.stdout.trim_end()), (0, answer), "{query}");
    }
    assert_eq!(place.read("new.txt"), "a line\n");
    assert!(place.run(["hello?"]).stdout.contains("offline"));
}

#[test]
fn dexter_flat_success_has_the_fields_of_seed_000() {
    let place = Place::new();
    let ran = place.play("dexter-flat", &turns(), &["--model", "theirs"]);
    let document = ran.document();
    let expected =
        ["answer", "duration", "iterations", "model", "query", "success", "tokenUsage", "toolCalls"];
    assert_eq!(keys(&document), expected);
    assert_eq!((&document["success"], &document["answer"]), (&true.into(), &"two files".into()));
    assert_eq!((&document["model"], &document["iterations"]), (&"theirs".into(), &2.into()));
    let call = &document["toolCalls"][0];
    assert_eq!(keys(call), ["args", "result", "tool"]);
    assert!(call["args"].is_object() && call["result"].is_string());
    assert_eq!((ran.code, ran.stderr.as_str(), ran.stdout.lines().count()), (0, "", 1));
}

#[test]
fn dexter_nested_success_has_the_fields_of_r4_and_names_its_scratchpad() {
    let place = Place::new();
    let ran = place.play("dexter-nested", &turns(), &[]);
    let document = ran.document();
    assert_eq!(keys(&document), ["answer", "metadata", "query", "scratchpadFile", "status", "tools"]);
    assert_eq!(keys(&document["metadata"]), ["iterations", "model", "tokenUsage", "totalTimeMs"]);
    assert_eq!(keys(&document["tools"][0]), ["args", "name", "result"]);
    // One line on standard output, diagnostics on standard error (R8), unless quiet.
    assert_eq!((ran.stdout.lines().count(), ran.stderr.as_str()), (1, "[tool] list_files\n"));
    assert_eq!(place.play("dexter-nested", &turns(), &["--quiet"]).stderr, "");
    // R5: the file is there, a JSON object a line.
    let scratchpad = place.read(document["scratchpadFile"].as_str().unwrap());
    let lines: Vec<Value> = scratchpad.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let types: Vec<&str> = lines.iter().map(|line| line["type"].as_str().unwrap()).collect();
    assert_eq!(types, ["init", "start", "tool_result", "answer"]);
    assert!(lines.iter().all(|line| line["timestamp"].is_string()));

    let fail = script(&[asks("list_files", json!({})), json!({"fail": {"kind": "request"}})]);
    let error = place.play("dexter-nested", &fail, &[]).document();
    assert_eq!(keys(&error), ["answer", "error", "metadata", "query", "scratchpadFile", "status", "tools"]);
    assert_eq!((&error["status"], &error["answer"]), (&"error".into(), &"".into()));
    assert_eq!(keys(&error["error"]), ["code", "message"]);
    assert!(place.read(error["scratchpadFile"].as_str().unwrap()).contains("\"type\":\"error\""));
}

#[test]
fn the_scratchpad_stays_in_the_workspace_and_out_of_everybody_elses() {
    let place = Place::new();
    for contract in ["dexter-flat", "dexter-nested"] {
        place.play(contract, &turns(), &[]);
    }
    assert_eq!(std::fs::read_dir(place.work().join(".dexter/scratchpad")).unwrap().count(), 2);
    std::fs::remove_dir_all(place.work().join(".dexter")).unwrap();
    place.play("agent-js", &turns(), &[]);
    let (_, own) = place.json(&turns(), &[]);
    let scratchpad = own["data"]["scratchpad"].as_str().unwrap();
    assert!(scratchpad.starts_with(place.outside("home").to_str().unwrap()), "{scratchpad}");
    assert_eq!(std::fs::read_dir(place.work()).unwrap().count(), 0, "the project was littered");
    // A link out of the workspace is not followed; the contract promises the file, so it is an error.
    std::os::unix::fs::symlink(place.outside("home"), place.work().join(".dexter")).unwrap();
    let ran = place.play("dexter-nested", &turns(), &[]);
    assert_eq!((ran.code, &ran.document()["error"]["code"]), (1, &"AGENT_ERROR".into()));
}

#[test]
fn agent_js_success_has_the_seventeen_keys_of_seed_001() {
    let place = Place::new();
    let document = place.play("agent-js", &turns(), &[]).document();
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
    let place = Place::new();
    let before = place.run(["--contract", "agent-js"]).document();
    assert_eq!(keys(&before), ["code", "error", "ok"]);
    let during = place.play("agent-js", &script(&[json!({"fail": {"kind": "request"}})]), &[]).document();
    assert_eq!(keys(&during).len(), 19);
    for document in [before, during] {
        assert_eq!(document["ok"], false);
        assert!(document["error"].is_string() && document["code"].is_string());
    }
}

#[test]
fn the_agents_own_shapes() {
    let place = Place::new();
    let (ran, document) = place.json(&turns(), &[]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    assert_eq!(keys(&document), ["command", "data", "ok"]);
    ran.keeps("p2-envelope");
    let steps = document["data"]["steps"].as_array().unwrap();
    assert_eq!(steps.last().unwrap()["answer"], document["data"]["answer"]);
    // A failure: the report on standard output, the error on standard error.
    let (ran, document) = place.json(&script(&[json!({"fail": {"kind": "request"}})]), &[]);
    assert_eq!((ran.code, &document["ok"]), (1, &false.into()));
    ran.error();
}
