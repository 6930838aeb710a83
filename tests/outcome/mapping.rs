//! Each row of the origin's mapping tables.

use super::{assistant, event, lines, of, part, session, text, tool, with};
use agentnative_outcome::OutcomeOptions;
use serde_json::{Value, json};

const START: u64 = 1_736_236_800_000;
const END: u64 = 1_736_236_860_000;

fn metric(info: Value, name: &str) -> Value {
    of(&[assistant("m", info)])["metrics"][name].clone()
}

#[test]
fn row_session_id() {
    assert_eq!(of(&[])["session_id"], "s");
    let updated = event("session.updated", json!({ "info": { "id": "u" } }));
    assert_eq!(lines(&[updated.to_string()])["session_id"], "u");
}

#[test]
fn row_start_and_end_time() {
    let time = json!({ "time": { "created": START, "completed": END } });
    assert_eq!(metric(time.clone(), "start_time_ms"), START);
    assert_eq!(metric(time.clone(), "end_time_ms"), END);
    assert_eq!(metric(time, "duration_ms"), END - START);
}

#[test]
fn row_tokens_used() {
    let tokens =
        json!({ "input": 1000, "output": 500, "reasoning": 7, "cache": { "read": 3, "write": 100 } });
    assert_eq!(metric(json!({ "tokens": tokens }), "tokens_used"), 1500);
    assert_eq!(metric(json!({ "tokens": { "input": 3 } }), "tokens_used"), 3);
    assert_eq!(metric(json!({}), "tokens_used"), Value::Null);
}

#[test]
fn row_cost() {
    assert_eq!(metric(json!({ "cost": 0.01 }), "cost"), 0.01);
    assert_eq!(metric(json!({ "cost": 0 }), "cost"), 0);
}

#[test]
fn row_model_name() {
    let both = json!({ "modelID": "claude-sonnet", "providerID": "anthropic" });
    assert_eq!(metric(both, "model_name"), "anthropic/claude-sonnet");
    let slash = json!({ "modelID": "meta/llama", "providerID": "openrouter" });
    assert_eq!(metric(slash, "model_name"), "openrouter/meta/llama");
    assert_eq!(metric(json!({ "modelID": "x" }), "model_name"), Value::Null, "it would have no provider");
}

#[test]
fn row_error_details_of_a_message() {
    let error = json!({ "name": "ApiError", "data": { "message": "Error message", "statusCode": 500, "isRetryable": true } });
    let outcome = of(&[assistant("m", json!({ "error": error }))]);
    let details =
        json!({ "type": "ApiError", "message": "Error message", "status_code": 500, "is_retryable": true });
    assert_eq!(outcome["error_details"], details);
    assert_eq!(outcome["error"], "Error message");
    assert_eq!(outcome["success"], false);
}

#[test]
fn row_error_details_of_a_session() {
    for error in [json!({ "name": "E", "message": "m" }), json!({ "name": "E", "data": { "message": "m" } })]
    {
        let outcome = of(&[event("session.error", json!({ "sessionID": "s", "error": error }))]);
        assert_eq!(outcome["error_details"], json!({ "type": "E", "message": "m" }));
        assert_eq!(outcome["success"], false);
    }
    // Data of another shape is left out, one by one.
    let data = json!({ "message": "m", "statusCode": "500", "isRetryable": false });
    let outcome = of(&[event("session.error", json!({ "error": { "name": "E", "data": data } }))]);
    assert_eq!(outcome["error_details"], json!({ "type": "E", "message": "m", "is_retryable": false }));
    // An error that is only text, one that has only a name, and one that has nothing.
    for (error, says) in [
        (json!("boom"), "boom"),
        (json!({ "name": "Aborted" }), "Aborted"),
        (json!({}), "the agent reported an error without details"),
    ] {
        let outcome = of(&[event("session.error", json!({ "error": error }))]);
        assert_eq!(outcome["error"], says);
        assert_eq!(outcome["success"], false);
    }
}

#[test]
fn error_details_structure() {
    let stack = "Error: no\n    at run (/srv/app/src/a.ts:12:5)\n    at main (/srv/app/b.ts:1:1)";
    let outcome = of(&[event(
        "session.error",
        json!({ "error": { "name": "E", "data": { "message": "m", "stack": stack } } }),
    )]);
    let details = json!({ "type": "E", "message": "m", "stack_trace": stack, "file_path": "/srv/app/src/a.ts", "line_number": 12 });
    assert_eq!(outcome["error_details"], details);
    let data = json!({ "message": "m", "path": "opencode.json", "line": 3 });
    let outcome = of(&[event("session.error", json!({ "error": { "name": "ConfigError", "data": data } }))]);
    assert_eq!(outcome["error_details"]["file_path"], "opencode.json");
    assert_eq!(outcome["error_details"]["line_number"], 3);
}

#[test]
fn row_artifacts_of_file_parts() {
    let file = |more: Value| {
        let mut file =
            json!({ "id": "f", "sessionID": "s", "messageID": "m", "type": "file", "mime": "text/plain" });
        file.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        of(&[part(file)])["artifacts"].clone()
    };
    let source =
        json!({ "type": "file", "path": "/path/to/file", "text": { "value": "x", "start": 0, "end": 1 } });
    let whole =
        json!({ "filename": "filename.txt", "url": "file:///path/to/file", "source": source.clone() });
    let artifact =
        json!({ "path": "/path/to/file", "operation": "modified", "type": "file", "source": source });
    assert_eq!(file(whole), json!([artifact]));
    assert_eq!(file(json!({ "url": "file:///a/b" }))[0]["path"], "/a/b");
    assert_eq!(file(json!({ "url": "data:,x", "filename": "c.txt" }))[0]["path"], "c.txt");
    assert_eq!(file(json!({ "filename": "d", "mime": "application/x-directory" }))[0]["type"], "directory");
}

/// The text of a source is a summary; a long one is kept only with the inputs and outputs of tools.
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
    let outcome = with(OutcomeOptions::default(), &events);
    assert_eq!(outcome["artifacts"][0]["source"]["text"], json!({ "start": 3, "end": 5003 }));
    assert_eq!(outcome.get("warnings"), None);
    let full = OutcomeOptions { full: true, ..OutcomeOptions::default() };
    assert_eq!(with(full, &events)["artifacts"][0]["source"]["text"], text);
    // A later part without a source, and an edit, leave it as it is.
    let edited = event("file.edited", json!({ "path": "/a", "diff": { "before": "a", "after": "b" } }));
    let later = [file("f", json!({ "type": "symbol", "path": "/a" })), file("g", Value::Null), edited];
    let outcome = of(&later);
    assert_eq!(outcome["artifacts"].as_array().unwrap().len(), 1);
    assert_eq!(outcome["artifacts"][0]["source"], json!({ "type": "symbol", "path": "/a" }));
}

#[test]
fn a_file_that_the_user_attached_is_no_artifact() {
    let attached = json!({ "id": "f", "sessionID": "s", "messageID": "u", "type": "file", "filename": "a" });
    assert_eq!(of(&[super::user("u"), part(attached)])["artifacts"], Value::Null);
}

#[test]
fn artifact_operations_follow_the_evidence() {
    let edited = |diff: Value| {
        let properties = json!({ "path": "/p", "diff": diff });
        of(&[event("file.edited", properties)])["artifacts"][0].clone()
    };
    let cases = [
        (json!({ "before": "old", "after": "new content" }), "modified", Some(11)),
        (json!({ "before": "", "after": "new" }), "created", Some(3)),
        (json!({ "after": "new é" }), "created", Some(6)),
        (json!({ "before": null, "after": "new" }), "created", Some(3)),
        (json!({ "before": "old", "after": "" }), "deleted", None),
        (json!({ "before": "old" }), "deleted", None),
        (json!({ "before": "", "after": "" }), "created", Some(0)),
        (json!({ "additions": 10, "deletions": 5 }), "modified", None),
    ];
    for (diff, operation, size) in cases {
        let artifact = edited(diff.clone());
        assert_eq!(artifact["operation"], operation, "{diff}");
        assert_eq!(artifact["size"], json!(size), "{diff}");
        assert_eq!(artifact["path"], "/p");
        assert_eq!(artifact["type"], "file");
    }
    // Without a path, the diff names the file; the bus has neither diff nor path, but `file`.
    assert_eq!(
        of(&[event("file.edited", json!({ "diff": { "file": "a", "after": "x" } }))])["artifacts"][0]["path"],
        "a"
    );
    let bus = of(&[event("file.edited", json!({ "file": "/b" }))]);
    assert_eq!(bus["artifacts"], json!([{ "path": "/b", "operation": "modified", "type": "file" }]));
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
        let outcome = of(&edits);
        assert_eq!(outcome["artifacts"].as_array().unwrap().len(), 1);
        assert_eq!(outcome["artifacts"][0]["operation"], operation, "{edits:?}");
    }
    // The watcher of the bus has evidence about files of the run, and makes none of its own.
    let watched = |event_: &str| event("file.watcher.updated", json!({ "file": "/b", "event": event_ }));
    let edited = event("file.edited", json!({ "file": "/b" }));
    assert_eq!(of(&[edited.clone(), watched("add")])["artifacts"][0]["operation"], "created");
    assert_eq!(of(&[edited, watched("unlink")])["artifacts"][0]["operation"], "deleted");
    assert_eq!(of(&[watched("add")])["artifacts"], Value::Null);
}

#[test]
fn row_message() {
    assert_eq!(of(&[text("m", "p", "Text content")])["message"], "Text content");
}

#[test]
fn metadata_rows() {
    let options = OutcomeOptions {
        attempt: Some(3),
        initial_prompt: Some("Fix \"it\"\n".into()),
        ..OutcomeOptions::default()
    };
    let time = json!({ "time": { "created": START, "completed": END } });
    let outcome = with(options, &[session("s"), assistant("m", time)]);
    let metadata = json!({
        "session_id": "s", "phase_total_duration_ms": END - START, "attempt_number": 3, "retry_count": 2,
        "initial_prompt": "Fix \"it\"\n",
    });
    assert_eq!(outcome["metadata"], metadata);
    // What was not said is absent.
    assert_eq!(of(&[])["metadata"], json!({ "session_id": "s", "phase_total_duration_ms": 0 }));
}

#[test]
fn row_tool_calls() {
    let state = json!({ "status": "completed", "input": { "a": 1 }, "output": "o", "time": { "start": 10, "end": 35 } });
    let calls = of(&[tool("c", "grep", state)])["tool_calls"].clone();
    assert_eq!(calls, json!([{ "name": "grep", "inputs": null, "duration_ms": 25, "status": "completed" }]));
}

#[test]
fn row_api_calls_count_counts_each_tool_part_once() {
    let outcome = of(&[
        tool("a", "bash", json!({ "status": "pending" })),
        tool("a", "bash", json!({ "status": "completed" })),
        tool("b", "bash", json!({ "status": "error", "error": "no" })),
    ]);
    assert_eq!(outcome["metrics"]["api_calls_count"], 2);
    assert_eq!(outcome["metrics"]["tool_calls_count"], 2);
}

#[test]
fn row_warnings_of_retries() {
    let retry = |more: Value| event("session.status", json!({ "sessionID": "s", "status": more }));
    let outcome = of(&[
        retry(json!({ "type": "retry", "attempt": 2, "message": "Rate limited", "next": START })),
        retry(json!({ "type": "idle" })),
    ]);
    assert_eq!(outcome["warnings"], json!(["Session retry: Rate limited (attempt 2)"]));
    assert_eq!(outcome["success"], true, "the retry worked");
}

#[test]
fn row_warnings_of_permissions() {
    let asked = json!({ "id": "p1", "type": "bash", "pattern": "rm *", "sessionID": "s", "messageID": "m", "title": "Run rm" });
    let asked = event("permission.updated", asked);
    // An update of the same permission is no second one.
    let outcome = of(&[asked.clone(), asked.clone()]);
    assert_eq!(outcome["warnings"], json!(["Permission required: Run rm"]));
    assert_eq!(outcome["requires_approval"], true);
    for (response, required) in [("once", false), ("always", false), ("reject", true)] {
        let replied = event(
            "permission.replied",
            json!({ "sessionID": "s", "permissionID": "p1", "response": response }),
        );
        assert_eq!(of(&[asked.clone(), replied])["requires_approval"], required, "{response}");
    }
    assert_eq!(of(&[])["requires_approval"], Value::Null);
}

#[test]
fn permissions_of_the_bus() {
    let asked = |patterns: Value| {
        let asked = json!({ "id": "p1", "sessionID": "s", "permission": "bash", "patterns": patterns, "metadata": {}, "always": [] });
        event("permission.asked", asked)
    };
    let replied =
        event("permission.replied", json!({ "sessionID": "s", "requestID": "p1", "reply": "once" }));
    let outcome = of(&[asked(json!(["ls *", "rm *"])), replied]);
    assert_eq!(outcome["warnings"], json!(["Permission required: bash (ls *, rm *)"]));
    assert_eq!(outcome["requires_approval"], false);
    assert_eq!(of(&[asked(json!([]))])["warnings"], json!(["Permission required: bash"]));
}
