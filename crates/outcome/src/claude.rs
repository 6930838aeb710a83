//! What Claude Code prints: messages of the API with their blocks, then a result. Qwen Code has the same form.

use super::Dialect;
use super::artifacts::touches;
use super::calls::Update;
use super::json::{items, name, number, only_key, owned, sum, text, texts};
use super::session::{Activity, Session};
use super::state::{Cache, EventStream, Events, State, Taken, unfinished};
use super::types::{CallStatus, Operation};
use super::usage::Usage;
use serde_json::Value;

pub(super) const STREAM: EventStream = EventStream {
    dialect: Dialect::Claude,
    agent: "claude-code",
    cache: Cache::Apart,
    events: Events::Values {
        begins: |event| begins(event, "/claude_code_version") || is_result(event),
        // The usage of a message is that at its beginning.
        take: |state, event| {
            take(
                state,
                event,
                &Form { version: "/claude_code_version", provider: Some("anthropic"), usage: false },
            )
        },
    },
    unfinished,
};

/// How agents of this form differ.
pub(super) struct Form {
    pub(super) version: &'static str,
    pub(super) provider: Option<&'static str>,
    /// Messages have their usage.
    pub(super) usage: bool,
}

/// Whether it is the first event of an agent whose version has this key.
pub(super) fn begins(event: &Value, version: &str) -> bool {
    text(event, "/subtype") == Some("init") && event.pointer(version).is_some()
}

fn is_result(event: &Value) -> bool {
    text(event, "/type") == Some("result") && event.get("subtype").is_some()
}

pub(super) fn take(state: &mut State, event: &Value, form: &Form) -> Taken {
    let kind = text(event, "/type").unwrap_or_default();
    if !(matches!(kind, "system" | "assistant" | "user") || is_result(event)) {
        return Taken::Unknown;
    }
    let Some(session) = state.session(name(event, "/session_id")) else { return Taken::Idle };
    match (kind, text(event, "/subtype")) {
        ("system", Some("init")) => {
            session.version = owned(event, form.version);
            session.assistant.model = owned(event, "/model");
            session.assistant.provider = form.provider.map(str::to_owned);
            session.steps = session.steps.or(Some(0.0));
            session.activity = Activity::Busy;
        }
        ("system", Some("api_retry")) => {
            session.retry(name(event, "/error"), number(event, "/attempt"));
        }
        ("system", _) => return Taken::Idle,
        ("assistant", _) => assistant(session, event, form),
        ("user", _) => user(session, event),
        _ => result(session, event, form),
    }
    Taken::Understood
}

fn assistant(session: &mut Session, event: &Value, form: &Form) {
    let of_parent = name(event, "/parent_tool_use_id").is_none();
    let id = name(event, "/message/id").unwrap_or_default();
    if of_parent {
        session.activity = Activity::Busy;
        // A message comes in as many events as it has blocks.
        if session.last_finish.as_deref() != Some(id) {
            session.last_finish = Some(id.to_owned());
            session.step(id, None);
            session.steps = Some(session.steps.unwrap_or(0.0) + 1.0);
        }
        if form.usage {
            session.used_in_step(usage(event, "/message/usage"));
        }
    }
    for block in items(event, "/message/content") {
        match text(block, "/type") {
            Some("text") if of_parent => session.text(text(block, "/text").unwrap_or_default()),
            Some("thinking") if of_parent => session.reasoning(text(block, "/thinking").unwrap_or_default()),
            Some("tool_use" | "server_tool_use" | "mcp_tool_use") => {
                let (tool, input) = (name(block, "/name"), block.get("input"));
                session.call(Update {
                    id: name(block, "/id").unwrap_or_default(),
                    begins: true,
                    name: tool,
                    input: input.cloned(),
                    touches: touches(tool, input),
                    ..Update::default()
                });
            }
            _ => {}
        }
    }
}

fn user(session: &mut Session, event: &Value) {
    let of_parent = name(event, "/parent_tool_use_id").is_none();
    // It says what became of a file that was written.
    let operation = match text(event, "/tool_use_result/type") {
        Some("create") => Some(Operation::Created),
        Some("update") => Some(Operation::Modified),
        _ => None,
    };
    let written = operation.zip(owned(event, "/tool_use_result/filePath"));
    if let Some(text) = text(event, "/message/content").filter(|_| of_parent) {
        session.user(&session.event.to_string(), text, None);
    }
    for block in items(event, "/message/content") {
        match (text(block, "/type"), name(block, "/tool_use_id")) {
            (Some("tool_result"), Some(id)) => {
                let failed = block.get("is_error") == Some(&Value::Bool(true));
                // What the model says next is another message, even with an id that comes again.
                session.last_finish = session.last_finish.take().filter(|_| !of_parent);
                session.call(Update {
                    id,
                    status: Some(if failed { CallStatus::Error } else { CallStatus::Completed }),
                    output: texts(block, "/content"),
                    ..Update::default()
                });
                if let Some((operation, path)) = &written {
                    session.artifacts.add(path, *operation);
                }
            }
            (Some("text"), _) if of_parent => {
                let text = text(block, "/text").unwrap_or_default();
                session.user(&session.event.to_string(), text, None);
            }
            _ => {}
        }
    }
}

fn result(session: &mut Session, event: &Value, form: &Form) {
    if session.steps.is_none() {
        // It is a document of its own, which does not show the calls.
        session.uncounted = Some(None);
        session.steps = number(event, "/num_turns");
    }
    session.activity = Activity::Idle;
    session.duration = number(event, "/duration_ms");
    session.used = Usage { cost: number(event, "/total_cost_usd"), ..usage(event, "/usage") };
    session.used.reasoning = sum(event, "/stats/models", "/tokens/thoughts");
    if session.assistant.model.is_none() {
        session.assistant.model = only_key(event, "/modelUsage").cloned();
        session.assistant.provider = form.provider.map(str::to_owned);
    }
    for denial in items(event, "/permission_denials") {
        let tool = name(denial, "/tool_name").unwrap_or("unknown");
        session.warnings.add(&format!("Permission required: {tool}"));
        session.permissions.refuse();
    }
    let (answer, subtype) =
        (text(event, "/result"), text(event, "/subtype").filter(|kind| *kind != "success"));
    let failed = subtype.is_some() || event.get("is_error") == Some(&Value::Bool(true));
    // Qwen Code ends with success after an error of the provider.
    if failed || form.usage && answer.is_some_and(|answer| answer.starts_with("[API Error")) {
        let status = number(event, "/api_error_status").map(|status| status.to_string());
        let message = answer.or(text(event, "/errors/0")).or(text(event, "/error/message")).or(subtype);
        session.fail(status.or(subtype.map(str::to_owned)), message.unwrap_or("the result is an error"));
    } else {
        session.error = None;
    }
    session.answer = answer.map(|answer| answer.trim().to_owned()).filter(|answer| !answer.is_empty());
}

fn usage(event: &Value, at: &str) -> Usage {
    let tokens = |key: &str| number(event, &format!("{at}/{key}"));
    Usage {
        input: tokens("input_tokens"),
        output: tokens("output_tokens"),
        cache_read: tokens("cache_read_input_tokens"),
        cache_write: tokens("cache_creation_input_tokens"),
        ..Usage::default()
    }
}
