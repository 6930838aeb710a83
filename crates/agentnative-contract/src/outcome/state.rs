//! What has been read so far, and the outcome that follows from it.

use super::artifacts::{Artifacts, Touch};
use super::calls;
use super::event::EventFields;
use super::fields::Field;
use super::session::{Session, in_a_line};
use super::stderr;
use super::types::{ErrorDetails, Metadata, Metrics, Quantity, RunOutcome};
use super::{Dialect, OutcomeOptions, opencode, opencode_run};
use crate::counted;

/// So many sessions are kept apart; the events of others are passed over.
const MAX_SESSIONS: usize = 1024;
/// What opencode says of a tool call whose permission was refused.
const REFUSED: &str = "The user rejected permission";

/// What an event was to a stream.
pub(super) enum Taken {
    /// It tells something about a run.
    Understood,
    /// It is known and tells nothing about a run.
    Idle,
    /// It is known, but this is missing or has another shape.
    Lacks(&'static str),
    /// It is none of this stream's events.
    Unknown,
}

/// How the events of one agent become an outcome.
pub(super) struct EventStream {
    pub(super) dialect: Dialect,
    /// Takes an event.
    pub(super) take: fn(&mut State, &EventFields, &str) -> Taken,
    /// Why a session is no success although no error was reported.
    pub(super) unfinished: fn(&Session) -> Option<String>,
}

/// The streams that are known. Another agent's is one more file and one more line.
const STREAMS: &[EventStream] = &[opencode::STREAM, opencode_run::STREAM];

/// What has been read so far.
pub(super) struct State {
    pub(super) options: OutcomeOptions,
    stream: Option<&'static EventStream>,
    sessions: Vec<Session>,
    /// Files that no session was named for.
    pub(super) loose: Artifacts,
    /// The number of the event at hand.
    pub(super) events: u64,
    understood: u64,
    /// Lines that were refused, and the first reason.
    pub(super) refused: u64,
    pub(super) first_refusal: Option<String>,
    /// The line of text that says why it failed, and whether it surely does.
    said: Option<(String, bool)>,
    too_many_sessions: bool,
}

impl State {
    pub(super) fn new(options: OutcomeOptions) -> Self {
        let stream = STREAMS.iter().find(|stream| stream.dialect == options.dialect);
        Self {
            options,
            stream,
            sessions: Vec::new(),
            loose: Artifacts::default(),
            events: 0,
            understood: 0,
            refused: 0,
            first_refusal: None,
            said: None,
            too_many_sessions: false,
        }
    }

    /// Takes a line of text from standard error: the last that speaks of an error counts, else the last.
    pub(super) fn said(&mut self, line: &str) {
        let error = stderr::is_error(line);
        if error || !self.said.as_ref().is_some_and(|(_, error)| *error) {
            self.said = Some((line.to_owned(), error));
        }
    }

    /// Takes an event; gives a warning when it is not as it should be.
    pub(super) fn take(&mut self, event: &EventFields) -> Option<String> {
        self.events += 1;
        let Some(kind) = event.name(Field::Type) else { return Some("has no type".to_owned()) };
        let fixed = self.stream;
        for stream in fixed.map_or(STREAMS, std::slice::from_ref) {
            match (stream.take)(self, event, kind) {
                Taken::Unknown => continue,
                Taken::Understood => self.understood += 1,
                Taken::Idle => {}
                Taken::Lacks(what) => return Some(format!("is {kind} without {what}")),
            }
            self.stream = Some(stream);
            break;
        }
        event.cut.then(|| "has a text over 1 MiB, which was truncated".to_owned())
    }

    /// The session with this id; without one, the first. None when there are too many.
    pub(super) fn session(&mut self, id: Option<&str>) -> Option<&mut Session> {
        let id = id.unwrap_or_default();
        let known = self.sessions.iter().position(|session| id.is_empty() || session.id == id);
        // Events that named no session belong to the first that is named.
        let nameless = || self.sessions.iter().position(|session| session.id.is_empty());
        let at = match known.or_else(nameless) {
            Some(at) => at,
            None if self.sessions.len() == MAX_SESSIONS => {
                self.too_many_sessions = true;
                return None;
            }
            None => {
                self.sessions.push(Session::default());
                self.sessions.len() - 1
            }
        };
        let session = &mut self.sessions[at];
        if session.id.is_empty() {
            id.clone_into(&mut session.id);
        }
        Some(session)
    }

    /// An update of a tool part; the same in all of opencode's streams.
    pub(super) fn tool(&mut self, event: &EventFields) -> Taken {
        let (full, when) = (self.options.full, self.events);
        let Some(session) = self.session(event.name(Field::PartSession).or(event.name(Field::Session)))
        else {
            return Taken::Idle;
        };
        if !session.calls.update(event, full) {
            return Taken::Lacks("a callID");
        }
        session.acted = true;
        session.at(event.number(Field::ToolStart));
        session.at(event.number(Field::ToolEnd));
        for touch in calls::touches(event) {
            session.artifacts.touch(when, touch);
        }
        if event.text(Field::ToolError).is_some_and(|error| error.starts_with(REFUSED)) {
            if session.permissions.required().is_none() {
                let tool = event.name(Field::Tool).unwrap_or("unknown");
                session.warnings.add(&format!("Permission required: {tool}"));
            }
            session.permissions.refuse();
        }
        Taken::Understood
    }

    /// A file was touched, in a session or in none.
    pub(super) fn touch(&mut self, session: Option<&str>, touch: Touch) {
        let when = self.events;
        match session {
            None => self.loose.touch(when, touch),
            Some(id) => {
                if let Some(session) = self.session(Some(id)) {
                    session.artifacts.touch(when, touch);
                }
            }
        }
    }

    pub(super) fn all_sessions(&mut self) -> &mut [Session] {
        &mut self.sessions
    }

    fn by_id(&self, id: &str) -> Option<&Session> {
        self.sessions.iter().find(|session| session.id == id)
    }

    /// The session above this one that has no parent in the stream.
    fn root<'s>(&'s self, mut session: &'s Session) -> &'s Session {
        // A chain longer than there are sessions goes in circles.
        for _ in 0..self.sessions.len() {
            match session.parent.as_deref().and_then(|parent| self.by_id(parent)) {
                Some(parent) => session = parent,
                None => break,
            }
        }
        session
    }

    /// The session of the run: the first that was announced, or the one above it.
    fn main(&self) -> Option<&Session> {
        let announced = self.sessions.iter().find(|session| session.announced);
        announced.or(self.sessions.first()).map(|session| self.root(session))
    }

    /// The outcome of what has been read, with the warnings of the reading.
    pub(super) fn outcome(&self, reading: Vec<String>) -> RunOutcome {
        let mut outcome = match self.main() {
            Some(main) if self.understood > 0 => self.of_session(main),
            _ if self.events + self.refused == 0 && self.said.is_some() => {
                RunOutcome { error: self.said_why(), ..RunOutcome::default() }
            }
            _ => RunOutcome { error: Some(self.not_understood()), ..RunOutcome::default() },
        };
        if let (Some(error), None, Some((line, true))) =
            (&mut outcome.error, &outcome.error_details, &self.said)
            && error != line
        {
            *error = format!("{error}; {line}");
        }
        if let Some(code) = self.options.exit_code.filter(|code| *code != 0) {
            let exited = format!("the program exited with {code}");
            // What the agent says itself is reason enough.
            if outcome.error_details.is_none() {
                let error = outcome.error.take().or_else(|| self.said_why());
                outcome.error =
                    Some(error.map_or_else(|| exited.clone(), |error| format!("{error}; {exited}")));
            }
        }
        outcome.success = outcome.error.is_none();
        if self.too_many_sessions {
            let warning = format!("more than {MAX_SESSIONS} sessions; the events of the others are ignored");
            outcome.warnings.push(warning);
        }
        outcome.warnings.extend(reading);
        outcome.metadata = self.metadata(&outcome);
        outcome
    }

    fn of_session(&self, main: &Session) -> RunOutcome {
        let mut artifacts = self.loose.clone();
        let mut warnings = main.warnings.list();
        let mut approval = main.permissions.required();
        artifacts.merge(&main.artifacts);
        let children = self.sessions.iter().filter(|session| !std::ptr::eq(*session, main));
        for child in children.filter(|session| std::ptr::eq(self.root(session), main)) {
            artifacts.merge(&child.artifacts);
            warnings.extend(child.warnings.list());
            approval = match (approval, child.permissions.required()) {
                (Some(one), Some(other)) => Some(one || other),
                (one, other) => one.or(other),
            };
        }
        let error_details = main.error.clone().or(main.assistant.error.clone());
        let error = error_details.as_ref().map(in_a_line);
        let unfinished = || self.stream.and_then(|stream| (stream.unfinished)(main));
        let tool_calls = main.calls.finish();
        #[expect(clippy::cast_precision_loss, reason = "there are fewer calls than 2^53")]
        let calls = Some(Quantity(tool_calls.len() as f64));
        let metrics = Metrics { api_calls_count: calls, tool_calls_count: calls, ..main.metrics() };
        RunOutcome {
            success: false,
            session_id: Some(main.id.clone()).filter(|id| !id.is_empty()),
            message: main.texts.message(),
            artifacts: artifacts.finish(),
            error: error.or_else(unfinished),
            error_details: error_details.filter(|details| *details != ErrorDetails::default()),
            tool_calls,
            warnings,
            requires_approval: approval,
            metrics: Some(metrics),
            metadata: None,
        }
    }

    fn said_why(&self) -> Option<String> {
        self.said.as_ref().map(|(line, _)| line.clone())
    }

    fn not_understood(&self) -> String {
        let lines = self.events + self.refused;
        match &self.first_refusal {
            _ if lines == 0 => "no known event: the stream is empty".to_owned(),
            Some(first) => format!("no known event in {}; {first}", counted(lines, "line")),
            None => format!("no known event in {}: the types are unknown", counted(lines, "line")),
        }
    }

    fn metadata(&self, outcome: &RunOutcome) -> Option<Metadata> {
        let total = self.main().filter(|_| self.understood > 0).and_then(Session::total);
        let attempt = self.options.attempt.map(f64::from);
        let metadata = Metadata {
            session_id: outcome.session_id.clone(),
            phase_total_duration_ms: total.map(Quantity),
            attempt_number: attempt.map(Quantity),
            retry_count: attempt.map(|attempt| Quantity((attempt - 1.0).max(0.0))),
            initial_prompt: self.options.initial_prompt.clone(),
        };
        Some(metadata).filter(|metadata| *metadata != Metadata::default())
    }
}
