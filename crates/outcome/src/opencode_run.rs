//! What `opencode run --format json` prints: steps, texts, tools in their final states, an error.

use super::Dialect;
use super::event::EventFields;
use super::fields::Field;
use super::opencode::{step, trace_text};
use super::session::{Activity, Session, error_details};
use super::state::{Cache, EventStream, Events, State, Taken};

pub(super) const STREAM: EventStream = EventStream {
    dialect: Dialect::OpencodeRun,
    agent: "opencode",
    cache: Cache::Apart,
    events: Events::Fields(take),
    unfinished,
};

fn take(state: &mut State, event: &EventFields, kind: &str) -> Taken {
    match kind {
        "reasoning" if !event.has(Field::Part) => return Taken::Idle,
        "step_start" | "text" | "reasoning" | "tool_use" | "step_finish" | "error" => {}
        "user" | "done" if event.has(Field::Session) => return Taken::Idle,
        _ => return Taken::Unknown,
    }
    let error = (kind == "error").then(|| error_details(event));
    match error {
        Some(None) => return Taken::Lacks("an error"),
        None if !event.has(Field::Part) => return Taken::Lacks("a part"),
        _ => {}
    }
    let Some(session) = state.session(event.name(Field::Session).or(event.name(Field::PartSession))) else {
        return Taken::Idle;
    };
    session.announced = true;
    let time = event.number(Field::Timestamp);
    session.at(time);
    if let Some(details) = error.flatten() {
        session.error = Some(details);
        return Taken::Understood;
    }
    session.acted = true;
    session.assistant.created = session.assistant.created.or(time);
    let message = event.name(Field::PartMessage).unwrap_or_default();
    if session.role(message).is_none() {
        // Each message that is new is the last one so far: a run prints them in order.
        session.learn_role(message, true);
        session.texts.last_message(message);
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
                let part = event.name(Field::PartId).unwrap_or_default();
                session.texts.put(message, part, text);
                trace_text(session, event, false);
            }
        }
        "reasoning" => trace_text(session, event, true),
        "tool_use" => return state.tool(event),
        "step_finish" => {
            // Each step is an answer of its own, as a message is on the bus.
            let run = &mut session.assistant;
            run.input = event.number(Field::StepIn).or(run.input);
            run.output = event.number(Field::StepOut).or(run.output);
            run.cost = event.number(Field::StepCost).or(run.cost);
            run.completed = time.or(run.completed);
            run.finish = Some(event.name(Field::Finish).unwrap_or_default().to_owned());
            step(session, event, "step-finish", &number, time);
            session.activity = Activity::Idle;
        }
        _ => {}
    }
    Taken::Understood
}

fn unfinished(session: &Session) -> Option<String> {
    match (session.activity, session.assistant.finish.as_deref()) {
        (_, Some("tool-calls")) if session.permissions.was_refused() => {
            Some("the agent stopped without an answer: a permission was rejected".to_owned())
        }
        (Activity::Idle, Some("stop" | "other")) => None,
        (Activity::Idle, Some(reason)) => {
            Some(format!("the stream ends with reason \"{reason}\", before the agent stopped"))
        }
        _ => Some("the stream ends inside a step".to_owned()),
    }
}
