//! State of a collector, its mappers, and the outcome that follows from it.

use super::arithmetic::sum;
use super::artifacts::{ArtifactChange, Artifacts};
use super::calls;
use super::event_fields::EventFields;
use super::fields::Field;
use super::json::text;
use super::mapper_file::MapperFile;
use super::session::{Activity, Session, error_line};
use super::stderr::StderrTail;
use super::trace::Trace;
use super::types::{ErrorDetails, Metadata, Metrics, Quantity, RunOutcome};
use super::{Dialect, OutcomeOptions, Unrecognised};
use strict_json::TapeNode;

/// Maximum number of sessions; events of further sessions are ignored.
const MAX_SESSIONS: usize = 1024;
/// Start of the error message of opencode for a tool call whose permission was rejected.
const REJECTED: &str = "The user rejected permission";

/// Result of mapping an event.
pub(super) enum MapResult {
    /// The event contributes to the outcome.
    Understood,
    /// The event is known, but does not contribute to the outcome.
    Ignored,
    /// The event is known, but the given member is missing or has the wrong type.
    Missing(&'static str),
    /// The event is unknown: it is not one of this agent.
    Unknown,
}

/// Turns the events of one agent into an outcome.
pub(super) struct Mapper {
    pub(super) dialect: Dialect,
    /// Name of the program.
    pub(super) program: &'static str,
    /// Name of the agent in exports.
    pub(super) agent: &'static str,
    /// Names of the formats: of a stream, and of a document or an array of events.
    pub(super) formats: [&'static str; 2],
    pub(super) map: MapFn,
    /// Returns why a session without a reported error failed; `None` if it did not fail.
    pub(super) failure_reason: fn(&Session) -> Option<String>,
}

/// How a mapper receives events.
pub(super) enum MapFn {
    /// The functions receive selected fields of an event, and its type.
    Fields {
        /// Returns true if a stream can begin with an event of this type.
        is_head: fn(&str) -> bool,
        map_event: fn(&mut State, &EventFields, &str) -> MapResult,
    },
    /// The functions receive an event on a tape.
    Values {
        /// Returns true if a stream can begin with an event of this type.
        is_head: fn(&str) -> bool,
        /// Returns true if an event shows that the stream is one of this agent.
        detects: fn(TapeNode<'_>) -> bool,
        map_event: fn(&mut State, TapeNode<'_>) -> MapResult,
    },
    /// The rules of the file apply to an event on a tape.
    File(&'static MapperFile),
}

impl Mapper {
    /// Applies an event to the state. `known` is true if the stream is known to be one of this agent.
    fn map_event(
        &self,
        state: &mut State,
        event: &EventFields,
        value: Option<TapeNode<'_>>,
        known: bool,
    ) -> MapResult {
        match (&self.map, event.nonempty(Field::Type), value) {
            (MapFn::Fields { map_event, .. }, Some(kind), _) => map_event(state, event, kind),
            (MapFn::Fields { .. }, None, _) => MapResult::Missing("a type"),
            (MapFn::Values { detects, map_event, .. }, _, Some(value)) if known || detects(value) => {
                map_event(state, value)
            }
            (MapFn::File(file), _, Some(value)) => file.map_event(state, value, known),
            _ => MapResult::Unknown,
        }
    }

    /// True if a stream can begin with the event.
    fn is_head(&self, event: &EventFields, value: Option<TapeNode<'_>>) -> bool {
        // The fields are filled only if the mapper needs them.
        let of_value = value.and_then(|value| text(value, "/type"));
        let kind = event.nonempty(Field::Type).or(of_value).unwrap_or_default();
        match &self.map {
            MapFn::Fields { is_head, .. } | MapFn::Values { is_head, .. } => is_head(kind),
            MapFn::File(file) => value.is_some_and(|value| file.is_head(value)),
        }
    }
}

/// Returns why a session failed that is not idle at the end: no event ended the run. `None` if it is idle.
pub(super) fn failure_reason(session: &Session) -> Option<String> {
    (session.activity != Activity::Idle).then(|| "the stream ends before the run does".to_owned())
}

/// What a collector has read so far.
pub(super) struct State {
    pub(super) options: OutcomeOptions,
    /// The mappers to try as long as the agent is not known.
    mappers: &'static [Mapper],
    pub(super) mapper: Option<&'static Mapper>,
    sessions: Vec<Session>,
    /// Changed files in events that name no session.
    pub(super) unassigned_artifacts: Artifacts,
    /// True if the data is a document, or an array of events.
    pub(super) is_document: bool,
    /// True if the first known event is one with which a stream begins; `None` before the first known event.
    has_head: Option<bool>,
    /// Number of events that were read, including the current one.
    pub(super) events: u64,
    understood: u64,
    /// Number of skipped lines.
    pub(super) skipped: u64,
    /// Warning about the first skipped line.
    pub(super) first_skip: Option<String>,
    pub(super) stderr_tail: StderrTail,
    too_many_sessions: bool,
}

impl State {
    pub(super) fn new(options: OutcomeOptions, mappers: &'static [Mapper]) -> Self {
        let mapper = mappers.iter().find(|mapper| mapper.dialect == options.dialect);
        Self {
            options,
            mappers,
            mapper,
            sessions: Vec::new(),
            unassigned_artifacts: Artifacts::default(),
            is_document: false,
            has_head: None,
            events: 0,
            understood: 0,
            skipped: 0,
            first_skip: None,
            stderr_tail: StderrTail::default(),
            too_many_sessions: false,
        }
    }

    /// Returns two flags: fields of events are needed; events are needed as JSON values.
    pub(super) fn needed_event_forms(&self) -> (bool, bool) {
        match self.mapper.map(|mapper| &mapper.map) {
            None => (true, true),
            Some(MapFn::Fields { .. }) => (true, false),
            Some(MapFn::Values { .. } | MapFn::File(_)) => (false, true),
        }
    }

    /// Returns the number of events that contribute to the outcome.
    pub(super) const fn understood(&self) -> u64 {
        self.understood
    }

    /// Maps an event. `built` is the event on a tape, with true if one of its texts was truncated. Returns a
    /// warning if the event is not as expected.
    pub(super) fn take_event(
        &mut self,
        event: &EventFields,
        built: Option<(TapeNode<'_>, bool)>,
    ) -> Option<String> {
        self.events += 1;
        let kind = event.nonempty(Field::Type);
        let mut missing = None;
        let known = self.mapper;
        for mapper in known.map_or(self.mappers, std::slice::from_ref) {
            match mapper.map_event(self, event, built.map(|(value, _)| value), known.is_some()) {
                MapResult::Unknown => continue,
                MapResult::Understood => self.understood += 1,
                MapResult::Ignored => {}
                MapResult::Missing(member) => {
                    // If the mapper is not known yet, the event may be one of another agent.
                    missing = missing.or(Some(member));
                    continue;
                }
            }
            self.has_head =
                self.has_head.or_else(|| Some(mapper.is_head(event, built.map(|(value, _)| value))));
            self.mapper = Some(mapper);
            let truncated = match mapper.map {
                MapFn::Fields { .. } => event.truncated,
                MapFn::Values { .. } | MapFn::File(_) => built.is_some_and(|(_, truncated)| truncated),
            };
            return truncated.then(|| "has a text over 1 MiB, which was truncated".to_owned());
        }
        missing.map(|member| {
            kind.map_or_else(|| "has no type".to_owned(), |kind| format!("is {kind} without {member}"))
        })
    }

    /// Returns the session with this ID, and creates it if it is new. If `id` is `None`, returns the first session.
    /// Returns `None` if there are too many sessions.
    pub(super) fn session(&mut self, id: Option<&str>) -> Option<&mut Session> {
        let id = id.unwrap_or_default();
        let known = self.sessions.iter().position(|session| id.is_empty() || session.id == id);
        // Events without a session id belong to the first session that is named.
        let unnamed = || self.sessions.iter().position(|session| session.id.is_empty());
        let index = match known.or_else(unnamed) {
            Some(index) => index,
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
        let session = &mut self.sessions[index];
        session.event = self.events;
        if session.id.is_empty() {
            id.clone_into(&mut session.id);
        }
        Some(session)
    }

    /// Handles an event about a tool call, for both mappers of opencode.
    pub(super) fn update_tool_call(&mut self, event: &EventFields) -> MapResult {
        let (full, event_number) = (self.options.full, self.events);
        let Some(session) =
            self.session(event.nonempty(Field::PartSession).or(event.nonempty(Field::Session)))
        else {
            return MapResult::Ignored;
        };
        let Some(result) = session.calls.update_from_part(event, full) else {
            return MapResult::Missing("a callID");
        };
        if let Some(trace) = session.trace.as_mut().filter(|_| result.is_new) {
            trace.current_step().calls.push(result.index);
        }
        session.has_activity = true;
        session.record_time(event.number(Field::ToolStart));
        session.record_time(event.number(Field::ToolEnd));
        for change in calls::file_changes(event) {
            session.artifacts.record(event_number, change);
        }
        if event.text(Field::ToolError).is_some_and(|error| error.starts_with(REJECTED)) {
            if session.permissions.lacks_permission().is_none() {
                let tool = event.nonempty(Field::Tool).unwrap_or("unknown");
                session.warnings.add(&format!("Permission required: {tool}"));
            }
            session.permissions.reject();
        }
        MapResult::Understood
    }

    /// Records a change of a file in a session. If `session` is `None`, the file belongs to no session.
    pub(super) fn record_file_change(&mut self, session: Option<&str>, change: ArtifactChange) {
        let event_number = self.events;
        match session {
            None => self.unassigned_artifacts.record(event_number, change),
            Some(id) => {
                if let Some(session) = self.session(Some(id)) {
                    session.artifacts.record(event_number, change);
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

    /// Returns the outermost parent of a session among the sessions of the stream; the session itself if it has no
    /// parent.
    fn root<'s>(&'s self, mut session: &'s Session) -> &'s Session {
        // The number of sessions bounds the chain, which may have cycles.
        for _ in 0..self.sessions.len() {
            match session.parent.as_deref().and_then(|parent| self.by_id(parent)) {
                Some(parent) => session = parent,
                None => break,
            }
        }
        session
    }

    /// Returns the session of the run: the outermost parent of the first announced session.
    pub(super) fn main(&self) -> Option<&Session> {
        let announced = self.sessions.iter().find(|session| session.is_described);
        announced.or(self.sessions.first()).map(|session| self.root(session))
    }

    /// Returns the outcome of the events so far; `stream_warnings` are added to its warnings. Fails if no mapper knows
    /// the stream.
    pub(super) fn outcome(&self, stream_warnings: Vec<String>) -> Result<RunOutcome, Unrecognised> {
        let is_declared = self.options.dialect != Dialect::Auto;
        // A declared agent that printed nothing failed.
        if self.understood == 0 && !(is_declared && self.events + self.skipped == 0) {
            return Err(Unrecognised(self.not_understood_reason()));
        }
        let main = self.main().filter(|_| self.understood > 0);
        let mut outcome = main.map_or_else(RunOutcome::default, |main| self.session_outcome(main));
        // An error that the agent reports needs no other reason.
        if outcome.error_details.is_none() {
            let rejected = main.is_some_and(|main| main.permissions.was_rejected());
            outcome.error = self.failure_reasons(main.is_some(), outcome.error, rejected);
        }
        outcome.success = outcome.error.is_none();
        outcome.incomplete = self.has_head == Some(false);
        if outcome.message == outcome.error {
            outcome.message = None;
        }
        if self.too_many_sessions {
            let warning = format!("more than {MAX_SESSIONS} sessions; the events of the others are ignored");
            outcome.warnings.push(warning);
        }
        outcome.warnings.extend(stream_warnings);
        outcome.metadata = self.metadata(&outcome);
        Ok(outcome)
    }

    /// Returns why a run without a reported error failed, from incomplete events, the text on stderr and the exit code;
    /// `None` if it did not fail. `understood` is true if the stream contains events of the agent.
    fn failure_reasons(
        &self,
        understood: bool,
        failure_reason: Option<String>,
        rejected: bool,
    ) -> Option<String> {
        let code = self.options.exit_code.filter(|code| *code != 0);
        if understood && failure_reason.is_none() && code.is_none() {
            return None;
        }
        let stderr_text = self.stderr_tail.text().filter(|_| failure_reason.is_none() || !rejected);
        let only_stderr = self.events + self.skipped == 0 && stderr_text.is_some();
        let incomplete =
            if understood || only_stderr { failure_reason } else { Some(self.not_understood_reason()) };
        let exited = code.map(|code| format!("the program exited with {code}"));
        let reasons: Vec<String> = [incomplete, stderr_text, exited].into_iter().flatten().collect();
        Some(reasons.join("; "))
    }

    fn session_outcome(&self, main: &Session) -> RunOutcome {
        let mut artifacts = self.unassigned_artifacts.clone();
        let mut warnings = main.warnings.list();
        let mut approval = main.permissions.lacks_permission();
        artifacts.merge(&main.artifacts);
        let (mut usage, mut steps) = (main.total_usage(), main.steps);
        let children = self.sessions.iter().filter(|session| !std::ptr::eq(*session, main));
        for child in children.filter(|session| std::ptr::eq(self.root(session), main)) {
            artifacts.merge(&child.artifacts);
            warnings.extend(child.warnings.list());
            (usage, steps) = (usage.plus(&child.total_usage()), sum(steps, child.steps));
            approval = match (approval, child.permissions.lacks_permission()) {
                (Some(one), Some(other)) => Some(one || other),
                (one, other) => one.or(other),
            };
        }
        if main.answer.is_none() && main.texts.is_truncated() {
            warnings.push("the message is longer than 4 MiB and was truncated".to_owned());
        }
        let error_details = main.error.clone().or(main.assistant.error.clone());
        let error = error_details.as_ref().map(error_line);
        let failure_reason = || self.mapper.and_then(|mapper| (mapper.failure_reason)(main));
        let tool_calls = main.calls.finish();
        #[expect(clippy::cast_precision_loss, reason = "there are fewer calls than 2^53")]
        let call_count = tool_calls.len() as f64;
        let calls = main.hidden_call_count.unwrap_or(Some(call_count)).map(Quantity);
        let metrics = Metrics {
            api_calls_count: calls,
            tool_calls_count: calls,
            steps: steps.map(Quantity),
            ..main.metrics(&usage)
        };
        RunOutcome {
            success: false,
            incomplete: false,
            session_id: Some(main.id.clone()).filter(|id| !id.is_empty()),
            message: main
                .answer
                .as_deref()
                .map(str::trim)
                .map(str::to_owned)
                .or_else(|| main.texts.message()),
            artifacts: artifacts.finish(),
            error: error.or_else(failure_reason),
            error_details: error_details.filter(|details| *details != ErrorDetails::default()),
            tool_calls,
            warnings,
            requires_approval: approval,
            metrics: Some(metrics).filter(|metrics| *metrics != Metrics::default()),
            metadata: None,
        }
    }

    fn not_understood_reason(&self) -> String {
        let lines = match self.events + self.skipped {
            0 => return "no known event: the stream is empty".to_owned(),
            1 => "1 line".to_owned(),
            lines => format!("{lines} lines"),
        };
        match &self.first_skip {
            Some(first) => format!("no known event in {lines}; {first}"),
            None => format!("no known event in {lines}: the event types are unknown"),
        }
    }

    fn metadata(&self, outcome: &RunOutcome) -> Option<Metadata> {
        let total = self.main().filter(|_| self.understood > 0).and_then(Session::total_time);
        let attempt = self.options.attempt.map(f64::from);
        let format = |mapper: &Mapper| mapper.formats[usize::from(self.is_document)].to_owned();
        let metadata = Metadata {
            agent: self.mapper.map(|mapper| mapper.program.to_owned()),
            format: self.mapper.filter(|_| self.understood > 0).map(format),
            session_id: outcome.session_id.clone(),
            phase_total_duration_ms: total.map(Quantity),
            attempt_number: attempt.map(Quantity),
            retry_count: attempt.map(|attempt| Quantity((attempt - 1.0).max(0.0))),
            initial_prompt: self.options.initial_prompt.clone(),
        };
        Some(metadata).filter(|metadata| *metadata != Metadata::default())
    }
}
