//! Mapper of opencode: the events as documented, and those of its server.

use super::Dialect;
use super::artifacts::{ArtifactChange, operation_from_lengths};
use super::event_fields::EventFields;
use super::fields::Field;
use super::session::{Activity, Session, error_details};
use super::state::{MapFn, MapResult, Mapper, State};
use super::trace::StepSource;
use super::types::{ArtifactKind, ArtifactSource, Operation, SourceText};
use super::usage::Usage;

pub(super) const MAPPER: Mapper = Mapper {
    dialect: Dialect::Opencode,
    program: "opencode",
    agent: "opencode",
    formats: ["events"; 2],
    map: MapFn::Fields { is_head: |kind| !kind.starts_with("message.part."), map_event },
    failure_reason,
};

fn map_event(state: &mut State, event: &EventFields, kind: &str) -> MapResult {
    match kind {
        "session.created" | "session.updated" => session_info(state, event),
        "session.status" => session_status(state, event),
        "session.idle" => in_session(state, event, |session| session.activity = Activity::Idle),
        "session.error" => match error_details(event) {
            None => MapResult::Missing("an error"),
            Some(details) => in_session(state, event, |session| session.error = Some(details)),
        },
        "message.updated" => message(state, event),
        "message.part.updated" => part(state, event),
        "message.part.delta" => match (event.text(Field::DeltaName), event.nonempty(Field::DeltaPart)) {
            (Some("text"), Some(id)) => {
                let text = event.text(Field::DeltaText).unwrap_or_default();
                in_session(state, event, |session| session.texts.append(id, text))
            }
            (Some(_), Some(_)) => MapResult::Understood,
            _ => MapResult::Missing("a field and a partID"),
        },
        "file.edited" => file_edited(state, event),
        "file.watcher.updated" => file_watched(state, event),
        "command.executed" => in_session(state, event, |session| session.has_activity = true),
        "permission.updated" | "permission.asked" => permission_asked(state, event),
        "permission.replied" => match event.nonempty(Field::RepliedTo) {
            None => MapResult::Missing("the id of the permission"),
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
        | "server.heartbeat" => MapResult::Ignored,
        _ => MapResult::Unknown,
    }
}

/// Calls `update` with the session to which the event belongs.
fn in_session(state: &mut State, event: &EventFields, update: impl FnOnce(&mut Session)) -> MapResult {
    state.session(event.nonempty(Field::Session)).map_or(MapResult::Ignored, |session| {
        update(session);
        MapResult::Understood
    })
}

fn session_info(state: &mut State, event: &EventFields) -> MapResult {
    let Some(id) = event.nonempty(Field::InfoId).or(event.nonempty(Field::Session)) else {
        return MapResult::Missing("an id in properties.info");
    };
    let Some(session) = state.session(Some(id)) else { return MapResult::Ignored };
    session.is_described = true;
    session.version = event.string(Field::Version).or(session.version.take());
    session.parent = event.string(Field::InfoParent).or(session.parent.take());
    session.created = event.number(Field::Created).or(session.created);
    session.updated = event.number(Field::Updated).or(session.updated);
    session.record_time(event.number(Field::Created));
    session.record_time(event.number(Field::Updated));
    MapResult::Understood
}

fn session_status(state: &mut State, event: &EventFields) -> MapResult {
    let Some(status) = event.nonempty(Field::StatusType) else {
        return MapResult::Missing("a type of status");
    };
    in_session(state, event, |session| {
        session.activity = if status == "idle" { Activity::Idle } else { Activity::Busy };
        if status == "retry" {
            session.add_retry(event.nonempty(Field::StatusMessage), event.number(Field::StatusAttempt));
        }
    })
}

fn message(state: &mut State, event: &EventFields) -> MapResult {
    let Some(role) = event.nonempty(Field::Role) else {
        return MapResult::Missing("a role in properties.info");
    };
    let Some(session) = state.session(event.nonempty(Field::InfoSession).or(event.nonempty(Field::Session)))
    else {
        return MapResult::Ignored;
    };
    let id = event.nonempty(Field::InfoId).unwrap_or_default();
    session.set_role(id, role == "assistant");
    let created = event.number(Field::Created);
    session.record_time(created);
    if role != "assistant" {
        session.texts.forget(id);
        return MapResult::Understood;
    }
    session.has_activity = true;
    session.record_time(event.number(Field::Completed));
    let last = &mut session.assistant;
    if last.id.as_deref() != Some(id) {
        let older = matches!((created, last.created), (Some(this), Some(last)) if this < last);
        if last.id.is_some() && older {
            session.texts.forget(id);
            return MapResult::Understood;
        }
        session.earlier_messages = session.earlier_messages.plus(&last.usage);
        *last = super::session::Assistant { id: Some(id.to_owned()), ..Default::default() };
        session.texts.set_last_message(id);
    }
    // Members that an update omits keep their value.
    last.created = created.or(last.created);
    session.start = session.start.or(last.created);
    last.completed = event.number(Field::Completed).or(last.completed);
    let used = &mut last.usage;
    used.input = event.number(Field::TokensIn).or(used.input);
    used.output = event.number(Field::TokensOut).or(used.output);
    used.reasoning = event.number(Field::TokensReasoning).or(used.reasoning);
    used.cache_read = event.number(Field::TokensCacheRead).or(used.cache_read);
    used.cache_write = event.number(Field::TokensCacheWrite).or(used.cache_write);
    used.cost = event.number(Field::Cost).or(used.cost);
    last.model = event.string(Field::Model).or(last.model.take());
    last.provider = event.string(Field::Provider).or(last.provider.take());
    last.finish = event.string(Field::Finish).or(last.finish.take());
    last.error = error_details(event).or(last.error.take());
    MapResult::Understood
}

/// Handles a part of the kind `step-start`, `step-finish` or `reasoning`, for both mappers of opencode. `id` identifies
/// the part, so that a repeated one does not count twice.
pub(super) fn step(session: &mut Session, event: &EventFields, kind: &str, id: &str, time: Option<f64>) {
    match kind {
        "step-start" => {
            if let Some(trace) = &mut session.trace {
                trace.begin_step(StepSource::Agent, id, time);
            }
        }
        "step-finish" if session.last_finish.as_deref() != Some(id) || id.is_empty() => {
            session.last_finish = Some(id.to_owned());
            session.add_request(&Usage {
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

/// Adds the text of an event to the current step of the trace. `reasoning` is true for a reasoning text.
pub(super) fn trace_text(session: &mut Session, event: &EventFields, reasoning: bool) {
    if let (Some(trace), Some(text)) = (&mut session.trace, event.text(Field::Text)) {
        trace.current_step();
        trace.set_text(reasoning, event.nonempty(Field::PartId).unwrap_or_default(), text);
    }
}

fn part(state: &mut State, event: &EventFields) -> MapResult {
    let Some(kind) = event.nonempty(Field::PartType) else { return MapResult::Missing("a type of part") };
    let id = event.nonempty(Field::PartSession).or(event.nonempty(Field::Session));
    match kind {
        "tool" => return state.update_tool_call(event),
        "step-start" | "step-finish" | "reasoning" => {
            return state.session(id).map_or(MapResult::Ignored, |session| {
                let id = event.nonempty(Field::PartId).unwrap_or_default();
                step(session, event, kind, id, session.assistant.created);
                MapResult::Understood
            });
        }
        "text" => {
            let Some(message) = event.nonempty(Field::PartMessage) else {
                return MapResult::Missing("a messageID");
            };
            let (Some(text), Some(session)) = (event.text(Field::Text), state.session(id)) else {
                return MapResult::Understood;
            };
            let role = session.is_assistant_message(message);
            let last = session.assistant.id.as_deref() == Some(message);
            match role {
                Some(true) => trace_text(session, event, false),
                Some(false) => {
                    session.add_user_message(event.nonempty(Field::PartId).unwrap_or_default(), text, None)
                }
                None => {}
            }
            if role.is_none() || last {
                let part = event.nonempty(Field::PartId).unwrap_or_default();
                session.texts.set_part(message, part, text);
            }
        }
        "file" => {
            let url = event.nonempty(Field::FileUrl).and_then(|url| url.strip_prefix("file://"));
            let path = event.nonempty(Field::FilePath).or(url).or(event.nonempty(Field::FileName));
            let Some(path) = path.map(str::to_owned) else { return MapResult::Missing("a path") };
            // Files that a user attaches are not changed by the agent.
            let message = event.nonempty(Field::PartMessage);
            let attached = message
                .zip(state.session(id))
                .and_then(|(message, session)| session.is_assistant_message(message));
            if attached != Some(false) {
                let directory = matches!(
                    event.nonempty(Field::Mime),
                    Some("application/x-directory" | "inode/directory")
                );
                let kind = if directory { ArtifactKind::Directory } else { ArtifactKind::File };
                let source = file_source(event);
                state.record_file_change(
                    id,
                    ArtifactChange { path, operation: None, size: None, kind, source },
                );
            }
        }
        _ => {}
    }
    MapResult::Understood
}

/// Returns the source of the file that a file part of a message names; `None` if the event contains none.
fn file_source(event: &EventFields) -> Option<ArtifactSource> {
    let text = event.has(Field::SourceText).then(|| SourceText {
        value: event.complete_text(Field::SourceValue).map(str::to_owned),
        start: event.count(Field::SourceStart),
        end: event.count(Field::SourceEnd),
    });
    event.has(Field::FileSource).then(|| ArtifactSource {
        kind: event.string(Field::SourceType),
        path: event.string(Field::FilePath),
        text,
    })
}

fn file_edited(state: &mut State, event: &EventFields) -> MapResult {
    let Some(path) = event.string(Field::Path).or(event.string(Field::DiffPath)) else {
        return MapResult::Missing("a path");
    };
    let (before, after) = (event.length(Field::DiffBefore), event.length(Field::DiffAfter));
    let operation = operation_from_lengths(before, after);
    let size = after.filter(|_| operation != Some(Operation::Deleted));
    state.record_file_change(event.nonempty(Field::Session), ArtifactChange::of_file(path, operation, size));
    MapResult::Understood
}

fn file_watched(state: &mut State, event: &EventFields) -> MapResult {
    let operation = match event.text(Field::WatchKind) {
        Some("add") => Operation::Created,
        Some("unlink") => Operation::Deleted,
        _ => return MapResult::Ignored,
    };
    let Some(path) = event.nonempty(Field::Path) else { return MapResult::Ignored };
    state.unassigned_artifacts.refine(path, operation);
    for session in state.all_sessions() {
        session.artifacts.refine(path, operation);
    }
    MapResult::Ignored
}

fn permission_asked(state: &mut State, event: &EventFields) -> MapResult {
    let kind = event.nonempty(Field::PermissionKind);
    let patterns = event.list(Field::PermissionPatterns).join(", ");
    let title = match (event.nonempty(Field::PermissionTitle), kind) {
        (Some(title), _) => title.to_owned(),
        (None, Some(kind)) if patterns.is_empty() => kind.to_owned(),
        (None, Some(kind)) => format!("{kind} ({patterns})"),
        (None, None) => "not specified".to_owned(),
    };
    let id = event.nonempty(Field::PermissionId).unwrap_or(&title);
    in_session(state, event, |session| {
        if session.permissions.request(id) {
            session.warnings.add(&format!("Permission required: {title}"));
        }
    })
}

fn failure_reason(session: &Session) -> Option<String> {
    let refused = session.permissions.was_rejected();
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
        _ if !session.has_activity && session.calls.is_empty() => {
            Some("the stream contains no activity of the agent")
        }
        _ => None,
    }
    .map(str::to_owned)
}
