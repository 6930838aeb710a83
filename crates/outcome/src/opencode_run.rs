//! Mapper of `opencode run --format json`: steps, texts, tools in their final state, an error.

use super::Dialect;
use super::event_fields::EventFields;
use super::fields::Field;
use super::opencode::{step, trace_text};
use super::session::{Activity, Session, error_details};
use super::state::{MapFn, MapResult, Mapper, State};

pub(super) const MAPPER: Mapper = Mapper {
    dialect: Dialect::OpencodeRun,
    program: "opencode",
    agent: "opencode",
    formats: ["json"; 2],
    map: MapFn::Fields { is_head: |kind| matches!(kind, "step_start" | "error"), map_event },
    failure_reason,
};

fn map_event(state: &mut State, event: &EventFields, kind: &str) -> MapResult {
    match kind {
        "reasoning" if !event.has(Field::Part) => return MapResult::Ignored,
        "step_start" | "text" | "reasoning" | "tool_use" | "step_finish" | "error" => {}
        "user" | "done" if event.has(Field::Session) => return MapResult::Ignored,
        _ => return MapResult::Unknown,
    }
    let error = (kind == "error").then(|| error_details(event));
    match error {
        Some(None) => return MapResult::Missing("an error"),
        None if !event.has(Field::Part) => return MapResult::Missing("a part"),
        _ => {}
    }
    let Some(session) = state.session(event.nonempty(Field::Session).or(event.nonempty(Field::PartSession)))
    else {
        return MapResult::Ignored;
    };
    session.is_described = true;
    let time = event.number(Field::Timestamp);
    session.record_time(time);
    if let Some(details) = error.flatten() {
        session.error = Some(details);
        return MapResult::Understood;
    }
    session.has_activity = true;
    session.start = session.start.or(time);
    let message = event.nonempty(Field::PartMessage).unwrap_or_default();
    if session.is_assistant_message(message).is_none() {
        // A run prints messages in order, so a new message is the last one.
        session.set_role(message, true);
        session.texts.set_last_message(message);
    }
    let number = session.event.to_string();
    match kind {
        "step_start" => {
            session.activity = Activity::Busy;
            session.assistant.finish = None;
            step(session, event, "step-start", &number, time);
        }
        "text" => {
            if let Some(text) = event.text(Field::Text) {
                let part = event.nonempty(Field::PartId).unwrap_or_default();
                session.texts.set_part(message, part, text);
                trace_text(session, event, false);
            }
        }
        "reasoning" => trace_text(session, event, true),
        "tool_use" => return state.update_tool_call(event),
        "step_finish" => {
            // Each step is one answer, like a message of the server.
            let run = &mut session.assistant;
            run.completed = time.or(run.completed);
            run.finish = Some(event.nonempty(Field::Finish).unwrap_or_default().to_owned());
            step(session, event, "step-finish", &number, time);
            session.activity = Activity::Idle;
        }
        _ => {}
    }
    MapResult::Understood
}

fn failure_reason(session: &Session) -> Option<String> {
    match (session.activity, session.assistant.finish.as_deref()) {
        (_, Some("tool-calls")) if session.permissions.was_rejected() => {
            Some("the agent stopped without an answer: a permission was rejected".to_owned())
        }
        (Activity::Idle, Some("stop" | "other")) => None,
        (Activity::Idle, Some(reason)) => {
            Some(format!("the stream ends with reason \"{reason}\", before the agent stopped"))
        }
        _ => Some("the stream ends inside a step".to_owned()),
    }
}
