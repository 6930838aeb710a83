//! Streams with several sessions, and without sessions.

use super::{event, outcome_of_lines, session, text};
use agentnative_outcome::{Collector, OutcomeOptions};
use serde_json::{Value, json};

fn outcome_of(events: &[Value]) -> Value {
    outcome_of_lines(&events.iter().map(Value::to_string).collect::<Vec<_>>())
}

/// Moves an event to another session.
fn in_session(id: &str, mut event: Value) -> Value {
    let properties = event["properties"].as_object_mut().unwrap();
    for place in ["info", "part"] {
        if let Some(place) = properties.get_mut(place) {
            place["sessionID"] = id.into();
        }
    }
    if properties.contains_key("sessionID") {
        properties["sessionID"] = id.into();
    }
    event
}

fn child(id: &str, parent: &str) -> Value {
    event("session.created", json!({ "info": { "id": id, "parentID": parent } }))
}

fn answer(id: &str, message: &str, says: &str) -> [Value; 2] {
    let text = text(message, &format!("part of {message}"), says);
    [in_session(id, super::assistant(message, json!({ "cost": 1 }))), in_session(id, text)]
}

fn call(id: &str, name: &str, path: &str) -> Value {
    let state =
        json!({ "status": "completed", "input": { "filePath": path }, "metadata": { "exists": false } });
    in_session(id, super::tool("c", name, state))
}

#[test]
fn the_main_session_is_the_parent() {
    let parent =
        [&[session("parent")][..], &answer("parent", "mp", "The parent's."), &[call("parent", "task", "")]]
            .concat();
    let sub = [
        &[child("sub", "parent")][..],
        &answer("sub", "ms", "The child's."),
        &[call("sub", "write", "/by-child")],
    ]
    .concat();
    // The order of the sessions does not matter.
    for events in [[parent.clone(), sub.clone()].concat(), [sub, parent].concat()] {
        let outcome = outcome_of(&events);
        assert_eq!(outcome["session_id"], "parent");
        assert_eq!(outcome["message"], "The parent's.");
        assert_eq!(outcome["tool_calls"].as_array().unwrap().len(), 1);
        assert_eq!(outcome["tool_calls"][0]["name"], "task");
        // Files of the child session are artifacts of the run.
        assert_eq!(
            outcome["artifacts"],
            json!([{ "path": "/by-child", "operation": "created", "type": "file" }])
        );
    }
}

#[test]
fn an_error_of_a_child_session_does_not_fail_the_run_and_its_open_permission_counts() {
    let events = [
        &[session("p")][..],
        &answer("p", "mp", "Done."),
        &[
            child("c", "p"),
            event("session.error", json!({ "sessionID": "c", "error": { "name": "E" } })),
            event("permission.asked", json!({ "sessionID": "c", "id": "x", "permission": "edit" })),
        ],
    ]
    .concat();
    let outcome = outcome_of(&events);
    assert_eq!(outcome["success"], true);
    assert_eq!(outcome["warnings"], json!(["Permission required: edit"]));
    assert_eq!(outcome["requires_approval"], true);
}

#[test]
fn an_unrelated_session_is_ignored() {
    let events = [
        &[session("one")][..],
        &answer("one", "m1", "Mine."),
        &[session("two")],
        &answer("two", "m2", "Not mine."),
        &[
            call("two", "write", "/not-mine"),
            event("session.error", json!({ "sessionID": "two", "error": "no" })),
        ],
    ]
    .concat();
    let outcome = outcome_of(&events);
    assert_eq!((&outcome["session_id"], &outcome["message"]), (&json!("one"), &json!("Mine.")));
    assert!(outcome.get("artifacts").is_none());
    assert_eq!(outcome["success"], true);
}

#[test]
fn cyclic_parents_are_resolved() {
    let events =
        [&[child("a", "b"), child("b", "a"), child("self", "self")][..], &answer("a", "m", "x")].concat();
    assert!(outcome_of(&events)["session_id"].is_string());
}

#[test]
fn events_without_a_session_belong_to_the_first_one() {
    let info = json!({ "id": "m", "role": "assistant" });
    let part = json!({ "id": "p", "messageID": "m", "type": "text", "text": "x" });
    let nameless = [event("message.updated", json!({ "info": info })), super::part(part)];
    assert_eq!(outcome_of(&nameless)["message"], "x");
    assert!(outcome_of(&nameless).get("session_id").is_none());
    for events in [[&[session("s")][..], &nameless].concat(), [&nameless[..], &[session("s")]].concat()] {
        let outcome = outcome_of(&events);
        assert_eq!((&outcome["session_id"], &outcome["message"]), (&json!("s"), &json!("x")));
    }
}

#[test]
fn without_a_session_event_the_first_named_session_is_used() {
    assert_eq!(outcome_of(&answer("named", "m", "x"))["session_id"], "named");
}

/// Retries of a run can be in separate files: the time between them does not count.
#[test]
fn the_time_of_a_session_is_the_sum_over_its_files() {
    let file = |times: &[(u64, u64)]| {
        let message = |(nth, (from, to)): (usize, &(u64, u64))| {
            let time = json!({ "time": { "created": from, "completed": to } });
            super::assistant(&format!("m{from}-{nth}"), time).to_string()
        };
        let created = json!({ "info": { "id": "s", "time": { "created": 1000, "updated": 1000 } } });
        // A continued session repeats the time of its creation.
        let session = event("session.updated", created).to_string();
        std::iter::once(session).chain(times.iter().enumerate().map(message)).collect::<Vec<_>>()
    };
    let total = |files: &[Vec<String>]| {
        let collector = Collector::new(OutcomeOptions::default());
        files.iter().for_each(|file| collector.read_lines(file));
        super::as_json(&collector.outcome().unwrap())["metadata"]["phase_total_duration_ms"].clone()
    };
    let (first, second, third) =
        (file(&[(1100, 1250)]), file(&[(9000, 9100), (9200, 9400)]), file(&[(20_000, 20_050)]));
    assert_eq!(total(std::slice::from_ref(&first)), 250);
    assert_eq!(total(&[first.clone(), second.clone()]), 250 + 400);
    assert_eq!(total(&[first.clone(), second, third]), 250 + 400 + 50);
    // A repeated file, or a file without times, adds nothing.
    assert_eq!(total(&[first.clone(), first.clone()]), 250);
    let silent = vec![text("m1", "p", "x").to_string()];
    assert_eq!(total(&[silent.clone(), first, silent]), 250);
    // Events on stderr belong to the same run.
    let collector = Collector::new(OutcomeOptions::default());
    collector.read_lines(file(&[(1100, 1250)]));
    let late = super::assistant("m2", json!({ "time": { "created": 1400, "completed": 1500 } }));
    collector.read_stderr(format!("oh no\n{late}\n").as_bytes()).unwrap();
    assert_eq!(super::as_json(&collector.outcome().unwrap())["metadata"]["phase_total_duration_ms"], 500);
}

#[test]
fn more_sessions_than_the_limit_give_a_warning() {
    let events: Vec<Value> = (0..1100).map(|number| session(&format!("s{number}"))).collect();
    let outcome = outcome_of(&events);
    assert_eq!(outcome["session_id"], "s0");
    assert!(outcome["warnings"].to_string().contains("more than 1024 sessions"));
}
