//! Tool calls: number, status, duration, and optional inputs and outputs.

use super::{event, outcome_of, outcome_with, session, tool};
use agentnative_outcome::OutcomeOptions;
use serde_json::{Value, json};

fn state(status: &str, more: Value) -> Value {
    let mut state = json!({ "status": status });
    state.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    tool("c", "bash", state)
}

#[test]
fn a_call_with_five_updates_counts_once() {
    let running = || state("running", json!({ "time": { "start": 5 } }));
    let end = state("completed", json!({ "time": { "start": 5, "end": 9 } }));
    let outcome = outcome_of(&[state("pending", json!({ "raw": "" })), running(), running(), running(), end]);
    let call = json!({ "name": "bash", "inputs": null, "duration_ms": 4, "status": "completed" });
    assert_eq!(outcome["tool_calls"], json!([call]));
}

#[test]
fn each_state_has_its_status() {
    for (given, status) in
        [("completed", "completed"), ("error", "error"), ("pending", "cancelled"), ("running", "cancelled")]
    {
        assert_eq!(outcome_of(&[state(given, json!({}))])["tool_calls"][0]["status"], status, "{given}");
    }
}

#[test]
fn a_late_update_does_not_reopen_a_call() {
    let outcome = outcome_of(&[
        state("completed", json!({ "time": { "start": 1, "end": 2 } })),
        state("running", json!({ "time": { "start": 1 } })),
    ]);
    assert_eq!(outcome["tool_calls"].as_array().unwrap().len(), 1);
    assert_eq!(outcome["tool_calls"][0]["status"], "completed");
    assert_eq!(outcome["success"], true);
}

#[test]
fn equal_ids_in_different_messages_are_different_calls() {
    let of_message = |message: &str| {
        let mut event = state("completed", json!({}));
        event["properties"]["part"]["messageID"] = message.into();
        event
    };
    assert_eq!(
        outcome_of(&[of_message("m"), of_message("m2"), of_message("m2")])["tool_calls"]
            .as_array()
            .unwrap()
            .len(),
        2
    );
}

#[test]
fn a_call_with_missing_or_reversed_times_has_no_duration() {
    for time in [json!({}), json!({ "time": { "start": 1 } }), json!({ "time": { "start": 5, "end": 1 } })] {
        assert!(outcome_of(&[state("completed", time)])["tool_calls"][0].get("duration_ms").is_none());
    }
}

#[test]
fn minimal_logging_keeps_inputs_and_outputs_only_with_full() {
    let input = json!({ "command": "ls", "nested": [1, 2.5, null, { "deep": "x" }], "path": "/p" });
    let events = [
        session("s"),
        tool("a", "bash", json!({ "status": "running", "input": input })),
        tool("a", "bash", json!({ "status": "completed", "input": input, "output": "SECRET OUTPUT" })),
        tool("b", "bash", json!({ "status": "error", "input": "text", "error": "it broke" })),
    ];
    let full = outcome_with(OutcomeOptions { full: true, ..OutcomeOptions::default() }, &events);
    assert_eq!(full["tool_calls"][0]["inputs"], input);
    assert_eq!(full["tool_calls"][0]["outputs"], "SECRET OUTPUT");
    assert_eq!(full["tool_calls"][1]["inputs"], "text");
    assert_eq!(full["tool_calls"][1]["outputs"], "it broke");
    let minimal = outcome_with(OutcomeOptions::default(), &events).to_string();
    assert!(!minimal.contains("SECRET") && !minimal.contains("command"), "{minimal}");
}

#[test]
fn tools_that_edit_files_create_artifacts() {
    let done = |name: &str, input: Value, metadata: Value| {
        let state = json!({ "status": "completed", "input": input, "metadata": metadata });
        outcome_of(&[tool("c", name, state)])["artifacts"].clone()
    };
    let write = |exists: Value| {
        done("write", json!({ "filePath": "/a", "content": "12345" }), json!({ "exists": exists }))[0].clone()
    };
    assert_eq!(
        write(json!(false)),
        json!({ "path": "/a", "operation": "created", "size": 5, "type": "file" })
    );
    assert_eq!(write(json!(true))["operation"], "modified");
    assert_eq!(write(json!(null))["operation"], Value::Null);
    let diff = json!({ "filediff": { "file": "/b", "before": "x", "after": "xy" } });
    assert_eq!(
        done("edit", json!({ "filePath": "/b" }), diff)[0],
        json!({ "path": "/b", "operation": "modified", "size": 2, "type": "file" })
    );
    let files = json!({ "files": [
        { "filePath": "/new", "type": "add" }, { "other": 1 }, { "filePath": "/old", "type": "delete" }, { "filePath": "/x" },
    ] });
    let patched = done("apply_patch", json!({ "patchText": "…" }), files);
    let operations: Vec<_> = patched
        .as_array()
        .unwrap()
        .iter()
        .map(|one| (one["path"].clone(), one["operation"].clone()))
        .collect();
    assert_eq!(json!(operations), json!([["/new", "created"], ["/old", "deleted"], ["/x", null]]));
    // Other tools with paths, and failed calls, change nothing.
    assert_eq!(done("read", json!({ "filePath": "/a" }), json!({})), Value::Null);
    let failed =
        tool("c", "write", json!({ "status": "error", "input": { "filePath": "/a" }, "error": "no" }));
    assert!(outcome_of(&[failed]).get("artifacts").is_none());
    // The tool precedes the event of the bus about the same file.
    let state =
        json!({ "status": "completed", "input": { "filePath": "/a" }, "metadata": { "exists": false } });
    let both = outcome_of(&[event("file.edited", json!({ "file": "/a" })), tool("c", "write", state)]);
    assert_eq!(both["artifacts"], json!([{ "path": "/a", "operation": "created", "type": "file" }]));
}

#[test]
fn troubleshooting_database_bloat_a_session_of_50_mb_gives_an_outcome_under_10_kb() {
    let output = "some output with a \"quote\" and a\nnewline\n".repeat(3000);
    let mut events = vec![session("s"), super::user("u"), super::text("u", "pu", "conversation")];
    for number in 0..80 {
        events.push(super::assistant(&format!("m{number}"), json!({})));
        events.push(super::part(json!({ "id": format!("r{number}"), "sessionID": "s", "messageID": format!("m{number}"), "type": "reasoning", "text": output })));
        let call = format!("call {number}");
        for status in ["pending", "running", "running", "completed"] {
            let state = json!({ "status": status, "input": { "command": output }, "output": output, "metadata": { "output": output } });
            events.push(tool(&call, "bash", state));
        }
        events.push(super::text(
            &format!("m{number}"),
            &format!("t{number}"),
            format!("conversation {number}"),
        ));
    }
    let bytes: usize = events.iter().map(|event| event.to_string().len()).sum();
    assert!(bytes > 50_000_000, "{bytes}");
    let outcome = outcome_with(OutcomeOptions::default(), &events);
    let text = outcome.to_string();
    assert!(text.len() < 10_000, "{}", text.len());
    assert_eq!(outcome["message"], "conversation 79");
    assert_eq!(outcome["metrics"]["tool_calls_count"], 80);
    assert!(!text.contains("some output") && !text.contains("conversation 78"));
}
