//! Each row of the mapping tables from events to outcomes.

use super::{assistant, event, outcome_of, outcome_of_lines, outcome_with, part, session, text, tool};
use agentnative_outcome::OutcomeOptions;
use serde_json::{Value, json};

const START: u64 = 1_736_236_800_000;
const END: u64 = 1_736_236_860_000;

fn metric_of_message(info: Value, name: &str) -> Value {
    outcome_of(&[assistant("m", info)])["metrics"][name].clone()
}

#[test]
fn session_id_comes_from_a_session_event() {
    assert_eq!(outcome_of(&[])["session_id"], "s");
    let updated = event("session.updated", json!({ "info": { "id": "u" } }));
    assert_eq!(outcome_of_lines(&[updated.to_string()])["session_id"], "u");
}

#[test]
fn times_come_from_the_assistant_message() {
    let time = json!({ "time": { "created": START, "completed": END } });
    assert_eq!(metric_of_message(time.clone(), "start_time_ms"), START);
    assert_eq!(metric_of_message(time.clone(), "end_time_ms"), END);
    assert_eq!(metric_of_message(time, "duration_ms"), END - START);
}

#[test]
fn tokens_used_is_the_sum_of_input_and_output() {
    let tokens =
        json!({ "input": 1000, "output": 500, "reasoning": 7, "cache": { "read": 3, "write": 100 } });
    assert_eq!(metric_of_message(json!({ "tokens": tokens }), "tokens_used"), 1500);
    assert_eq!(metric_of_message(json!({ "tokens": { "input": 3 } }), "tokens_used"), 3);
    assert_eq!(metric_of_message(json!({}), "tokens_used"), Value::Null);
}

#[test]
fn cost_comes_from_the_assistant_message() {
    assert_eq!(metric_of_message(json!({ "cost": 0.01 }), "cost"), 0.01);
    assert_eq!(metric_of_message(json!({ "cost": 0 }), "cost"), 0);
}

#[test]
fn model_name_is_provider_and_model() {
    let both = json!({ "modelID": "claude-sonnet", "providerID": "anthropic" });
    assert_eq!(metric_of_message(both, "model_name"), "anthropic/claude-sonnet");
    let slash = json!({ "modelID": "meta/llama", "providerID": "openrouter" });
    assert_eq!(metric_of_message(slash, "model_name"), "openrouter/meta/llama");
    assert_eq!(
        metric_of_message(json!({ "modelID": "x" }), "model_name"),
        Value::Null,
        "without a provider there is no model name"
    );
}

#[test]
fn error_details_come_from_the_error_of_a_message() {
    let error = json!({ "name": "ApiError", "data": { "message": "Error message", "statusCode": 500, "isRetryable": true } });
    let outcome = outcome_of(&[assistant("m", json!({ "error": error }))]);
    let details =
        json!({ "type": "ApiError", "message": "Error message", "status_code": 500, "is_retryable": true });
    assert_eq!(outcome["error_details"], details);
    assert_eq!(outcome["error"], "Error message");
    assert_eq!(outcome["success"], false);
}

#[test]
fn error_details_come_from_a_session_error() {
    for error in [json!({ "name": "E", "message": "m" }), json!({ "name": "E", "data": { "message": "m" } })]
    {
        let outcome = outcome_of(&[event("session.error", json!({ "sessionID": "s", "error": error }))]);
        assert_eq!(outcome["error_details"], json!({ "type": "E", "message": "m" }));
        assert_eq!(outcome["success"], false);
    }
    // Members with an unexpected type are left out one by one.
    let data = json!({ "message": "m", "statusCode": "500", "isRetryable": false });
    let outcome = outcome_of(&[event("session.error", json!({ "error": { "name": "E", "data": data } }))]);
    assert_eq!(outcome["error_details"], json!({ "type": "E", "message": "m", "is_retryable": false }));
    // An error that is only text, one with only a name, and an empty one.
    for (error, says) in [
        (json!("boom"), "boom"),
        (json!({ "name": "Aborted" }), "Aborted"),
        (json!({}), "the agent reported an error without details"),
    ] {
        let outcome = outcome_of(&[event("session.error", json!({ "error": error }))]);
        assert_eq!(outcome["error"], says);
        assert_eq!(outcome["success"], false);
    }
}

#[test]
fn error_details_contain_the_position_of_the_error() {
    let stack = "Error: no\n    at run (/srv/app/src/a.ts:12:5)\n    at main (/srv/app/b.ts:1:1)";
    let outcome = outcome_of(&[event(
        "session.error",
        json!({ "error": { "name": "E", "data": { "message": "m", "stack": stack } } }),
    )]);
    let details = json!({ "type": "E", "message": "m", "stack_trace": stack, "file_path": "/srv/app/src/a.ts", "line_number": 12 });
    assert_eq!(outcome["error_details"], details);
    let data = json!({ "message": "m", "path": "opencode.json", "line": 3 });
    let outcome =
        outcome_of(&[event("session.error", json!({ "error": { "name": "ConfigError", "data": data } }))]);
    assert_eq!(outcome["error_details"]["file_path"], "opencode.json");
    assert_eq!(outcome["error_details"]["line_number"], 3);
}

#[test]
fn file_parts_are_artifacts() {
    let file = |more: Value| {
        let mut file =
            json!({ "id": "f", "sessionID": "s", "messageID": "m", "type": "file", "mime": "text/plain" });
        file.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        outcome_of(&[part(file)])["artifacts"].clone()
    };
    let source =
        json!({ "type": "file", "path": "/path/to/file", "text": { "value": "x", "start": 0, "end": 1 } });
    let whole =
        json!({ "filename": "filename.txt", "url": "file:///path/to/file", "source": source.clone() });
    let artifact = json!({ "path": "/path/to/file", "type": "file", "source": source });
    assert_eq!(file(whole), json!([artifact]));
    assert_eq!(file(json!({ "url": "file:///a/b" }))[0]["path"], "/a/b");
    assert_eq!(file(json!({ "url": "data:,x", "filename": "c.txt" }))[0]["path"], "c.txt");
    assert_eq!(file(json!({ "filename": "d", "mime": "application/x-directory" }))[0]["type"], "directory");
}

/// The text of a source is a summary; a long one is kept only with `full`.
#[test]
fn a_long_text_of_a_source_is_left_out_unless_everything_is_wanted() {
    let file = |id: &str, source: Value| {
        part(
            json!({ "id": id, "sessionID": "s", "messageID": "m", "type": "file", "url": "file:///a", "source": source }),
        )
    };
    let long = "x".repeat(5000);
    let text = json!({ "value": long, "start": 3, "end": 5003 });
    let events = [session("s"), file("f", json!({ "type": "file", "path": "/a", "text": text.clone() }))];
    let outcome = outcome_with(OutcomeOptions::default(), &events);
    assert_eq!(outcome["artifacts"][0]["source"]["text"], json!({ "start": 3, "end": 5003 }));
    assert_eq!(outcome.get("warnings"), None);
    let full = OutcomeOptions { full: true, ..OutcomeOptions::default() };
    assert_eq!(outcome_with(full, &events)["artifacts"][0]["source"]["text"], text);
    // A later part without a source, and an edit, do not change the source.
    let edited = event("file.edited", json!({ "path": "/a", "diff": { "before": "a", "after": "b" } }));
    let later = [file("f", json!({ "type": "symbol", "path": "/a" })), file("g", Value::Null), edited];
    let outcome = outcome_of(&later);
    assert_eq!(outcome["artifacts"].as_array().unwrap().len(), 1);
    assert_eq!(outcome["artifacts"][0]["source"], json!({ "type": "symbol", "path": "/a" }));
}

#[test]
fn a_file_that_the_user_attached_is_no_artifact() {
    let attached = json!({ "id": "f", "sessionID": "s", "messageID": "u", "type": "file", "filename": "a" });
    assert_eq!(outcome_of(&[super::user("u"), part(attached)])["artifacts"], Value::Null);
}

#[test]
fn artifact_operations_follow_the_evidence() {
    let edited = |diff: Value| {
        let properties = json!({ "path": "/p", "diff": diff });
        outcome_of(&[event("file.edited", properties)])["artifacts"][0].clone()
    };
    let cases = [
        (json!({ "before": "old", "after": "new content" }), "modified", Some(11)),
        (json!({ "before": "", "after": "new" }), "created", Some(3)),
        (json!({ "after": "new é" }), "created", Some(6)),
        (json!({ "before": null, "after": "new" }), "created", Some(3)),
        (json!({ "before": "old", "after": "" }), "deleted", None),
        (json!({ "before": "old" }), "deleted", None),
        (json!({ "before": "", "after": "" }), "created", Some(0)),
        (json!({ "additions": 10, "deletions": 5 }), "", None),
    ];
    for (diff, operation, size) in cases {
        let artifact = edited(diff.clone());
        assert_eq!(artifact["operation"].as_str().unwrap_or_default(), operation, "{diff}");
        assert_eq!(artifact["size"], json!(size), "{diff}");
        assert_eq!(artifact["path"], "/p");
        assert_eq!(artifact["type"], "file");
    }
    // Without a path, the diff names the file; events of the bus have only `file`.
    assert_eq!(
        outcome_of(&[event("file.edited", json!({ "diff": { "file": "a", "after": "x" } }))])["artifacts"][0]
            ["path"],
        "a"
    );
    let bus = outcome_of(&[event("file.edited", json!({ "file": "/b" }))]);
    assert_eq!(bus["artifacts"], json!([{ "path": "/b", "type": "file" }]));
}

#[test]
fn several_edits_of_a_file_are_one_artifact() {
    let edit = |before: &str, after: &str| {
        event("file.edited", json!({ "path": "/p", "diff": { "before": before, "after": after } }))
    };
    let cases = [
        (vec![edit("", "a"), edit("a", "ab")], "created"),
        (vec![edit("", "a"), edit("a", "")], "deleted"),
        (vec![edit("a", "b"), edit("b", "")], "deleted"),
        (vec![edit("a", ""), edit("", "b")], "modified"),
    ];
    for (edits, operation) in cases {
        let outcome = outcome_of(&edits);
        assert_eq!(outcome["artifacts"].as_array().unwrap().len(), 1);
        assert_eq!(outcome["artifacts"][0]["operation"], operation, "{edits:?}");
    }
    // Watcher events refine artifacts of the run, and add none.
    let watched = |event_: &str| event("file.watcher.updated", json!({ "file": "/b", "event": event_ }));
    let edited = event("file.edited", json!({ "file": "/b" }));
    assert_eq!(outcome_of(&[edited.clone(), watched("add")])["artifacts"][0]["operation"], "created");
    assert_eq!(outcome_of(&[edited, watched("unlink")])["artifacts"][0]["operation"], "deleted");
    assert_eq!(outcome_of(&[watched("add")])["artifacts"], Value::Null);
}

#[test]
fn message_is_the_text_of_the_assistant() {
    assert_eq!(outcome_of(&[text("m", "p", "Text content")])["message"], "Text content");
}

#[test]
fn metadata_contains_session_duration_attempt_and_prompt() {
    let options = OutcomeOptions {
        attempt: Some(3),
        initial_prompt: Some("Fix \"it\"\n".into()),
        ..OutcomeOptions::default()
    };
    let time = json!({ "time": { "created": START, "completed": END } });
    let outcome = outcome_with(options, &[session("s"), assistant("m", time)]);
    let metadata = json!({
        "agent": "opencode", "format": "events", "session_id": "s", "phase_total_duration_ms": END - START, "attempt_number": 3, "retry_count": 2,
        "initial_prompt": "Fix \"it\"\n",
    });
    assert_eq!(outcome["metadata"], metadata);
    // Unknown values are absent.
    let metadata =
        json!({ "agent": "opencode", "format": "events", "session_id": "s", "phase_total_duration_ms": 0 });
    assert_eq!(outcome_of(&[])["metadata"], metadata);
}

#[test]
fn tool_calls_contain_name_duration_and_status() {
    let state = json!({ "status": "completed", "input": { "a": 1 }, "output": "o", "time": { "start": 10, "end": 35 } });
    let calls = outcome_of(&[tool("c", "grep", state)])["tool_calls"].clone();
    assert_eq!(calls, json!([{ "name": "grep", "inputs": null, "duration_ms": 25, "status": "completed" }]));
}

#[test]
fn api_calls_count_counts_each_tool_part_once() {
    let outcome = outcome_of(&[
        tool("a", "bash", json!({ "status": "pending" })),
        tool("a", "bash", json!({ "status": "completed" })),
        tool("b", "bash", json!({ "status": "error", "error": "no" })),
    ]);
    assert_eq!(outcome["metrics"]["api_calls_count"], 2);
    assert_eq!(outcome["metrics"]["tool_calls_count"], 2);
}

#[test]
fn retries_are_warnings() {
    let retry = |more: Value| event("session.status", json!({ "sessionID": "s", "status": more }));
    let outcome = outcome_of(&[
        retry(json!({ "type": "retry", "attempt": 2, "message": "Rate limited", "next": START })),
        retry(json!({ "type": "idle" })),
    ]);
    assert_eq!(outcome["warnings"], json!(["Session retry: Rate limited (attempt 2)"]));
    assert_eq!(outcome["success"], true, "the retry worked");
}

#[test]
fn permission_requests_are_warnings() {
    let asked = json!({ "id": "p1", "type": "bash", "pattern": "rm *", "sessionID": "s", "messageID": "m", "title": "Run rm" });
    let asked = event("permission.updated", asked);
    // An update of the same permission is not counted again.
    let outcome = outcome_of(&[asked.clone(), asked.clone()]);
    assert_eq!(outcome["warnings"], json!(["Permission required: Run rm"]));
    assert_eq!(outcome["requires_approval"], true);
    for (response, required) in [("once", false), ("always", false), ("reject", true)] {
        let replied = event(
            "permission.replied",
            json!({ "sessionID": "s", "permissionID": "p1", "response": response }),
        );
        assert_eq!(outcome_of(&[asked.clone(), replied])["requires_approval"], required, "{response}");
    }
    assert_eq!(outcome_of(&[])["requires_approval"], Value::Null);
}

#[test]
fn permission_requests_of_the_bus_are_warnings() {
    let asked = |patterns: Value| {
        let asked = json!({ "id": "p1", "sessionID": "s", "permission": "bash", "patterns": patterns, "metadata": {}, "always": [] });
        event("permission.asked", asked)
    };
    let replied =
        event("permission.replied", json!({ "sessionID": "s", "requestID": "p1", "reply": "once" }));
    let outcome = outcome_of(&[asked(json!(["ls *", "rm *"])), replied]);
    assert_eq!(outcome["warnings"], json!(["Permission required: bash (ls *, rm *)"]));
    assert_eq!(outcome["requires_approval"], false);
    assert_eq!(outcome_of(&[asked(json!([]))])["warnings"], json!(["Permission required: bash"]));
}
