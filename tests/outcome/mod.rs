//! Tests of outcomes from event streams, through the library and the program.

mod agents;
mod captures;
mod contract;
mod follow;
mod mapping;
mod messages;
mod opencode_run;
mod program;
mod robustness;
mod sessions;
mod success;
mod tools;

use agentnative_outcome::{Collector, OutcomeOptions, RunOutcome, outcome};
use serde_json::{Value, json};

/// Outcome, as JSON, of events after a session and an assistant message, so that the agent did something.
fn outcome_of(events: &[Value]) -> Value {
    let begin = [session("s"), assistant("m", json!({}))];
    outcome_of_lines(&begin.iter().chain(events).map(Value::to_string).collect::<Vec<_>>())
}

/// Outcome of lines, as JSON.
fn outcome_of_lines<L: AsRef<[u8]>>(lines: &[L]) -> Value {
    as_json(&outcome(lines).unwrap())
}

/// Outcome of events with options, as JSON.
fn outcome_with(options: OutcomeOptions, events: &[Value]) -> Value {
    let collector = Collector::new(options);
    collector.read_lines(events.iter().map(Value::to_string));
    as_json(&collector.outcome().unwrap())
}

fn as_json(outcome: &RunOutcome) -> Value {
    serde_json::to_value(outcome).unwrap()
}

/// `session.created`.
fn session(id: &str) -> Value {
    let time = json!({ "created": 1_736_236_800_000_u64, "updated": 1_736_236_800_000_u64 });
    event("session.created", json!({ "info": { "id": id, "title": "T", "time": time } }))
}

/// `message.updated` of an assistant in the session `s`, with additional members of its `info`.
fn assistant(id: &str, more: Value) -> Value {
    let mut info = json!({ "id": id, "sessionID": "s", "role": "assistant" });
    info.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    event("message.updated", json!({ "info": info }))
}

/// `message.updated` of a user in the session `s`.
fn user(id: &str) -> Value {
    event("message.updated", json!({ "info": { "id": id, "sessionID": "s", "role": "user" } }))
}

/// A text part.
fn text(message: &str, id: &str, text: impl Into<Value>) -> Value {
    let text = text.into();
    part(json!({ "id": id, "sessionID": "s", "messageID": message, "type": "text", "text": text }))
}

/// A tool part of the message `m` in the session `s`.
fn tool(call: &str, name: &str, state: Value) -> Value {
    let (id, state) = (format!("part of {call}"), state);
    part(
        json!({ "id": id, "sessionID": "s", "messageID": "m", "type": "tool", "callID": call, "tool": name, "state": state }),
    )
}

fn part(part: Value) -> Value {
    event("message.part.updated", json!({ "part": part }))
}

fn event(kind: &str, properties: Value) -> Value {
    json!({ "type": kind, "properties": properties })
}
