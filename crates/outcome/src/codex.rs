//! What `codex exec --json` prints: items of a thread; before 0.44 also messages of its protocol.

use super::Dialect;
use super::arithmetic::finite;
use super::artifacts::Touch;
use super::calls::Update;
use super::json::{items, name, number, owned, text, texts};
use super::session::{Activity, Session};
use super::state::{Cache, EventStream, Events, State, Taken, unfinished};
use super::types::{CallStatus, Operation};
use super::usage::Usage;
use serde_json::{Value, json};

pub(super) const STREAM: EventStream = EventStream {
    dialect: Dialect::Codex,
    agent: "codex",
    cache: Cache::Within,
    events: Events::Values { begins, take },
    unfinished,
};

fn begins(event: &Value) -> bool {
    match text(event, "/type") {
        Some(kind) => {
            kind == "thread.started" || kind == "session.created" && event.get("session_id").is_some()
        }
        None => is_old(event),
    }
}

/// A line of 0.42 and before: the configuration, the prompt, or a message of the protocol.
fn is_old(event: &Value) -> bool {
    ["/sandbox", "/prompt", "/msg/type"].iter().any(|key| event.pointer(key).is_some_and(Value::is_string))
}

fn take(state: &mut State, event: &Value) -> Taken {
    if event.get("type").is_none() && !is_old(event) {
        return Taken::Unknown;
    }
    let id = name(event, "/thread_id").or(name(event, "/session_id"));
    let Some(session) = state.session(id) else { return Taken::Idle };
    match text(event, "/type") {
        Some("thread.started") => {}
        Some("session.created") if event.get("session_id").is_some() => session.activity = Activity::Busy,
        Some("turn.started") => session.activity = Activity::Busy,
        Some("turn.completed") => {
            session.activity = Activity::Idle;
            session.used = usage(event.get("usage"));
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
        Some("item.started" | "item.updated" | "item.completed") => match event.get("item") {
            Some(of) => item(session, of, text(event, "/type") == Some("item.completed")),
            None => return Taken::Lacks("an item"),
        },
        Some(_) => return Taken::Unknown,
        None => old(session, event),
    }
    Taken::Understood
}

/// An error, whose text may have the provider's error in it.
fn fail(session: &mut Session, message: Option<&str>) {
    let message = message.unwrap_or("the turn failed");
    let object = message.find('{').and_then(|start| serde_json::from_str::<Value>(&message[start..]).ok());
    let kind = object.and_then(|object| owned(&object, "/error/type").or(owned(&object, "/type")));
    session.fail(kind, message);
}

/// Where no event ends a turn: what comes last of a run that is complete is an answer.
const fn without_turns(answers: bool) -> Activity {
    if answers { Activity::Idle } else { Activity::Busy }
}

fn item(session: &mut Session, item: &Value, completed: bool) {
    let kind = name(item, "/type").or(name(item, "/item_type")).unwrap_or_default();
    let answers = matches!(kind, "agent_message" | "assistant_message");
    if item.get("item_type").is_some() {
        session.activity = without_turns(answers);
    }
    match kind {
        _ if answers && completed => {
            session.step_behind_calls(None);
            session.answer = owned(item, "/text");
            session.text(text(item, "/text").unwrap_or_default());
        }
        "reasoning" if completed => {
            session.step_behind_calls(None);
            session.reasoning(text(item, "/text").unwrap_or_default());
        }
        "error" if completed => session.warnings.add(text(item, "/message").unwrap_or("an error")),
        "command_execution" | "mcp_tool_call" | "file_change" | "web_search" => {
            call(session, item, kind, completed)
        }
        _ => {}
    }
}

fn call(session: &mut Session, item: &Value, kind: &str, completed: bool) {
    let status = match text(item, "/status") {
        Some("failed") => Some(CallStatus::Error),
        Some("declined") => Some(CallStatus::Cancelled),
        Some("in_progress") => None,
        _ => completed.then_some(CallStatus::Completed),
    };
    let id = name(item, "/id").unwrap_or_default();
    if !session.calls.knows(id) {
        session.step_behind_calls(None);
    }
    let tool =
        name(item, "/server").zip(name(item, "/tool")).map(|(server, tool)| format!("{server}.{tool}"));
    let (input, output) = match kind {
        "command_execution" => (json!({ "command": item.get("command") }), owned(item, "/aggregated_output")),
        "file_change" => (json!({ "changes": item.get("changes") }), None),
        "web_search" => (json!({ "query": item.get("query") }), None),
        _ => {
            let output = texts(item, "/result/content").or(owned(item, "/error/message"));
            (item.get("arguments").cloned().unwrap_or_else(|| json!({})), output)
        }
    };
    let touches = items(item, "/changes").filter_map(change).collect();
    let name = Some(tool.as_deref().unwrap_or(kind));
    session.call(Update { id, name, status, input: Some(input), output, touches, ..Update::default() });
}

fn change(change: &Value) -> Option<Touch> {
    let operation = match text(change, "/kind")? {
        "add" => Operation::Created,
        "delete" => Operation::Deleted,
        _ => Operation::Modified,
    };
    let path = owned(change, "/path")?;
    Some(Touch::of_file(path, Some(operation), None))
}

fn usage(usage: Option<&Value>) -> Usage {
    let tokens = |key: &str| number(usage?, key);
    Usage {
        input: tokens("/input_tokens"),
        output: tokens("/output_tokens"),
        reasoning: tokens("/reasoning_output_tokens"),
        cache_read: tokens("/cached_input_tokens"),
        cache_write: tokens("/cache_write_input_tokens"),
        cost: None,
    }
}

fn old(session: &mut Session, event: &Value) {
    session.assistant.model = owned(event, "/model").or(session.assistant.model.take());
    session.assistant.provider = owned(event, "/provider").or(session.assistant.provider.take());
    if let Some(prompt) = text(event, "/prompt") {
        session.user("", prompt, None);
    }
    let id = name(event, "/msg/call_id").unwrap_or_default();
    match text(event, "/msg/type") {
        Some("error") => fail(session, text(event, "/msg/message")),
        Some("task_started") => session.activity = Activity::Busy,
        Some("agent_message") => {
            session.activity = without_turns(true);
            session.step_behind_calls(None);
            session.answer = owned(event, "/msg/message");
            session.text(text(event, "/msg/message").unwrap_or_default());
        }
        Some("token_count") if event.pointer("/msg/info/total_token_usage").is_some() => {
            session.used = usage(event.pointer("/msg/info/total_token_usage"));
        }
        Some("exec_command_begin") => {
            session.activity = without_turns(false);
            session.step_behind_calls(None);
            let input = Some(json!({ "command": event.pointer("/msg/command") }));
            session.call(Update {
                id,
                begins: true,
                name: Some("command_execution"),
                input,
                ..Update::default()
            });
        }
        Some("exec_command_end") => {
            let succeeded = number(event, "/msg/exit_code") == Some(0.0);
            let status = Some(if succeeded { CallStatus::Completed } else { CallStatus::Error });
            let seconds = number(event, "/msg/duration/secs").unwrap_or(0.0);
            let end = number(event, "/msg/duration/nanos").map(|nanos| finite(seconds * 1e3 + nanos / 1e6));
            let output = owned(event, "/msg/aggregated_output");
            session.call_of_span(Update { id, status, output, ..Update::default() }, end);
        }
        _ => {}
    }
}
