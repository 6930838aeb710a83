//! Mapper of Gemini CLI: a stream with a result at its end, or one document.

use super::Dialect;
use super::artifacts::file_changes;
use super::calls::Update;
use super::json::{nonempty, number, only_key, string, sum_members, text, time};
use super::session::{Activity, Session};
use super::state::{MapFn, MapResult, Mapper, State, failure_reason};
use super::types::CallStatus;
use super::usage::Usage;
use serde_json::Value;

pub(super) const MAPPER: Mapper = Mapper {
    dialect: Dialect::Gemini,
    program: "gemini",
    agent: "gemini-cli",
    formats: ["stream-json", "json"],
    is_head: |kind, _| matches!(kind, "init" | ""),
    map: MapFn::Values { detects, map_event },
    failure_reason,
};

fn detects(event: &Value) -> bool {
    let has = |key: &str| event.get(key).is_some();
    match text(event, "/type") {
        Some("init") => has("session_id"),
        Some("message") => text(event, "/content").is_some() && has("role"),
        Some("tool_use" | "tool_result") => has("tool_id"),
        Some("result") => has("status") && has("stats"),
        Some(_) => false,
        None => has("session_id") && ["response", "error", "stats"].iter().any(|key| has(key)),
    }
}

fn map_event(state: &mut State, event: &Value) -> MapResult {
    let kind = text(event, "/type");
    if kind.is_none() && !detects(event) {
        return MapResult::Unknown;
    }
    let Some(session) = state.session(nonempty(event, "/session_id")) else { return MapResult::Ignored };
    let now = time(event, "/timestamp");
    session.record_time(now);
    match kind {
        None => {
            document(session, event);
            state.is_document = true;
        }
        Some("init") => {
            session.start = session.start.or(now);
            session.activity = Activity::Busy;
        }
        Some("message") => message(session, event, now),
        Some("tool_use" | "tool_result") => call(session, event, now),
        Some("error") => {
            session.recover();
            session.fail(string(event, "/type"), text(event, "/message").unwrap_or("an error"));
            if text(event, "/severity") == Some("warning") {
                session.recover();
            }
        }
        Some("result") => result(session, event, now),
        Some(_) => return MapResult::Unknown,
    }
    MapResult::Understood
}

fn message(session: &mut Session, event: &Value, now: Option<f64>) {
    let content = text(event, "/content").unwrap_or_default();
    if text(event, "/role") == Some("user") {
        session.add_user_message(&session.event.to_string(), content, now);
        return;
    }
    session.begin_step_after_calls(now);
    if event.get("delta") == Some(&Value::Bool(true)) {
        session.append_text(content);
    } else {
        session.add_text(content);
    }
}

fn call(session: &mut Session, event: &Value, now: Option<f64>) {
    let id = nonempty(event, "/tool_id").unwrap_or_default();
    if text(event, "/type") == Some("tool_use") {
        session.begin_step_after_calls(now);
        let (tool, input) = (nonempty(event, "/tool_name"), event.get("parameters"));
        let file_changes = file_changes(tool, input);
        let input = input.cloned();
        session.update_call(Update {
            id,
            is_new_call: true,
            name: tool,
            start: now,
            input,
            file_changes,
            ..Update::default()
        });
    } else {
        let succeeded = text(event, "/status") == Some("success");
        let status = Some(if succeeded { CallStatus::Completed } else { CallStatus::Error });
        let output = string(event, "/output").or(string(event, "/error/message"));
        session.update_call(Update { id, status, end: now, output, ..Update::default() });
        // A text after a call is another answer.
        session.texts.set_last_message(&session.event.to_string());
    }
}

fn result(session: &mut Session, event: &Value, now: Option<f64>) {
    session.activity = Activity::Idle;
    session.assistant.completed = now;
    let usage = Usage {
        input: number(event, "/stats/input_tokens"),
        output: number(event, "/stats/output_tokens"),
        cache_read: number(event, "/stats/cached"),
        ..Usage::default()
    };
    session.usage = usage.without_cached_input();
    set_model(session, event);
    if text(event, "/status") == Some("success") {
        session.recover();
    } else {
        let reported = session.error.as_ref().and_then(|error| error.message.clone());
        let message = text(event, "/error/message").or(reported.as_deref());
        session.fail(string(event, "/error/type"), message.unwrap_or("the result is an error"));
    }
}

fn document(session: &mut Session, event: &Value) {
    session.activity = Activity::Idle;
    session.hidden_call_count = Some(number(event, "/stats/tools/totalCalls"));
    session.answer = string(event, "/response");
    let tokens = |kind: &str| sum_members(event, "/stats/models", &format!("/tokens/{kind}"));
    let usage = Usage {
        input: tokens("prompt"),
        output: tokens("candidates"),
        reasoning: tokens("thoughts"),
        cache_read: tokens("cached"),
        ..Usage::default()
    };
    let usage = usage.without_cached_input();
    // Some providers count thoughts as candidates; the total tells.
    let has_thoughts = usage.total() > tokens("total");
    session.usage = if has_thoughts { usage.without_reasoning_output() } else { usage };
    session.steps = sum_members(event, "/stats/models", "/api/totalRequests");
    set_model(session, event);
    if event.get("error").is_some_and(|error| !error.is_null()) {
        let message = text(event, "/error/message").unwrap_or("the result is an error");
        session.fail(string(event, "/error/type"), message);
    } else if text(event, "/response").is_none() {
        session.fail(None, "the result has no response");
    }
}

/// Sets the model if exactly one was used, and the provider.
fn set_model(session: &mut Session, event: &Value) {
    session.assistant.model = only_key(event, "/stats/models").cloned();
    session.assistant.provider = Some("google".to_owned());
}
