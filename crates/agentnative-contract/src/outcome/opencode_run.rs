//! What `opencode run --format json` prints: steps, texts, tools in their final states, an error.

use super::Dialect;
use super::event::EventFields;
use super::fields::Field;
use super::session::{Activity, Session, error_details};
use super::state::{EventStream, State, Taken};

pub(super) const STREAM: EventStream = EventStream { dialect: Dialect::OpencodeRun, take, unfinished };

fn take(state: &mut State, event: &EventFields, kind: &str) -> Taken {
    match kind {
        "step_start" | "text" | "tool_use" | "step_finish" | "error" => {}
        "reasoning" => return Taken::Idle,
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
    match kind {
        "step_start" => {
            session.activity = Activity::Busy;
            session.assistant.finish = None;
        }
        "text" => {
            if let Some(text) = event.text(Field::Text) {
                let part = event.name(Field::PartId).unwrap_or_default();
                session.texts.put(message, part, text);
            }
        }
        "tool_use" => return state.tool(event),
        "step_finish" => {
            let run = &mut session.assistant;
            let sum = |sum: Option<f64>, more: Option<f64>| match (sum, more) {
                (Some(sum), Some(more)) => Some(sum + more),
                (sum, more) => sum.or(more),
            };
            run.completed = time.or(run.completed);
            run.input = sum(run.input, event.number(Field::TokensIn));
            run.output = sum(run.output, event.number(Field::TokensOut));
            run.cost = sum(run.cost, event.number(Field::Cost));
            run.finish = Some(event.name(Field::Finish).unwrap_or_default().to_owned());
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
