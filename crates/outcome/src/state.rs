//! What has been read so far, and the outcome that follows from it.

use super::artifacts::{Artifacts, Touch};
use super::calls;
use super::event::EventFields;
use super::fields::Field;
use super::session::{Activity, Session, in_a_line};
use super::stderr::Tail;
use super::trace::Trace;
use super::types::{ErrorDetails, Metadata, Metrics, Quantity, RunOutcome};
use super::{Dialect, OutcomeOptions};
use serde_json::Value;

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
    /// The agent's name, as exports have it.
    pub(super) agent: &'static str,
    pub(super) cache: Cache,
    pub(super) events: Events,
    /// Why a session is no success although no error was reported.
    pub(super) unfinished: fn(&Session) -> Option<String>,
}

/// Whether an agent counts the tokens that a cache had among the input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cache {
    Apart,
    Within,
}

/// How the events of a stream are read.
pub(super) enum Events {
    /// By their fields alone, with their type.
    Fields(fn(&mut State, &EventFields, &str) -> Taken),
    /// Each as a whole.
    Values {
        /// Whether a stream of unknown origin is this one, by an event.
        begins: fn(&Value) -> bool,
        take: fn(&mut State, &Value) -> Taken,
    },
}

impl EventStream {
    /// Takes an event; `named` when the stream is known to be this one.
    fn take(&self, state: &mut State, event: &EventFields, value: Option<&Value>, named: bool) -> Taken {
        match (&self.events, event.name(Field::Type), value) {
            (Events::Fields(take), Some(kind), _) => take(state, event, kind),
            (Events::Fields(_), None, _) => Taken::Lacks("a type"),
            (Events::Values { begins, take }, _, Some(value)) if named || begins(value) => take(state, value),
            (Events::Values { .. }, ..) => Taken::Unknown,
        }
    }
}

/// Why a run is no success that none of its events ended.
pub(super) fn unfinished(session: &Session) -> Option<String> {
    (session.activity != Activity::Idle).then(|| "the stream ends before the run does".to_owned())
}

/// What has been read so far.
pub(super) struct State {
    pub(super) options: OutcomeOptions,
    /// The streams that it may be.
    streams: &'static [EventStream],
    pub(super) stream: Option<&'static EventStream>,
    sessions: Vec<Session>,
    /// Files that no session was named for.
    pub(super) loose: Artifacts,
    /// The number of the event at hand.
    pub(super) events: u64,
    understood: u64,
    /// Lines that were refused, and the first reason.
    pub(super) refused: u64,
    pub(super) first_refusal: Option<String>,
    /// The last lines of text on standard error.
    pub(super) said: Tail,
    too_many_sessions: bool,
}

impl State {
    pub(super) fn new(options: OutcomeOptions, streams: &'static [EventStream]) -> Self {
        let stream = streams.iter().find(|stream| stream.dialect == options.dialect);
        Self {
            options,
            streams,
            stream,
            sessions: Vec::new(),
            loose: Artifacts::default(),
            events: 0,
            understood: 0,
            refused: 0,
            first_refusal: None,
            said: Tail::default(),
            too_many_sessions: false,
        }
    }

    /// Whether events are wanted by their fields, and whether as a whole.
    pub(super) fn wants(&self) -> (bool, bool) {
        match self.stream.map(|stream| &stream.events) {
            None => (true, true),
            Some(Events::Fields(_)) => (true, false),
            Some(Events::Values { .. }) => (false, true),
        }
    }

    /// How many events told something about a run.
    pub(super) const fn understood(&self) -> u64 {
        self.understood
    }

    /// Takes an event, and as a whole if it was built, with whether a text of it was cut. Gives a warning when it
    /// is not as it should be.
    pub(super) fn take(&mut self, event: &EventFields, built: Option<(&Value, bool)>) -> Option<String> {
        self.events += 1;
        let kind = event.name(Field::Type);
        let mut lacks = None;
        let known = self.stream;
        for stream in known.map_or(self.streams, std::slice::from_ref) {
            match stream.take(self, event, built.map(|(value, _)| value), known.is_some()) {
                Taken::Unknown => continue,
                Taken::Understood => self.understood += 1,
                Taken::Idle => {}
                Taken::Lacks(what) => {
                    // Of an unknown stream it may be an event of another.
                    lacks = lacks.or(Some(what));
                    continue;
                }
            }
            self.stream = Some(stream);
            let cut = match stream.events {
                Events::Fields(_) => event.cut,
                Events::Values { .. } => built.is_some_and(|(_, cut)| cut),
            };
            return cut.then(|| "has a text over 1 MiB, which was truncated".to_owned());
        }
        lacks.map(|what| {
            kind.map_or_else(|| "has no type".to_owned(), |kind| format!("is {kind} without {what}"))
        })
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
                let trace = self.options.steps.then(Trace::default);
                self.sessions.push(Session::new(self.options.full, trace));
                self.sessions.len() - 1
            }
        };
        let session = &mut self.sessions[at];
        session.event = self.events;
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
        let Some(taken) = session.calls.update(event, full) else { return Taken::Lacks("a callID") };
        if let Some(trace) = session.trace.as_mut().filter(|_| taken.new) {
            trace.current().calls.push(taken.at);
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
    pub(super) fn main(&self) -> Option<&Session> {
        let announced = self.sessions.iter().find(|session| session.announced);
        announced.or(self.sessions.first()).map(|session| self.root(session))
    }

    /// The outcome of what has been read, with the warnings of the reading.
    pub(super) fn outcome(&self, reading: Vec<String>) -> RunOutcome {
        let main = self.main().filter(|_| self.understood > 0);
        let mut outcome = main.map_or_else(RunOutcome::default, |main| self.of_session(main));
        // What the agent says itself is reason enough.
        if outcome.error_details.is_none() {
            let refused = main.is_some_and(|main| main.permissions.was_refused());
            outcome.error = self.reasons(main.is_some(), outcome.error, refused);
        }
        outcome.success = outcome.error.is_none();
        if outcome.message == outcome.error {
            outcome.message = None;
        }
        if self.too_many_sessions {
            let warning = format!("more than {MAX_SESSIONS} sessions; the events of the others are ignored");
            outcome.warnings.push(warning);
        }
        outcome.warnings.extend(reading);
        outcome.metadata = self.metadata(&outcome);
        outcome
    }

    /// Why the run failed, where no event of an error says it: what the stream lacks, standard error, the exit code.
    fn reasons(&self, understood: bool, unfinished: Option<String>, refused: bool) -> Option<String> {
        let code = self.options.exit_code.filter(|code| *code != 0);
        if understood && unfinished.is_none() && code.is_none() {
            return None;
        }
        let said = self.said.text().filter(|_| unfinished.is_none() || !refused);
        let silent = self.events + self.refused == 0 && said.is_some();
        let lacks = if understood || silent { unfinished } else { Some(self.not_understood()) };
        let exited = code.map(|code| format!("the program exited with {code}"));
        let reasons: Vec<String> = [lacks, said, exited].into_iter().flatten().collect();
        Some(reasons.join("; "))
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
        if main.answer.is_none() && main.texts.is_truncated() {
            warnings.push("the message is longer than 4 MiB and was truncated".to_owned());
        }
        let error_details = main.error.clone().or(main.assistant.error.clone());
        let error = error_details.as_ref().map(in_a_line);
        let unfinished = || self.stream.and_then(|stream| (stream.unfinished)(main));
        let tool_calls = main.calls.finish();
        #[expect(clippy::cast_precision_loss, reason = "there are fewer calls than 2^53")]
        let shown = tool_calls.len() as f64;
        let calls = main.uncounted.unwrap_or(Some(shown)).map(Quantity);
        let metrics = Metrics { api_calls_count: calls, tool_calls_count: calls, ..main.metrics() };
        RunOutcome {
            success: false,
            session_id: Some(main.id.clone()).filter(|id| !id.is_empty()),
            message: main.answer.clone().or_else(|| main.texts.message()),
            artifacts: artifacts.finish(),
            error: error.or_else(unfinished),
            error_details: error_details.filter(|details| *details != ErrorDetails::default()),
            tool_calls,
            warnings,
            requires_approval: approval,
            metrics: Some(metrics).filter(|metrics| *metrics != Metrics::default()),
            metadata: None,
        }
    }

    fn not_understood(&self) -> String {
        let lines = match self.events + self.refused {
            0 => return "no known event: the stream is empty".to_owned(),
            1 => "1 line".to_owned(),
            lines => format!("{lines} lines"),
        };
        match &self.first_refusal {
            Some(first) => format!("no known event in {lines}; {first}"),
            None => format!("no known event in {lines}: the types are unknown"),
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
