//! What Gemini CLI prints: a stream with a result at its end, or one document.

use super::Dialect;
use super::artifacts::touches;
use super::calls::Update;
use super::json::{name, number, only_key, owned, sum, text, time};
use super::session::{Activity, Session};
use super::state::{Cache, EventStream, Events, State, Taken, unfinished};
use super::types::CallStatus;
use super::usage::Usage;
use serde_json::Value;

pub(super) const STREAM: EventStream = EventStream {
    dialect: Dialect::Gemini,
    agent: "gemini-cli",
    cache: Cache::Within,
    events: Events::Values { begins, take },
    unfinished,
};

fn begins(event: &Value) -> bool {
    event.get("session_id").is_some()
        && match text(event, "/type") {
            Some(kind) => kind == "init",
            None => ["response", "error", "stats"].iter().any(|key| event.get(key).is_some()),
        }
}

fn take(state: &mut State, event: &Value) -> Taken {
    let kind = text(event, "/type");
    if kind.is_none() && !begins(event) {
        return Taken::Unknown;
    }
    let Some(session) = state.session(name(event, "/session_id")) else { return Taken::Idle };
    let now = time(event, "/timestamp");
    session.at(now);
    match kind {
        None => document(session, event),
        Some("init") => {
            session.assistant.created = now;
            session.activity = Activity::Busy;
        }
        Some("message") => message(session, event, now),
        Some("tool_use" | "tool_result") => call(session, event, now),
        Some("error") => {
            session.recover();
            session.fail(owned(event, "/type"), text(event, "/message").unwrap_or("an error"));
            if text(event, "/severity") == Some("warning") {
                session.recover();
            }
        }
        Some("result") => result(session, event, now),
        Some(_) => return Taken::Unknown,
    }
    Taken::Understood
}

fn message(session: &mut Session, event: &Value, now: Option<f64>) {
    let content = text(event, "/content").unwrap_or_default();
    if text(event, "/role") == Some("user") {
        session.user(&session.event.to_string(), content, now);
        return;
    }
    session.step_behind_calls(now);
    if event.get("delta") == Some(&Value::Bool(true)) {
        session.delta(content);
    } else {
        session.text(content);
    }
}

fn call(session: &mut Session, event: &Value, now: Option<f64>) {
    let id = name(event, "/tool_id").unwrap_or_default();
    if text(event, "/type") == Some("tool_use") {
        session.step_behind_calls(now);
        let (tool, input) = (name(event, "/tool_name"), event.get("parameters"));
        let touches = touches(tool, input);
        let input = input.cloned();
        session.call(Update {
            id,
            begins: true,
            name: tool,
            start: now,
            input,
            touches,
            ..Update::default()
        });
    } else {
        let succeeded = text(event, "/status") == Some("success");
        let status = Some(if succeeded { CallStatus::Completed } else { CallStatus::Error });
        let output = owned(event, "/output").or(owned(event, "/error/message"));
        session.call(Update { id, status, end: now, output, ..Update::default() });
        // What is said behind a call is another answer.
        session.texts.last_message(&session.event.to_string());
    }
}

fn result(session: &mut Session, event: &Value, now: Option<f64>) {
    session.activity = Activity::Idle;
    session.assistant.completed = now;
    session.tokens = number(event, "/stats/total_tokens");
    session.used = Usage {
        input: number(event, "/stats/input_tokens"),
        output: number(event, "/stats/output_tokens"),
        cache_read: number(event, "/stats/cached"),
        ..Usage::default()
    };
    model(session, event);
    if text(event, "/status") == Some("success") {
        session.recover();
    } else {
        let reported = session.error.as_ref().and_then(|error| error.message.clone());
        let message = text(event, "/error/message").or(reported.as_deref());
        session.fail(owned(event, "/error/type"), message.unwrap_or("the result is an error"));
    }
}

fn document(session: &mut Session, event: &Value) {
    session.activity = Activity::Idle;
    session.uncounted = Some(number(event, "/stats/tools/totalCalls"));
    session.answer = owned(event, "/response");
    let of = |kind: &str| sum(event, "/stats/models", &format!("/tokens/{kind}"));
    session.tokens = of("total");
    session.used = Usage {
        input: of("prompt"),
        output: of("candidates"),
        reasoning: of("thoughts"),
        cache_read: of("cached"),
        ..Usage::default()
    };
    session.steps = sum(event, "/stats/models", "/api/totalRequests");
    model(session, event);
    if event.get("error").is_some_and(|error| !error.is_null()) {
        let message = text(event, "/error/message").unwrap_or("the result is an error");
        session.fail(owned(event, "/error/type"), message);
    } else if text(event, "/response").is_none() {
        session.fail(None, "the result has no response");
    }
}

/// The model that was used, if there is one.
fn model(session: &mut Session, event: &Value) {
    session.assistant.model = only_key(event, "/stats/models").cloned();
    session.assistant.provider = Some("google".to_owned());
}
