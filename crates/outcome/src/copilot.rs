//! Mapper of `copilot --output-format json`: events with their data, then a result. It reports no tokens.

use super::Dialect;
use super::artifacts::file_changes;
use super::calls::Update;
use super::json::{nonempty, number, string, text, time};
use super::session::{Activity, Session};
use super::state::{MapFn, MapResult, Mapper, State, failure_reason};
use super::types::CallStatus;
use serde_json::Value;

pub(super) const MAPPER: Mapper = Mapper {
    dialect: Dialect::Copilot,
    program: "copilot",
    agent: "copilot-cli",
    formats: ["json"; 2],
    is_head: |kind, _| kind.starts_with("session."),
    map: MapFn::Values { detects, map_event },
    failure_reason,
};

fn detects(event: &Value) -> bool {
    match text(event, "/type") {
        Some("result") => event.get("exitCode").is_some() && event.get("sessionId").is_some(),
        _ => event.get("data").is_some() && event.get("parentId").is_some(),
    }
}

fn map_event(state: &mut State, event: &Value) -> MapResult {
    if !detects(event) {
        return MapResult::Unknown;
    }
    let Some(session) = state.session(nonempty(event, "/sessionId")) else { return MapResult::Ignored };
    let now = time(event, "/timestamp");
    session.record_message_time(now);
    let is_main_agent = event.get("agentId").is_none();
    match text(event, "/type").unwrap_or_default() {
        "user.message" if is_main_agent => {
            session.activity = Activity::Busy;
            let content = text(event, "/data/content").unwrap_or_default();
            session.add_user_message(nonempty(event, "/id").unwrap_or_default(), content, now);
        }
        "assistant.turn_start" if is_main_agent => {
            session.steps = Some(session.steps.unwrap_or(0.0) + 1.0);
            session.begin_step(nonempty(event, "/id").unwrap_or_default(), now);
        }
        "assistant.message_delta" if is_main_agent => {
            session.append_text(text(event, "/data/deltaContent").unwrap_or_default());
        }
        "assistant.message" if is_main_agent => session.answer = string(event, "/data/content"),
        "assistant.message_start" if is_main_agent => {
            session.texts.set_last_message(nonempty(event, "/data/messageId").unwrap_or_default());
        }
        "assistant.turn_retry" => session.add_retry(nonempty(event, "/data/reason"), None),
        "tool.execution_start" => call(session, event, now, None),
        "tool.execution_complete" => {
            let succeeded = event.pointer("/data/success") == Some(&Value::Bool(true));
            call(
                session,
                event,
                now,
                Some(if succeeded { CallStatus::Completed } else { CallStatus::Error }),
            );
        }
        "session.error" => {
            session
                .fail(string(event, "/data/errorType"), text(event, "/data/message").unwrap_or("an error"));
        }
        "result" => result(session, event),
        kind if kind.contains('.') => return MapResult::Ignored,
        _ => return MapResult::Unknown,
    }
    MapResult::Understood
}

fn call(session: &mut Session, event: &Value, now: Option<f64>, status: Option<CallStatus>) {
    let (tool, input) = (nonempty(event, "/data/toolName"), event.pointer("/data/arguments"));
    let id = nonempty(event, "/data/toolCallId").unwrap_or_default();
    session.update_call(Update {
        name: tool,
        input: input.cloned(),
        output: string(event, "/data/result/content").or(string(event, "/data/error/message")),
        file_changes: file_changes(tool, input),
        ..Update::begin_or_end(id, now, status)
    });
}

fn result(session: &mut Session, event: &Value) {
    session.activity = Activity::Idle;
    session.duration = number(event, "/usage/sessionDurationMs");
    match number(event, "/exitCode") {
        Some(0.0) => session.recover(),
        code if session.error.is_none() => {
            session.fail(None, &format!("the agent exited with {}", code.unwrap_or(1.0)));
        }
        _ => {}
    }
}
