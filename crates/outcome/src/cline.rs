//! Mapper of `cline --json`: events of an agent, then the result of the run.

use super::Dialect;
use super::artifacts::file_changes;
use super::calls::Update;
use super::json::{nonempty, number, string, text, time};
use super::session::{Activity, Session, error_line};
use super::state::{MapFn, MapResult, Mapper, State, failure_reason};
use super::types::CallStatus;
use super::usage::Usage;
use serde_json::Value;

pub(super) const MAPPER: Mapper = Mapper {
    dialect: Dialect::Cline,
    program: "cline",
    agent: "cline-cli",
    formats: ["json"; 2],
    is_head: |kind, _| matches!(kind, "hook_event" | "error"),
    map: MapFn::Values { detects: |event| event.get("ts").is_some() && is_event(event), map_event },
    failure_reason,
};

fn is_event(event: &Value) -> bool {
    matches!(text(event, "/type"), Some("hook_event" | "agent_event" | "run_result" | "error"))
}

fn map_event(state: &mut State, event: &Value) -> MapResult {
    if !is_event(event) {
        return MapResult::Unknown;
    }
    // All events belong to the first task.
    let id = nonempty(event, "/taskId").filter(|_| event.get("parentAgentId").is_none_or(Value::is_null));
    let Some(session) = state.session(id) else { return MapResult::Ignored };
    let now = time(event, "/ts");
    session.record_time(now);
    match text(event, "/type") {
        Some("error") => error(session, text(event, "/message").unwrap_or("an error")),
        Some("run_result") => result(session, event, now),
        Some("agent_event") => agent_event(session, event, now),
        _ => {}
    }
    session.start = session.start.or(now);
    MapResult::Understood
}

/// Handles an error event. Its message becomes the error of the run; if the run has another error or has ended, it
/// becomes a warning.
fn error(session: &mut Session, message: &str) {
    match &session.error {
        None if session.activity != Activity::Idle => session.fail(None, message),
        Some(error) if error_line(error) == message => {}
        _ => session.warnings.add(message),
    }
}

fn agent_event(session: &mut Session, event: &Value, now: Option<f64>) {
    let tool = text(event, "/event/contentType") == Some("tool");
    match text(event, "/event/type") {
        Some("iteration_start") => {
            session.activity = Activity::Busy;
            session.begin_step(&session.event.to_string(), now);
        }
        Some("content_start") if tool => call(session, event, now, None),
        Some("content_end") if tool => {
            let failed = event.pointer("/event/error").is_some_and(|error| !error.is_null());
            call(session, event, now, Some(if failed { CallStatus::Error } else { CallStatus::Completed }));
        }
        Some("content_end") => {
            let content = text(event, "/event/text").unwrap_or_default();
            match text(event, "/event/contentType") {
                Some("text") => session.add_text(content),
                _ => session.add_reasoning(content),
            }
        }
        Some("usage") => {
            let used = |key: &str| number(event, &format!("/event/{key}"));
            session.add_request(&usage(&used, used("cost")));
        }
        _ => {}
    }
}

fn call(session: &mut Session, event: &Value, now: Option<f64>, status: Option<CallStatus>) {
    let (tool, input) = (nonempty(event, "/event/toolName"), event.pointer("/event/input"));
    let output = event.pointer("/event/output");
    let output = output.map(|output| output.as_str().map_or_else(|| output.to_string(), str::to_owned));
    let id = nonempty(event, "/event/toolCallId").unwrap_or_default();
    session.update_call(Update {
        name: tool,
        input: input.cloned(),
        output: output.or(string(event, "/event/error")),
        file_changes: file_changes(tool, input),
        ..Update::begin_or_end(id, now, status)
    });
}

fn result(session: &mut Session, event: &Value, now: Option<f64>) {
    session.activity = Activity::Idle;
    session.assistant.completed = now;
    session.duration = number(event, "/durationMs");
    session.steps = number(event, "/iterations");
    // The usage of the run contains that of subagents.
    let of_run = if event.get("aggregateUsage").is_some() { "/aggregateUsage" } else { "/usage" };
    let used = |key: &str| number(event, &format!("{of_run}/{key}"));
    session.usage = usage(&used, used("totalCost"));
    session.assistant.model = string(event, "/model/id");
    session.assistant.provider = string(event, "/model/provider");
    session.answer = string(event, "/text");
    match text(event, "/finishReason") {
        Some("completed") => session.recover(),
        reason => {
            let fallback = format!("the agent stopped with reason \"{}\"", reason.unwrap_or_default());
            session.fail(None, nonempty(event, "/text").unwrap_or(&fallback));
        }
    }
}

fn usage(used: &impl Fn(&str) -> Option<f64>, cost: Option<f64>) -> Usage {
    let usage = Usage {
        input: used("inputTokens"),
        output: used("outputTokens"),
        reasoning: None,
        cache_read: used("cacheReadTokens"),
        cache_write: used("cacheWriteTokens"),
        cost,
    };
    usage.without_cached_input()
}
