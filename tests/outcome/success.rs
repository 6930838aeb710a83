//! What is a success, and what is none.

use super::{assistant, event, lines, of, session, text, tool, with};
use agentnative_outcome::OutcomeOptions;
use serde_json::{Value, json};

fn status(kind: &str) -> Value {
    event("session.status", json!({ "sessionID": "s", "status": { "type": kind } }))
}

#[test]
fn a_run_that_nothing_speaks_against_is_a_success() {
    let outcome = of(&[
        status("busy"),
        text("m", "p", "x"),
        status("idle"),
        event("session.idle", json!({ "sessionID": "s" })),
    ]);
    assert_eq!(outcome["success"], true);
    assert!(outcome.get("error").is_none());
}

#[test]
fn a_stream_in_which_nothing_was_understood_is_no_success() {
    let empty: [&str; 0] = [];
    let cases: [(Vec<&str>, &str); 6] = [
        (empty.to_vec(), "no known event: the stream is empty"),
        (vec!["", "  "], "no known event: the stream is empty"),
        (
            vec!["Error: no such model"],
            "no known event in 1 line; line 1 is skipped: expected a JSON value, found `Error`",
        ),
        (vec![r#"{"type":"thread.begun"}"#], "no known event in 1 line: the types are unknown"),
        (
            vec!["{}", "[]", "1"],
            "no known event in 3 lines; line 2 is skipped: expected an object, found an array",
        ),
        (
            vec![r#"{"type":"server.connected","properties":{}}"#],
            "no known event in 1 line: the types are unknown",
        ),
    ];
    for (stream, error) in cases {
        let outcome = lines(&stream);
        assert_eq!(outcome["success"], false, "{stream:?}");
        assert_eq!(outcome["error"], error, "{stream:?}");
    }
}

#[test]
fn a_stream_that_ends_at_work_is_no_success() {
    for (events, error) in [
        (vec![status("busy")], "the stream ends while the agent is working"),
        (vec![status("idle"), status("busy")], "the stream ends while the agent is working"),
        (vec![status("retry")], "the stream ends while the agent is working"),
        (vec![tool("c", "bash", json!({ "status": "running" }))], "the stream ends while a tool is running"),
    ] {
        let outcome = of(&events);
        assert_eq!(outcome["success"], false);
        assert_eq!(outcome["error"], error);
    }
    let nothing = lines(&[session("s").to_string()]);
    assert_eq!(nothing["error"], "the stream contains no activity of the agent");
    assert_eq!(nothing["session_id"], "s");
}

#[test]
fn an_answer_that_was_cut_short_is_no_success() {
    for reason in ["length", "content-filter", "error"] {
        let outcome = of(&[assistant("m", json!({ "finish": reason }))]);
        assert_eq!(outcome["error"], format!("the agent stopped with reason \"{reason}\""));
    }
    for reason in ["stop", "tool-calls"] {
        assert_eq!(of(&[assistant("m", json!({ "finish": reason }))])["success"], true);
    }
}

#[test]
fn a_refused_permission_that_ended_the_run_is_no_success() {
    let refused =
        event("permission.replied", json!({ "sessionID": "s", "permissionID": "p", "response": "reject" }));
    let outcome = of(&[assistant("m", json!({ "finish": "tool-calls" })), refused.clone()]);
    assert_eq!(outcome["success"], false);
    // It went on another way.
    let outcome = of(&[
        assistant("m", json!({ "finish": "tool-calls" })),
        refused,
        assistant("m2", json!({ "finish": "stop" })),
    ]);
    assert_eq!(outcome["success"], true);
    assert_eq!(outcome["requires_approval"], true);
}

#[test]
fn the_error_of_an_older_message_is_not_the_runs() {
    let error = json!({ "error": { "name": "E", "data": { "message": "once" } } });
    assert_eq!(of(&[assistant("m", error.clone()), assistant("m2", json!({}))])["success"], true);
    assert_eq!(of(&[assistant("m2", error)])["success"], false);
}

#[test]
fn the_exit_code_overrides() {
    let exit = |code, more: &[Value]| {
        let events = [&[session("s"), assistant("m", json!({}))][..], more].concat();
        with(OutcomeOptions { exit_code: Some(code), ..OutcomeOptions::default() }, &events)
    };
    assert_eq!(exit(0, &[])["success"], true);
    assert_eq!(exit(3, &[])["success"], false);
    assert_eq!(exit(3, &[])["error"], "the program exited with 3");
    assert_eq!(exit(-9, &[])["success"], false);
    // A 0 makes no success of a failure, and what the agent says itself is the error.
    let error = event("session.error", json!({ "error": { "name": "E", "message": "its own words" } }));
    assert_eq!(exit(0, std::slice::from_ref(&error))["success"], false);
    assert_eq!(exit(1, &[error])["error"], "its own words");
    let none = with(OutcomeOptions { exit_code: Some(1), ..OutcomeOptions::default() }, &[]);
    assert_eq!(none["error"], "no known event: the stream is empty; the program exited with 1");
}
