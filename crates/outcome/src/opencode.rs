//! opencode's events: those of the format's document, and those of the real server bus.

use super::Dialect;
use super::artifacts::{Touch, by_contents};
use super::event::EventFields;
use super::fields::Field;
use super::session::{Activity, Session, error_details};
use super::state::{Cache, EventStream, Events, State, Taken};
use super::trace::Source;
use super::types::{ArtifactKind, ArtifactSource, Operation, SourceText};
use super::usage::Usage;

pub(super) const STREAM: EventStream = EventStream {
    dialect: Dialect::Opencode,
    agent: "opencode",
    cache: Cache::Apart,
    events: Events::Fields(take),
    unfinished,
};

fn take(state: &mut State, event: &EventFields, kind: &str) -> Taken {
    match kind {
        "session.created" | "session.updated" => session_info(state, event),
        "session.status" => session_status(state, event),
        "session.idle" => in_session(state, event, |session| session.activity = Activity::Idle),
        "session.error" => match error_details(event) {
            None => Taken::Lacks("an error"),
            Some(details) => in_session(state, event, |session| session.error = Some(details)),
        },
        "message.updated" => message(state, event),
        "message.part.updated" => part(state, event),
        "message.part.delta" => match (event.text(Field::DeltaName), event.name(Field::DeltaPart)) {
            (Some("text"), Some(id)) => {
                let text = event.text(Field::DeltaText).unwrap_or_default();
                in_session(state, event, |session| session.texts.append(id, text))
            }
            (Some(_), Some(_)) => Taken::Understood,
            _ => Taken::Lacks("a field and a partID"),
        },
        "file.edited" => file_edited(state, event),
        "file.watcher.updated" => file_watched(state, event),
        "command.executed" => in_session(state, event, |session| session.acted = true),
        "permission.updated" | "permission.asked" => permission_asked(state, event),
        "permission.replied" => match event.name(Field::RepliedTo) {
            None => Taken::Lacks("the id of the permission"),
            Some(id) => {
                let reply = event.text(Field::Reply).unwrap_or_default();
                in_session(state, event, |session| session.permissions.reply(id, reply))
            }
        },
        "session.diff"
        | "session.compacted"
        | "session.deleted"
        | "message.removed"
        | "message.part.removed"
        | "todo.updated"
        | "server.connected"
        | "server.heartbeat" => Taken::Idle,
        _ => Taken::Unknown,
    }
}

/// Lets the event's session take it.
fn in_session(state: &mut State, event: &EventFields, take: impl FnOnce(&mut Session)) -> Taken {
    state.session(event.name(Field::Session)).map_or(Taken::Idle, |session| {
        take(session);
        Taken::Understood
    })
}

fn session_info(state: &mut State, event: &EventFields) -> Taken {
    let Some(id) = event.name(Field::InfoId).or(event.name(Field::Session)) else {
        return Taken::Lacks("an id in properties.info");
    };
    let Some(session) = state.session(Some(id)) else { return Taken::Idle };
    session.announced = true;
    session.version = event.owned(Field::Version).or(session.version.take());
    session.parent = event.owned(Field::InfoParent).or(session.parent.take());
    session.created = event.number(Field::Created).or(session.created);
    session.updated = event.number(Field::Updated).or(session.updated);
    session.at(event.number(Field::Created));
    session.at(event.number(Field::Updated));
    Taken::Understood
}

fn session_status(state: &mut State, event: &EventFields) -> Taken {
    let Some(status) = event.name(Field::StatusType) else { return Taken::Lacks("a type of status") };
    in_session(state, event, |session| {
        session.activity = if status == "idle" { Activity::Idle } else { Activity::Busy };
        if status == "retry" {
            session.retry(event.name(Field::StatusMessage), event.number(Field::StatusAttempt));
        }
    })
}

fn message(state: &mut State, event: &EventFields) -> Taken {
    let Some(role) = event.name(Field::Role) else { return Taken::Lacks("a role in properties.info") };
    let Some(session) = state.session(event.name(Field::InfoSession).or(event.name(Field::Session))) else {
        return Taken::Idle;
    };
    let id = event.name(Field::InfoId).unwrap_or_default();
    session.learn_role(id, role == "assistant");
    let created = event.number(Field::Created);
    session.at(created);
    if role != "assistant" {
        session.texts.forget(id);
        return Taken::Understood;
    }
    session.acted = true;
    session.at(event.number(Field::Completed));
    let last = &mut session.assistant;
    if last.id.as_deref() != Some(id) {
        let older = matches!((created, last.created), (Some(this), Some(last)) if this < last);
        if last.id.is_some() && older {
            session.texts.forget(id);
            return Taken::Understood;
        }
        *last = super::session::Assistant { id: Some(id.to_owned()), ..Default::default() };
        session.texts.last_message(id);
    }
    // What an update leaves out stays as it was.
    last.created = created.or(last.created);
    last.completed = event.number(Field::Completed).or(last.completed);
    last.input = event.number(Field::TokensIn).or(last.input);
    last.output = event.number(Field::TokensOut).or(last.output);
    last.cost = event.number(Field::Cost).or(last.cost);
    last.model = event.owned(Field::Model).or(last.model.take());
    last.provider = event.owned(Field::Provider).or(last.provider.take());
    last.finish = event.owned(Field::Finish).or(last.finish.take());
    last.error = error_details(event).or(last.error.take());
    Taken::Understood
}

/// A part that begins or ends a step, or is of its reasoning; the same in both streams.
/// `id` is that of the part, if it may come again.
pub(super) fn step(session: &mut Session, event: &EventFields, kind: &str, id: &str, time: Option<f64>) {
    match kind {
        "step-start" => {
            if let Some(trace) = &mut session.trace {
                trace.begin(Source::Agent, id, time);
            }
        }
        "step-finish" if session.last_finish.as_deref() != Some(id) || id.is_empty() => {
            session.last_finish = Some(id.to_owned());
            session.request(&Usage {
                input: event.number(Field::StepIn),
                output: event.number(Field::StepOut),
                reasoning: event.number(Field::StepReasoning),
                cache_read: event.number(Field::StepCacheRead),
                cache_write: event.number(Field::StepCacheWrite),
                cost: event.number(Field::StepCost),
            });
        }
        "reasoning" => trace_text(session, event, true),
        _ => {}
    }
}

/// Keeps a text part for the export.
pub(super) fn trace_text(session: &mut Session, event: &EventFields, reasoning: bool) {
    if let (Some(trace), Some(text)) = (&mut session.trace, event.text(Field::Text)) {
        trace.current();
        trace.text(reasoning, event.name(Field::PartId).unwrap_or_default(), text);
    }
}

fn part(state: &mut State, event: &EventFields) -> Taken {
    let Some(kind) = event.name(Field::PartType) else { return Taken::Lacks("a type of part") };
    let id = event.name(Field::PartSession).or(event.name(Field::Session));
    match kind {
        "tool" => return state.tool(event),
        "step-start" | "step-finish" | "reasoning" => {
            return state.session(id).map_or(Taken::Idle, |session| {
                let id = event.name(Field::PartId).unwrap_or_default();
                step(session, event, kind, id, session.assistant.created);
                Taken::Understood
            });
        }
        "text" => {
            let Some(message) = event.name(Field::PartMessage) else { return Taken::Lacks("a messageID") };
            let (Some(text), Some(session)) = (event.text(Field::Text), state.session(id)) else {
                return Taken::Understood;
            };
            let role = session.role(message);
            let last = session.assistant.id.as_deref() == Some(message);
            match role {
                Some(true) => trace_text(session, event, false),
                Some(false) => session.user(event.name(Field::PartId).unwrap_or_default(), text, None),
                None => {}
            }
            if role.is_none() || last {
                let part = event.name(Field::PartId).unwrap_or_default();
                session.texts.put(message, part, text);
            }
        }
        "file" => {
            let url = event.name(Field::FileUrl).and_then(|url| url.strip_prefix("file://"));
            let path = event.name(Field::FilePath).or(url).or(event.name(Field::FileName));
            let Some(path) = path.map(str::to_owned) else { return Taken::Lacks("a path") };
            // What a user attaches is no work of the agent.
            let message = event.name(Field::PartMessage);
            let attached =
                message.zip(state.session(id)).and_then(|(message, session)| session.role(message));
            if attached != Some(false) {
                let directory =
                    matches!(event.name(Field::Mime), Some("application/x-directory" | "inode/directory"));
                let kind = if directory { ArtifactKind::Directory } else { ArtifactKind::File };
                let source = file_source(event);
                state.touch(id, Touch { path, operation: None, size: None, kind, source });
            }
        }
        _ => {}
    }
    Taken::Understood
}

/// The source of a file part.
fn file_source(event: &EventFields) -> Option<ArtifactSource> {
    let text = event.has(Field::SourceText).then(|| SourceText {
        value: event.whole_text(Field::SourceValue).map(str::to_owned),
        start: event.count(Field::SourceStart),
        end: event.count(Field::SourceEnd),
    });
    event.has(Field::FileSource).then(|| ArtifactSource {
        kind: event.owned(Field::SourceType),
        path: event.owned(Field::FilePath),
        text,
    })
}

fn file_edited(state: &mut State, event: &EventFields) -> Taken {
    let Some(path) = event.owned(Field::Path).or(event.owned(Field::DiffPath)) else {
        return Taken::Lacks("a path");
    };
    let (before, after) = (event.length(Field::DiffBefore), event.length(Field::DiffAfter));
    let operation = by_contents(before, after);
    let size = after.filter(|_| operation != Some(Operation::Deleted));
    state.touch(event.name(Field::Session), Touch::of_file(path, operation, size));
    Taken::Understood
}

fn file_watched(state: &mut State, event: &EventFields) -> Taken {
    let operation = match event.text(Field::WatchKind) {
        Some("add") => Operation::Created,
        Some("unlink") => Operation::Deleted,
        _ => return Taken::Idle,
    };
    let Some(path) = event.name(Field::Path) else { return Taken::Idle };
    state.loose.add(path, operation);
    for session in state.all_sessions() {
        session.artifacts.add(path, operation);
    }
    Taken::Idle
}

fn permission_asked(state: &mut State, event: &EventFields) -> Taken {
    let kind = event.name(Field::PermissionKind);
    let patterns = event.list(Field::PermissionPatterns).join(", ");
    let title = match (event.name(Field::PermissionTitle), kind) {
        (Some(title), _) => title.to_owned(),
        (None, Some(kind)) if patterns.is_empty() => kind.to_owned(),
        (None, Some(kind)) => format!("{kind} ({patterns})"),
        (None, None) => "not said for what".to_owned(),
    };
    let id = event.name(Field::PermissionId).unwrap_or(&title);
    in_session(state, event, |session| {
        if session.permissions.ask(id) {
            session.warnings.add(&format!("Permission required: {title}"));
        }
    })
}

fn unfinished(session: &Session) -> Option<String> {
    let refused = session.permissions.was_refused();
    match session.assistant.finish.as_deref() {
        Some("tool-calls") if refused => {
            return Some("the agent stopped without an answer: a permission was rejected".to_owned());
        }
        Some(reason @ ("length" | "content-filter" | "error")) => {
            return Some(format!("the agent stopped with reason \"{reason}\""));
        }
        _ => {}
    }
    match session.activity {
        Activity::Busy => Some("the stream ends while the agent is working"),
        Activity::Unknown if session.calls.any_open() => Some("the stream ends while a tool is running"),
        _ if !session.acted && session.calls.is_empty() => {
            Some("the stream contains no activity of the agent")
        }
        _ => None,
    }
    .map(str::to_owned)
}
