//! Mapper of `kimi -p --output-format stream-json`: messages as in a chat, with lines about the run between them.

use super::Dialect;
use super::artifacts::file_changes;
use super::calls::Update;
use super::json::{items, nonempty, number, string, text};
use super::session::{Activity, Session};
use super::state::{MapFn, MapResult, Mapper, State, failure_reason};
use super::types::CallStatus;
use serde_json::Value;

pub(super) const MAPPER: Mapper = Mapper {
    dialect: Dialect::Kimi,
    program: "kimi",
    agent: "kimi-code",
    formats: ["stream-json"; 2],
    is_head: |kind, _| kind == "system.version",
    map: MapFn::Values { detects, map_event },
    failure_reason,
};

fn detects(event: &Value) -> bool {
    match text(event, "/role") {
        Some("meta") => true,
        Some("assistant" | "tool") => event.get("type").is_none(),
        _ => false,
    }
}

fn map_event(state: &mut State, event: &Value) -> MapResult {
    if !detects(event) {
        return MapResult::Unknown;
    }
    let Some(session) = state.session(nonempty(event, "/session_id")) else { return MapResult::Ignored };
    match (text(event, "/role"), text(event, "/type")) {
        (Some("meta"), Some("system.version")) => {
            session.version = string(event, "/version");
            session.activity = Activity::Busy;
        }
        (Some("meta"), Some("turn.step.retrying")) => {
            session.add_retry(nonempty(event, "/error_message"), number(event, "/failed_attempt"));
        }
        (Some("meta"), Some("session.resume_hint")) => session.activity = Activity::Idle,
        (Some("assistant"), _) => assistant(session, event),
        (Some("tool"), _) => session.update_call(Update {
            id: nonempty(event, "/tool_call_id").unwrap_or_default(),
            status: Some(CallStatus::Completed),
            output: string(event, "/content"),
            ..Update::default()
        }),
        _ => return MapResult::Ignored,
    }
    MapResult::Understood
}

fn assistant(session: &mut Session, event: &Value) {
    session.activity = Activity::Busy;
    session.begin_step(&session.event.to_string(), None);
    if let Some(content) = text(event, "/content") {
        session.add_text(content);
    }
    for call in items(event, "/tool_calls") {
        let tool = nonempty(call, "/function/name");
        let input = text(call, "/function/arguments").and_then(|input| serde_json::from_str(input).ok());
        session.update_call(Update {
            id: nonempty(call, "/id").unwrap_or_default(),
            is_new_call: true,
            name: tool,
            file_changes: file_changes(tool, input.as_ref()),
            input,
            ..Update::default()
        });
    }
}
