//! Mapper of `codex exec --json`: items of a thread; before 0.44 also messages of its protocol.

use super::Dialect;
use super::arithmetic::clamp_finite;
use super::artifacts::ArtifactChange;
use super::calls::Update;
use super::json::{at, items, nonempty, number, parse, string, text, texts};
use super::session::{Activity, Session};
use super::state::{MapFn, MapResult, Mapper, State, failure_reason};
use super::types::{CallStatus, Operation};
use super::usage::Usage;
use serde_json::json;
use strict_json::{JsonType, Tape, TapeNode};

pub(super) const MAPPER: Mapper = Mapper {
    dialect: Dialect::Codex,
    program: "codex",
    agent: "codex",
    formats: ["json"; 2],
    map: MapFn::Values {
        is_head: |kind| matches!(kind, "thread.started" | "session.created" | ""),
        detects,
        map_event,
    },
    failure_reason,
};

fn detects(event: TapeNode<'_>) -> bool {
    match text(event, "/type") {
        Some("session.created") => at(event, "/session_id").is_some(),
        Some(kind) => ["thread.", "turn.", "item."].iter().any(|prefix| kind.starts_with(prefix)),
        None => is_legacy(event),
    }
}

/// True if the event is one of codex 0.42 or earlier: the configuration, the prompt, or a message of the protocol.
fn is_legacy(event: TapeNode<'_>) -> bool {
    ["/sandbox", "/prompt", "/msg/type"]
        .iter()
        .any(|key| at(event, key).is_some_and(|value| value.has_type(JsonType::String)))
}

fn map_event(state: &mut State, event: TapeNode<'_>) -> MapResult {
    if at(event, "/type").is_none() && !is_legacy(event) {
        return MapResult::Unknown;
    }
    let id = nonempty(event, "/thread_id").or(nonempty(event, "/session_id"));
    let Some(session) = state.session(id) else { return MapResult::Ignored };
    match text(event, "/type") {
        Some("thread.started") => {}
        Some("session.created") if at(event, "/session_id").is_some() => session.activity = Activity::Busy,
        Some("turn.started") => session.activity = Activity::Busy,
        Some("turn.completed") => {
            session.activity = Activity::Idle;
            session.usage = usage(at(event, "/usage"));
            session.recover();
        }
        Some("turn.failed") => {
            session.activity = Activity::Idle;
            fail(session, text(event, "/error/message"));
        }
        Some("error") => {
            session.recover();
            fail(session, text(event, "/message"));
        }
        Some("item.started" | "item.updated" | "item.completed") => match at(event, "/item") {
            Some(payload) => item(session, payload, text(event, "/type") == Some("item.completed")),
            None => return MapResult::Missing("an item"),
        },
        Some(_) => return MapResult::Unknown,
        None => legacy_event(session, event),
    }
    MapResult::Understood
}

/// Sets the error of the session. If the message contains the error of the provider as JSON, the error has its type.
fn fail(session: &mut Session, message: Option<&str>) {
    let message = message.unwrap_or("the turn failed");
    let object = message.find('{').and_then(|start| parse(&message[start..]));
    let object = object.as_ref().and_then(Tape::root);
    let kind = object.and_then(|object| string(object, "/error/type").or(string(object, "/type")));
    session.fail(kind, message);
}

/// Returns the activity after an event, for streams in which no event ends a turn. After an answer, the session is
/// idle, because a complete run ends with an answer.
const fn activity_without_turns(answers: bool) -> Activity {
    if answers { Activity::Idle } else { Activity::Busy }
}

fn item(session: &mut Session, item: TapeNode<'_>, completed: bool) {
    let kind = nonempty(item, "/type").or(nonempty(item, "/item_type")).unwrap_or_default();
    let answers = matches!(kind, "agent_message" | "assistant_message");
    if at(item, "/item_type").is_some() {
        session.activity = activity_without_turns(answers);
    }
    match kind {
        _ if answers && completed => {
            session.begin_step_after_calls(None);
            session.answer = string(item, "/text");
            session.add_text(text(item, "/text").unwrap_or_default());
        }
        "reasoning" if completed => {
            session.begin_step_after_calls(None);
            session.add_reasoning(text(item, "/text").unwrap_or_default());
        }
        "error" if completed => session.warnings.add(text(item, "/message").unwrap_or("an error")),
        "command_execution" | "mcp_tool_call" | "collab_tool_call" | "file_change" | "web_search" => {
            call(session, item, kind, completed)
        }
        _ => {}
    }
}

fn call(session: &mut Session, item: TapeNode<'_>, kind: &str, completed: bool) {
    let status = match text(item, "/status") {
        Some("failed") => Some(CallStatus::Error),
        Some("declined") => Some(CallStatus::Cancelled),
        Some("in_progress") => None,
        _ => completed.then_some(CallStatus::Completed),
    };
    let id = nonempty(item, "/id").unwrap_or_default();
    if !session.calls.knows(id) {
        session.begin_step_after_calls(None);
    }
    let tool = nonempty(item, "/tool").map(|tool| match nonempty(item, "/server") {
        Some(server) => format!("{server}.{tool}"),
        None => tool.to_owned(),
    });
    let (input, output) = match kind {
        "command_execution" => (
            json!({ "command": at(item, "/command").map(TapeNode::to_value) }),
            string(item, "/aggregated_output"),
        ),
        "file_change" => (json!({ "changes": at(item, "/changes").map(TapeNode::to_value) }), None),
        "web_search" => (json!({ "query": at(item, "/query").map(TapeNode::to_value) }), None),
        "collab_tool_call" => (json!({ "prompt": at(item, "/prompt").map(TapeNode::to_value) }), None),
        _ => {
            let output = texts(item, "/result/content").or(string(item, "/error/message"));
            (at(item, "/arguments").map(TapeNode::to_value).unwrap_or_else(|| json!({})), output)
        }
    };
    let file_changes = items(item, "/changes").filter_map(artifact_change).collect();
    let name = Some(tool.as_deref().unwrap_or(kind));
    session.update_call(Update {
        id,
        name,
        status,
        input: Some(input),
        output,
        file_changes,
        ..Update::default()
    });
}

fn artifact_change(change: TapeNode<'_>) -> Option<ArtifactChange> {
    let operation = match text(change, "/kind")? {
        "add" => Operation::Created,
        "delete" => Operation::Deleted,
        _ => Operation::Modified,
    };
    let path = string(change, "/path")?;
    Some(ArtifactChange::of_file(path, Some(operation), None))
}

fn usage(usage: Option<TapeNode<'_>>) -> Usage {
    let tokens = |key: &str| number(usage?, key);
    let usage = Usage {
        input: tokens("/input_tokens"),
        output: tokens("/output_tokens"),
        reasoning: tokens("/reasoning_output_tokens"),
        cache_read: tokens("/cached_input_tokens"),
        cache_write: tokens("/cache_write_input_tokens"),
        cost: None,
    };
    usage.without_cached_input().without_reasoning_output()
}

fn legacy_event(session: &mut Session, event: TapeNode<'_>) {
    session.assistant.model = string(event, "/model").or(session.assistant.model.take());
    session.assistant.provider = string(event, "/provider").or(session.assistant.provider.take());
    if let Some(prompt) = text(event, "/prompt") {
        session.add_user_message("", prompt, None);
    }
    let id = nonempty(event, "/msg/call_id").unwrap_or_default();
    match text(event, "/msg/type") {
        Some("error") => fail(session, text(event, "/msg/message")),
        Some("task_started") => session.activity = Activity::Busy,
        Some("agent_message") => {
            session.activity = activity_without_turns(true);
            session.begin_step_after_calls(None);
            session.answer = string(event, "/msg/message");
            session.add_text(text(event, "/msg/message").unwrap_or_default());
        }
        Some("token_count") if at(event, "/msg/info/total_token_usage").is_some() => {
            session.usage = usage(at(event, "/msg/info/total_token_usage"));
        }
        Some("exec_command_begin") => {
            session.activity = activity_without_turns(false);
            session.begin_step_after_calls(None);
            let input = Some(json!({ "command": at(event, "/msg/command").map(TapeNode::to_value) }));
            session.update_call(Update {
                id,
                is_new_call: true,
                name: Some("command_execution"),
                input,
                ..Update::default()
            });
        }
        Some("exec_command_end") => {
            let succeeded = number(event, "/msg/exit_code") == Some(0.0);
            let status = Some(if succeeded { CallStatus::Completed } else { CallStatus::Error });
            let seconds = number(event, "/msg/duration/secs").unwrap_or(0.0);
            let end =
                number(event, "/msg/duration/nanos").map(|nanos| clamp_finite(seconds * 1e3 + nanos / 1e6));
            let output = string(event, "/msg/aggregated_output");
            session.end_call_with_duration(Update { id, status, output, ..Update::default() }, end);
        }
        _ => {}
    }
}
