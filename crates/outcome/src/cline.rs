//! What `cline --json` prints: events of an agent, then the result of the run.

use super::Dialect;
use super::artifacts::touches;
use super::calls::Update;
use super::json::{name, number, owned, text, time};
use super::session::{Activity, Session, in_a_line};
use super::state::{Cache, EventStream, Events, State, Taken, unfinished};
use super::types::CallStatus;
use super::usage::Usage;
use serde_json::Value;

pub(super) const STREAM: EventStream = EventStream {
    dialect: Dialect::Cline,
    agent: "cline-cli",
    cache: Cache::Within,
    events: Events::Values { begins: |event| event.get("ts").is_some() && is_event(event), take },
    unfinished,
};

fn is_event(event: &Value) -> bool {
    matches!(text(event, "/type"), Some("hook_event" | "agent_event" | "run_result" | "error"))
}

fn take(state: &mut State, event: &Value) -> Taken {
    if !is_event(event) {
        return Taken::Unknown;
    }
    // All belongs to the task that was begun first.
    let id = name(event, "/taskId").filter(|_| event.get("parentAgentId").is_none_or(Value::is_null));
    let Some(session) = state.session(id) else { return Taken::Idle };
    let now = time(event, "/ts");
    session.at(now);
    match text(event, "/type") {
        Some("error") => error(session, text(event, "/message").unwrap_or("an error")),
        Some("run_result") => result(session, event, now),
        Some("agent_event") => of_agent(session, event, now),
        _ => {}
    }
    session.assistant.created = session.assistant.created.or(now);
    Taken::Understood
}

/// An error beside the stream is why a run failed that does not say it; to others it is a warning.
fn error(session: &mut Session, message: &str) {
    match &session.error {
        None if session.activity != Activity::Idle => session.fail(None, message),
        Some(error) if in_a_line(error) == message => {}
        _ => session.warnings.add(message),
    }
}

fn of_agent(session: &mut Session, event: &Value, now: Option<f64>) {
    let tool = text(event, "/event/contentType") == Some("tool");
    match text(event, "/event/type") {
        Some("iteration_start") => {
            session.activity = Activity::Busy;
            session.step(&session.event.to_string(), now);
        }
        Some("content_start") if tool => call(session, event, now, None),
        Some("content_end") if tool => {
            let failed = event.pointer("/event/error").is_some_and(|error| !error.is_null());
            call(session, event, now, Some(if failed { CallStatus::Error } else { CallStatus::Completed }));
        }
        Some("content_end") => {
            let content = text(event, "/event/text").unwrap_or_default();
            match text(event, "/event/contentType") {
                Some("text") => session.text(content),
                _ => session.reasoning(content),
            }
        }
        Some("usage") => {
            let used = |key: &str| number(event, &format!("/event/{key}"));
            session.request(&usage(&used, used("cost")));
        }
        _ => {}
    }
}

fn call(session: &mut Session, event: &Value, now: Option<f64>, status: Option<CallStatus>) {
    let (tool, input) = (name(event, "/event/toolName"), event.pointer("/event/input"));
    let output = event.pointer("/event/output");
    let output = output.map(|output| output.as_str().map_or_else(|| output.to_string(), str::to_owned));
    session.call(Update {
        id: name(event, "/event/toolCallId").unwrap_or_default(),
        begins: status.is_none(),
        name: tool,
        start: now.filter(|_| status.is_none()),
        end: now.filter(|_| status.is_some()),
        status,
        input: input.cloned(),
        output: output.or(owned(event, "/event/error")),
        touches: touches(tool, input),
        ..Update::default()
    });
}

fn result(session: &mut Session, event: &Value, now: Option<f64>) {
    session.activity = Activity::Idle;
    session.assistant.completed = now;
    session.duration = number(event, "/durationMs");
    session.steps = number(event, "/iterations");
    let used = |key: &str| number(event, &format!("/usage/{key}"));
    session.used = usage(&used, used("totalCost"));
    session.assistant.model = owned(event, "/model/id");
    session.assistant.provider = owned(event, "/model/provider");
    session.answer = owned(event, "/text");
    match text(event, "/finishReason") {
        Some("completed") => session.recover(),
        reason => {
            let unsaid = format!("the agent stopped with reason \"{}\"", reason.unwrap_or_default());
            session.fail(None, name(event, "/text").unwrap_or(&unsaid));
        }
    }
}

fn usage(used: &impl Fn(&str) -> Option<f64>, cost: Option<f64>) -> Usage {
    Usage {
        input: used("inputTokens"),
        output: used("outputTokens"),
        reasoning: None,
        cache_read: used("cacheReadTokens"),
        cache_write: used("cacheWriteTokens"),
        cost,
    }
}
