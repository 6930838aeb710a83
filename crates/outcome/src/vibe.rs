//! Mapper of `vibe -p --output streaming` or `json`: the entries of a session. No entry ends a run, and none has tokens.

use super::Dialect;
use super::artifacts::{ArtifactChange, write_operation};
use super::calls::Update;
use super::json::{nonempty, number, string, text, texts, time};
use super::session::{Activity, Session};
use super::state::{MapFn, MapResult, Mapper, State, failure_reason};
use super::types::CallStatus;
use serde_json::Value;

pub(super) const MAPPER: Mapper = Mapper {
    dialect: Dialect::Vibe,
    program: "vibe",
    agent: "mistral-vibe",
    formats: ["streaming", "json"],
    is_head: |kind, entry| {
        let role = entry.and_then(|entry| text(entry, "/role"));
        matches!(kind, "checkpoint" | "notice") || kind == "message" && role != Some("assistant")
    },
    map: MapFn::Values { detects, map_event },
    failure_reason,
};

fn detects(entry: &Value) -> bool {
    ["sessionId", "turnId", "generationStatus"].iter().all(|key| entry.get(key).is_some())
}

fn map_event(state: &mut State, entry: &Value) -> MapResult {
    if !detects(entry) {
        return MapResult::Unknown;
    }
    let Some(session) = state.session(nonempty(entry, "/sessionId")) else { return MapResult::Ignored };
    let (id, created) = (nonempty(entry, "/id").unwrap_or_default(), time(entry, "/createdAt"));
    session.record_message_time(created);
    session.record_message_time(time(entry, "/updatedAt"));
    match (text(entry, "/type"), text(entry, "/role")) {
        (Some("message"), Some("assistant")) => {
            session.begin_step(id, created);
            session.add_text(&texts(entry, "/content").unwrap_or_default());
            session.activity = Activity::Idle;
            session.error = None;
            if text(entry, "/outcome/type") == Some("discarded") {
                let cause = text(entry, "/outcome/cause").unwrap_or("discarded");
                session.fail(None, &format!("the agent stopped with reason \"{cause}\""));
            }
        }
        (Some("message"), Some("user")) => {
            session.activity = Activity::Busy;
            session.add_user_message(id, &texts(entry, "/content").unwrap_or_default(), created);
        }
        (Some("reasoning"), _) => session.add_reasoning(text(entry, "/text").unwrap_or_default()),
        (Some("effect"), _) => effect(session, entry, id, created),
        (Some(_), _) => return MapResult::Ignored,
        (None, _) => return MapResult::Unknown,
    }
    MapResult::Understood
}

fn effect(session: &mut Session, entry: &Value, id: &str, created: Option<f64>) {
    session.activity = Activity::Busy;
    session.begin_step_after_calls(created);
    let status = match text(entry, "/state/status") {
        Some("completed") => CallStatus::Completed,
        _ => CallStatus::Error,
    };
    let operation = entry.pointer("/state/output/fileExisted").and_then(Value::as_bool).map(write_operation);
    let path = string(entry, "/state/output/filePath").or(string(entry, "/detail/input/filePath"));
    let writes =
        text(entry, "/detail/kind").is_some_and(|kind| kind.starts_with("file_") && kind != "file_read");
    let size = text(entry, "/state/output/content").map(|content| content.len() as u64);
    let change = path.filter(|_| writes).map(|path| ArtifactChange::of_file(path, operation, size));
    session.update_call(Update {
        id,
        name: nonempty(entry, "/detail/toolName"),
        status: Some(status),
        start: created,
        end: number(entry, "/updatedAt"),
        input: entry.pointer("/detail/input").cloned(),
        output: string(entry, "/state/outputText"),
        file_changes: change.into_iter().collect(),
        ..Update::default()
    });
}
