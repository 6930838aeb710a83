//! Success and failure of runs.

use super::{assistant, event, outcome_of, outcome_of_lines, outcome_with, session, text, tool};
use agentnative_outcome::{Dialect, OutcomeOptions, outcome};
use serde_json::{Value, json};

fn status(kind: &str) -> Value {
    event("session.status", json!({ "sessionID": "s", "status": { "type": kind } }))
}

#[test]
fn a_run_without_signs_of_failure_is_a_success() {
    let outcome = outcome_of(&[
        status("busy"),
        text("m", "p", "x"),
        status("idle"),
        event("session.idle", json!({ "sessionID": "s" })),
    ]);
    assert_eq!(outcome["success"], true);
    assert!(outcome.get("error").is_none());
}

#[test]
fn a_stream_without_known_events_is_an_error() {
    let empty: [&str; 0] = [];
    let cases: [(Vec<&str>, &str); 6] = [
        (empty.to_vec(), "no known event: the stream is empty"),
        (vec!["", "  "], "no known event: the stream is empty"),
        (
            vec!["Error: no such model"],
            "no known event in 1 line; line 1 is skipped: expected a JSON value, found `Error`",
        ),
        (vec![r#"{"type":"thread.begun"}"#], "no known event in 1 line: the event types are unknown"),
        (
            vec!["{}", "[]", "1"],
            "no known event in 3 lines; line 2 is skipped: expected an object, found an array",
        ),
        (
            vec![r#"{"type":"server.connected","properties":{}}"#],
            "no known event in 1 line: the event types are unknown",
        ),
    ];
    for (stream, error) in cases {
        assert_eq!(outcome(&stream).unwrap_err().to_string(), error, "{stream:?}");
    }
}

#[test]
fn a_stream_that_ends_during_work_is_a_failure() {
    for (events, error) in [
        (vec![status("busy")], "the stream ends while the agent is working"),
        (vec![status("idle"), status("busy")], "the stream ends while the agent is working"),
        (vec![status("retry")], "the stream ends while the agent is working"),
        (vec![tool("c", "bash", json!({ "status": "running" }))], "the stream ends while a tool is running"),
    ] {
        let outcome = outcome_of(&events);
        assert_eq!(outcome["success"], false);
        assert_eq!(outcome["error"], error);
    }
    let nothing = outcome_of_lines(&[session("s").to_string()]);
    assert_eq!(nothing["error"], "the stream contains no activity of the agent");
    assert_eq!(nothing["session_id"], "s");
}

#[test]
fn a_truncated_answer_is_a_failure() {
    for reason in ["length", "content-filter", "error"] {
        let outcome = outcome_of(&[assistant("m", json!({ "finish": reason }))]);
        assert_eq!(outcome["error"], format!("the agent stopped with reason \"{reason}\""));
    }
    for reason in ["stop", "tool-calls"] {
        assert_eq!(outcome_of(&[assistant("m", json!({ "finish": reason }))])["success"], true);
    }
}

#[test]
fn a_rejected_permission_that_ends_the_run_is_a_failure() {
    let rejected =
        event("permission.replied", json!({ "sessionID": "s", "permissionID": "p", "response": "reject" }));
    let outcome = outcome_of(&[assistant("m", json!({ "finish": "tool-calls" })), rejected.clone()]);
    assert_eq!(outcome["success"], false);
    // The agent continued in another way.
    let outcome = outcome_of(&[
        assistant("m", json!({ "finish": "tool-calls" })),
        rejected,
        assistant("m2", json!({ "finish": "stop" })),
    ]);
    assert_eq!(outcome["success"], true);
    assert_eq!(outcome["requires_approval"], true);
}

#[test]
fn the_error_of_an_older_message_does_not_fail_the_run() {
    let error = json!({ "error": { "name": "E", "data": { "message": "once" } } });
    assert_eq!(outcome_of(&[assistant("m", error.clone()), assistant("m2", json!({}))])["success"], true);
    assert_eq!(outcome_of(&[assistant("m2", error)])["success"], false);
}

#[test]
fn the_exit_code_can_make_a_success_a_failure() {
    let exit = |code, more: &[Value]| {
        let events = [&[session("s"), assistant("m", json!({}))][..], more].concat();
        outcome_with(OutcomeOptions { exit_code: Some(code), ..OutcomeOptions::default() }, &events)
    };
    assert_eq!(exit(0, &[])["success"], true);
    assert_eq!(exit(3, &[])["success"], false);
    assert_eq!(exit(3, &[])["error"], "the program exited with 3");
    assert_eq!(exit(-9, &[])["success"], false);
    // Exit code 0 does not make a failure a success, and an error of the agent precedes that of the exit code.
    let error = event("session.error", json!({ "error": { "name": "E", "message": "its own words" } }));
    assert_eq!(exit(0, std::slice::from_ref(&error))["success"], false);
    assert_eq!(exit(1, &[error])["error"], "its own words");
    // A declared agent that printed nothing failed.
    let declared = OutcomeOptions { dialect: Dialect::Pi, exit_code: Some(1), ..OutcomeOptions::default() };
    let none = outcome_with(declared, &[]);
    assert_eq!(none["error"], "no known event: the stream is empty; the program exited with 1");
}
