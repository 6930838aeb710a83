//! What `pi --mode json` prints: messages, and the execution of tools.

use super::Dialect;
use super::arithmetic::sum;
use super::artifacts::touches;
use super::calls::Update;
use super::json::{items, name, number, owned, text, texts, time};
use super::session::{Activity, Session};
use super::state::{Cache, EventStream, Events, State, Taken, unfinished};
use super::types::CallStatus;
use super::usage::Usage;
use serde_json::Value;

pub(super) const STREAM: EventStream = EventStream {
    dialect: Dialect::Pi,
    agent: "pi",
    cache: Cache::Apart,
    events: Events::Values {
        begins: |event| text(event, "/type") == Some("session") && event.get("version").is_some(),
        take,
    },
    unfinished,
};

fn take(state: &mut State, event: &Value) -> Taken {
    let kind = text(event, "/type").unwrap_or_default();
    let id = name(event, "/id").filter(|_| kind == "session");
    let Some(session) = state.session(id) else { return Taken::Idle };
    match kind {
        "session" => begin_or_end(session, time(event, "/timestamp")),
        "agent_start" => session.activity = Activity::Busy,
        "agent_end" => session.activity = Activity::Idle,
        "auto_retry_start" => session.retry(name(event, "/errorMessage"), number(event, "/attempt")),
        "message_end" => message(session, event),
        "tool_execution_start" | "tool_execution_end" => execution(session, event, kind),
        "turn_start" | "auto_retry_end" => return Taken::Idle,
        _ => return Taken::Unknown,
    }
    Taken::Understood
}

fn begin_or_end(session: &mut Session, now: Option<f64>) {
    session.at(now);
    session.assistant.created = session.assistant.created.or(now);
    session.assistant.completed = now.or(session.assistant.completed);
}

fn message(session: &mut Session, event: &Value) {
    let now = time(event, "/message/timestamp");
    begin_or_end(session, now);
    let number_of_event = session.event.to_string();
    match text(event, "/message/role") {
        Some("user") => {
            session.user(&number_of_event, &texts(event, "/message/content").unwrap_or_default(), now);
        }
        Some("assistant") => assistant(session, event, &number_of_event, now),
        _ => {}
    }
}

fn assistant(session: &mut Session, event: &Value, id: &str, now: Option<f64>) {
    session.step(id, now);
    session.answer = texts(event, "/message/content").filter(|answer| !answer.is_empty());
    for block in items(event, "/message/content") {
        match text(block, "/type") {
            Some("text") => session.text(text(block, "/text").unwrap_or_default()),
            Some("thinking") => session.reasoning(text(block, "/thinking").unwrap_or_default()),
            Some("toolCall") => {
                let (tool, input) = (name(block, "/name"), block.get("arguments"));
                let (id, touches) = (name(block, "/id").unwrap_or_default(), touches(tool, input));
                let input = input.cloned();
                session.call(Update { id, begins: true, name: tool, input, touches, ..Update::default() });
            }
            _ => {}
        }
    }
    let used = |key: &str| number(event, &format!("/message/usage/{key}"));
    session.tokens = sum(session.tokens, used("totalTokens"));
    session.request(&Usage {
        input: used("input"),
        output: used("output"),
        reasoning: used("reasoning"),
        cache_read: used("cacheRead"),
        cache_write: used("cacheWrite"),
        cost: used("cost/total"),
    });
    session.assistant.model = owned(event, "/message/model").or(session.assistant.model.take());
    session.assistant.provider = owned(event, "/message/provider").or(session.assistant.provider.take());
    match text(event, "/message/stopReason") {
        Some(reason @ ("error" | "aborted")) => {
            let unsaid = format!("the agent stopped with reason \"{reason}\"");
            session.fail(None, text(event, "/message/errorMessage").unwrap_or(&unsaid));
        }
        _ => session.error = None,
    }
}

fn execution(session: &mut Session, event: &Value, kind: &str) {
    let failed = event.get("isError") == Some(&Value::Bool(true));
    let status = if failed { CallStatus::Error } else { CallStatus::Completed };
    let (id, tool) = (name(event, "/toolCallId").unwrap_or_default(), name(event, "/toolName"));
    session.call(Update {
        id,
        name: tool,
        status: (kind == "tool_execution_end").then_some(status),
        output: texts(event, "/result/content"),
        ..Update::default()
    });
}
