//! Mapper of `pi --mode json`: messages, and the execution of tools.

use super::Dialect;
use super::artifacts::file_changes;
use super::calls::Update;
use super::json::{items, nonempty, number, string, text, texts, time};
use super::session::{Activity, Session};
use super::state::{MapFn, MapResult, Mapper, State, failure_reason};
use super::types::CallStatus;
use super::usage::Usage;
use serde_json::Value;

pub(super) const MAPPER: Mapper = Mapper {
    dialect: Dialect::Pi,
    program: "pi",
    agent: "pi",
    formats: ["json"; 2],
    is_head: |kind, _| kind == "session",
    map: MapFn::Values {
        detects: |event| match text(event, "/type") {
            Some("session") => event.get("version").is_some(),
            Some("agent_start" | "turn_start" | "agent_settled") => true,
            Some("message_end") => event.pointer("/message/role").is_some(),
            _ => false,
        },
        map_event,
    },
    failure_reason,
};

fn map_event(state: &mut State, event: &Value) -> MapResult {
    let kind = text(event, "/type").unwrap_or_default();
    let id = nonempty(event, "/id").filter(|_| kind == "session");
    let Some(session) = state.session(id) else { return MapResult::Ignored };
    match kind {
        "session" => session.record_message_time(time(event, "/timestamp")),
        "agent_start" => session.activity = Activity::Busy,
        "agent_end" => session.activity = Activity::Idle,
        "auto_retry_start" => session.add_retry(nonempty(event, "/errorMessage"), number(event, "/attempt")),
        "message_end" => message(session, event),
        "tool_execution_start" | "tool_execution_end" => execution(session, event, kind),
        "turn_start" | "auto_retry_end" | "agent_settled" | "entry_appended" => return MapResult::Ignored,
        _ => return MapResult::Unknown,
    }
    MapResult::Understood
}

fn message(session: &mut Session, event: &Value) {
    let now = time(event, "/message/timestamp");
    session.record_message_time(now);
    let event_number = session.event.to_string();
    match text(event, "/message/role") {
        Some("user") => {
            session.add_user_message(
                &event_number,
                &texts(event, "/message/content").unwrap_or_default(),
                now,
            );
        }
        Some("assistant") => assistant(session, event, &event_number, now),
        _ => {}
    }
}

fn assistant(session: &mut Session, event: &Value, id: &str, now: Option<f64>) {
    session.begin_step(id, now);
    session.answer = texts(event, "/message/content").filter(|answer| !answer.is_empty());
    for block in items(event, "/message/content") {
        match text(block, "/type") {
            Some("text") => session.add_text(text(block, "/text").unwrap_or_default()),
            Some("thinking") => session.add_reasoning(text(block, "/thinking").unwrap_or_default()),
            Some("toolCall") => {
                let (tool, input) = (nonempty(block, "/name"), block.get("arguments"));
                let (id, file_changes) =
                    (nonempty(block, "/id").unwrap_or_default(), file_changes(tool, input));
                let input = input.cloned();
                session.update_call(Update {
                    id,
                    is_new_call: true,
                    name: tool,
                    input,
                    file_changes,
                    ..Update::default()
                });
            }
            _ => {}
        }
    }
    let used = |key: &str| number(event, &format!("/message/usage/{key}"));
    let usage = Usage {
        input: used("input"),
        output: used("output"),
        reasoning: used("reasoning"),
        cache_read: used("cacheRead"),
        cache_write: used("cacheWrite"),
        cost: used("cost/total"),
    };
    session.add_request(&usage.without_reasoning_output());
    session.assistant.model = string(event, "/message/model").or(session.assistant.model.take());
    session.assistant.provider = string(event, "/message/provider").or(session.assistant.provider.take());
    match text(event, "/message/stopReason") {
        Some(reason @ ("error" | "aborted")) => {
            let fallback = format!("the agent stopped with reason \"{reason}\"");
            session.fail(None, text(event, "/message/errorMessage").unwrap_or(&fallback));
        }
        _ => session.error = None,
    }
}

fn execution(session: &mut Session, event: &Value, kind: &str) {
    let failed = event.get("isError") == Some(&Value::Bool(true));
    let status = if failed { CallStatus::Error } else { CallStatus::Completed };
    let (id, tool) = (nonempty(event, "/toolCallId").unwrap_or_default(), nonempty(event, "/toolName"));
    session.update_call(Update {
        id,
        name: tool,
        status: (kind == "tool_execution_end").then_some(status),
        output: texts(event, "/result/content"),
        ..Update::default()
    });
}
