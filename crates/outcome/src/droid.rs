//! Mapper of `droid exec`: a stream of messages and calls with a completion at its end, or one result.

use super::Dialect;
use super::artifacts::file_changes;
use super::calls::Update;
use super::json::{nonempty, number, string, text, time};
use super::session::{Activity, Session};
use super::state::{MapFn, MapResult, Mapper, State, failure_reason};
use super::types::CallStatus;
use super::usage::Usage;
use serde_json::Value;

pub(super) const MAPPER: Mapper = Mapper {
    dialect: Dialect::Droid,
    program: "droid",
    agent: "droid",
    formats: ["stream-json", "json"],
    is_head: |kind, _| matches!(kind, "system" | "result"),
    map: MapFn::Values { detects, map_event },
    failure_reason,
};

fn detects(event: &Value) -> bool {
    let has = |key: &str| event.get(key).is_some();
    match text(event, "/type") {
        Some("system") => text(event, "/subtype") == Some("init") && has("reasoning_effort"),
        Some("result") => event.pointer("/usage/factory_credits").is_some(),
        Some("message") => has("text") && has("session_id"),
        Some("tool_call" | "tool_result") => has("toolId") && has("session_id"),
        Some("completion" | "error") => has("timestamp") && has("session_id"),
        _ => false,
    }
}

fn map_event(state: &mut State, event: &Value) -> MapResult {
    if !detects(event) {
        return MapResult::Unknown;
    }
    let Some(session) = state.session(nonempty(event, "/session_id")) else { return MapResult::Ignored };
    let now = time(event, "/timestamp");
    session.record_message_time(now);
    match text(event, "/type") {
        Some("system") => {
            session.assistant.model = string(event, "/model");
            session.activity = Activity::Busy;
        }
        Some("message") if text(event, "/role") == Some("user") => {
            session.add_user_message(
                &session.event.to_string(),
                text(event, "/text").unwrap_or_default(),
                now,
            );
        }
        Some("message") => {
            session.begin_step(nonempty(event, "/id").unwrap_or_default(), now);
            session.add_text(text(event, "/text").unwrap_or_default());
        }
        Some("tool_call") => call(session, event, now, None),
        Some("tool_result") => {
            let failed = event.get("isError") == Some(&Value::Bool(true));
            call(session, event, now, Some(if failed { CallStatus::Error } else { CallStatus::Completed }));
        }
        // The error of the program follows that of the agent.
        Some("error") if session.error.is_none() => {
            session.activity = Activity::Idle;
            session.fail(None, text(event, "/message").unwrap_or("an error"));
        }
        Some("error") => {}
        Some("completion") => end(session, event, ["/finalText", "/numTurns", "/durationMs"]),
        Some("result") => {
            end(session, event, ["/result", "/num_turns", "/duration_ms"]);
            session.hidden_call_count = Some(None);
            if event.get("is_error") == Some(&Value::Bool(true)) {
                session.fail(None, text(event, "/result").unwrap_or("the result is an error"));
            }
            state.is_document = true;
        }
        _ => return MapResult::Unknown,
    }
    MapResult::Understood
}

fn call(session: &mut Session, event: &Value, now: Option<f64>, status: Option<CallStatus>) {
    let (tool, input) = (nonempty(event, "/toolName"), event.get("parameters"));
    let id = nonempty(event, "/id").unwrap_or_default();
    session.update_call(Update {
        name: tool,
        input: input.cloned(),
        output: string(event, "/value").or(string(event, "/error/message")),
        file_changes: file_changes(tool, input),
        ..Update::begin_or_end(id, now, status)
    });
}

/// Handles the end of a run. `pointers` are those of the answer, the number of turns and the duration.
fn end(session: &mut Session, event: &Value, [answer, turns, duration]: [&str; 3]) {
    session.activity = Activity::Idle;
    session.answer = string(event, answer);
    session.steps = number(event, turns);
    session.duration = number(event, duration);
    let tokens = |key: &str| number(event, &format!("/usage/{key}"));
    session.usage = Usage {
        input: tokens("input_tokens"),
        output: tokens("output_tokens"),
        cache_read: tokens("cache_read_input_tokens"),
        cache_write: tokens("cache_creation_input_tokens"),
        ..Usage::default()
    };
}
