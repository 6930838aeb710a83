//! The state of one session.

use super::arithmetic::{elapsed, sum};
use super::artifacts::Artifacts;
use super::calls::{Calls, Update};
use super::event_fields::EventFields;
use super::fields::Field;
use super::texts::Texts;
use super::trace::{StepSource, Trace};
use super::types::ErrorDetails;
use super::usage::Usage;
use super::warnings::Warnings;
use std::collections::VecDeque;
use xxhash_rust::xxh3::xxh3_64;

/// Maximum number of messages whose roles are stored.
const MAX_ROLES: usize = 256;
/// Maximum number of stored requests for permissions that are not answered yet.
const MAX_OPEN_PERMISSIONS: usize = 256;

/// Whether a session is working, as far as its events show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Activity {
    #[default]
    Unknown,
    Busy,
    Idle,
}

/// Data about the last assistant message.
#[derive(Debug, Default)]
pub(super) struct Assistant {
    pub(super) id: Option<String>,
    pub(super) created: Option<f64>,
    pub(super) completed: Option<f64>,
    /// Tokens and cost of the message, if the agent reports them for each message.
    pub(super) usage: Usage,
    pub(super) model: Option<String>,
    pub(super) provider: Option<String>,
    /// Reason why the message ended, such as `stop`.
    pub(super) finish: Option<String>,
    pub(super) error: Option<ErrorDetails>,
}

/// The permissions that a session requested.
#[derive(Debug, Default)]
pub(super) struct Permissions {
    /// Hashes of the IDs of requests that are not answered yet.
    open: VecDeque<u64>,
    rejected: bool,
    requested: bool,
}

impl Permissions {
    /// Records a request for a permission. Returns false if an unanswered request has the same ID.
    pub(super) fn request(&mut self, id: &str) -> bool {
        self.requested = true;
        let id = xxh3_64(id.as_bytes());
        let new = !self.open.contains(&id);
        if new && self.open.len() < MAX_OPEN_PERMISSIONS {
            self.open.push_back(id);
        }
        new
    }

    /// Records the reply to the request with this ID.
    pub(super) fn reply(&mut self, id: &str, reply: &str) {
        let id = xxh3_64(id.as_bytes());
        self.open.retain(|open| *open != id);
        self.rejected |= matches!(reply, "reject" | "rejected" | "deny" | "denied" | "no");
        self.requested = true;
    }

    /// Records a request for a permission that was rejected immediately.
    pub(super) fn reject(&mut self) {
        (self.requested, self.rejected) = (true, true);
    }

    pub(super) const fn was_rejected(&self) -> bool {
        self.rejected
    }

    /// Returns true if a permission was rejected or is still unanswered; `None` if no permission was requested.
    pub(super) fn lacks_permission(&self) -> Option<bool> {
        self.requested.then_some(self.rejected || !self.open.is_empty())
    }
}

/// A session of a run.
#[derive(Debug, Default)]
pub(super) struct Session {
    pub(super) id: String,
    pub(super) parent: Option<String>,
    /// True if an event describes the session, instead of only naming it.
    pub(super) is_described: bool,
    pub(super) created: Option<f64>,
    pub(super) updated: Option<f64>,
    pub(super) activity: Activity,
    /// True if the agent wrote a text, called a tool or ended.
    pub(super) has_activity: bool,
    pub(super) assistant: Assistant,
    pub(super) texts: Texts,
    pub(super) calls: Calls,
    pub(super) artifacts: Artifacts,
    pub(super) error: Option<ErrorDetails>,
    pub(super) warnings: Warnings,
    pub(super) permissions: Permissions,
    /// Hashes of the IDs of messages. True stands for a message of the assistant, false for one of the user.
    roles: VecDeque<(u64, bool)>,
    /// Time at which the first message began.
    pub(super) start: Option<f64>,
    /// Tokens and cost of all requests to the model, if the agent reports them for each request or for the run.
    pub(super) usage: Usage,
    /// Tokens and cost of all messages but the last, if the agent reports them for each message.
    pub(super) earlier_messages: Usage,
    /// Id of the last step that ended.
    pub(super) last_finish: Option<String>,
    /// Number of requests to the model.
    pub(super) steps: Option<f64>,
    /// Duration of the run in milliseconds, if the agent reports it.
    pub(super) duration: Option<f64>,
    /// Final answer of the agent, if an event reports it in addition to the texts.
    pub(super) answer: Option<String>,
    /// `Some` if the stream does not show each tool call. The inner value is the number of calls, if the agent reports
    /// it.
    pub(super) hidden_call_count: Option<Option<f64>>,
    /// Version of the agent.
    pub(super) version: Option<String>,
    /// True if inputs and outputs of calls are kept.
    pub(super) full: bool,
    /// The steps, if they are kept.
    pub(super) trace: Option<Trace>,
    /// Number of the current event.
    pub(super) event: u64,
    /// Earliest time of an event in the current file, in milliseconds since 1970.
    earliest: Option<f64>,
    /// Latest time of an event in the current file, in milliseconds since 1970.
    latest: Option<f64>,
    /// Time that the session spent in earlier files; `None` in the first file.
    previous_files: Option<PreviousFiles>,
}

/// The time that a session spent in earlier files.
#[derive(Debug, Clone, Copy)]
struct PreviousFiles {
    /// Total time, in milliseconds.
    time: f64,
    /// Latest time of an event in these files, in milliseconds since 1970.
    until: f64,
}

impl Session {
    /// Creates a session without events.
    pub(super) fn new(full: bool, trace: Option<Trace>) -> Self {
        Self { full, trace, ..Self::default() }
    }

    /// Returns true for a message of the assistant, false for one of the user; `None` if its role is not known.
    pub(super) fn is_assistant_message(&self, message: &str) -> Option<bool> {
        let id = xxh3_64(message.as_bytes());
        self.roles.iter().rev().find(|(known, _)| *known == id).map(|(_, assistant)| *assistant)
    }

    pub(super) fn set_role(&mut self, message: &str, assistant: bool) {
        if self.is_assistant_message(message).is_none() {
            if self.roles.len() == MAX_ROLES {
                self.roles.pop_front();
            }
            self.roles.push_back((xxh3_64(message.as_bytes()), assistant));
        }
    }

    /// Records the time of an event in milliseconds since 1970. Times that earlier files cover are ignored.
    pub(super) fn record_time(&mut self, time: Option<f64>) {
        let is_new = |time: &f64| self.previous_files.is_none_or(|previous| *time > previous.until);
        if let Some(time) = time.filter(is_new) {
            self.earliest = Some(self.earliest.map_or(time, |earliest| earliest.min(time)));
            self.latest = Some(self.latest.map_or(time, |latest| latest.max(time)));
        }
    }

    /// Begins a step, which is one answer of the model. `id` is the ID of its message.
    pub(super) fn begin_step(&mut self, id: &str, time: Option<f64>) {
        self.has_activity = true;
        self.texts.set_last_message(id);
        if let Some(trace) = &mut self.trace {
            trace.begin_step(StepSource::Agent, id, time);
        }
    }

    /// Begins a step if the current step has tool calls and all calls have ended. This is for streams that do not show
    /// where an answer begins.
    pub(super) fn begin_step_after_calls(&mut self, time: Option<f64>) {
        let open = self.calls.any_open();
        if let Some(trace) = &mut self.trace
            && !trace.current_step().calls.is_empty()
            && !open
        {
            let id = trace.steps.len().to_string();
            trace.begin_step(StepSource::Agent, &id, time);
        }
        if let Some(trace) = &mut self.trace {
            let step = trace.current_step();
            step.time = step.time.or(time);
        }
    }

    /// Adds a complete text of the current answer.
    pub(super) fn add_text(&mut self, text: &str) {
        self.texts.add_text(text);
        if let Some(trace) = &mut self.trace {
            trace.current_step();
            trace.set_text(false, &self.event.to_string(), text);
        }
    }

    /// Adds a reasoning text of the model.
    pub(super) fn add_reasoning(&mut self, text: &str) {
        if let Some(trace) = &mut self.trace {
            trace.current_step();
            trace.set_text(true, &self.event.to_string(), text);
        }
    }

    /// Adds a message of the user. If one with the same ID was added before, this one is ignored.
    pub(super) fn add_user_message(&mut self, id: &str, text: &str, time: Option<f64>) {
        if let Some(trace) = &mut self.trace
            && trace.begin_step(StepSource::User, id, time)
        {
            trace.set_text(false, id, text);
        }
    }

    /// Updates a tool call, and records the files that it changed.
    pub(super) fn update_call(&mut self, update: Update<'_>) {
        self.has_activity = true;
        self.record_time(update.start);
        self.record_time(update.end);
        let result = self.calls.apply(update, self.full);
        for change in result.file_changes {
            self.artifacts.record(self.event, change);
        }
        if result.is_new
            && let Some(trace) = &mut self.trace
        {
            trace.current_step().calls.push(result.index);
        }
    }

    /// Updates a tool call that ended. `milliseconds` is its duration.
    pub(super) fn end_call_with_duration(&mut self, update: Update<'_>, milliseconds: Option<f64>) {
        let start = milliseconds.map(|_| 0.0);
        self.calls.apply(Update { start, end: milliseconds, ..update }, self.full);
    }

    /// Appends to the last text of the current answer.
    pub(super) fn append_text(&mut self, text: &str) {
        self.texts.append_to_last(text);
        if let Some(trace) = &mut self.trace {
            trace.current_step().append_text(text);
        }
    }

    /// Adds a warning that a request to the model is retried.
    pub(super) fn add_retry(&mut self, reason: Option<&str>, attempt: Option<f64>) {
        let (reason, attempt) = (reason.unwrap_or("no reason given"), attempt.unwrap_or(1.0));
        self.warnings.add(&format!("Session retry: {reason} (attempt {attempt})"));
    }

    pub(super) fn set_step_usage(&mut self, usage: Usage) {
        if let Some(trace) = &mut self.trace
            && usage.is_reported()
        {
            trace.current_step().usage = Some(usage);
        }
    }

    /// Records the time of an event that belongs to a message of the run.
    pub(super) fn record_message_time(&mut self, time: Option<f64>) {
        self.record_time(time);
        self.start = self.start.or(time);
        self.assistant.completed = time.or(self.assistant.completed);
    }

    /// Returns the tokens and the cost of the session: those of its requests, or else those of its messages.
    pub(super) fn total_usage(&self) -> Usage {
        if self.usage.is_reported() {
            return self.usage.clone();
        }
        self.earlier_messages.plus(&self.assistant.usage)
    }

    /// Adds a request to the model, with its tokens and cost.
    pub(super) fn add_request(&mut self, usage: &Usage) {
        self.steps = sum(self.steps, Some(1.0));
        self.usage = self.usage.plus(usage);
        self.set_step_usage(usage.clone());
    }

    /// Sets the error of the session.
    pub(super) fn fail(&mut self, kind: Option<String>, message: &str) {
        let message = Some(message.to_owned());
        self.error = Some(ErrorDetails { kind, message, ..ErrorDetails::default() });
    }

    /// Turns the error of the session into a warning, as the run continued.
    pub(super) fn recover(&mut self) {
        if let Some(error) = self.error.take() {
            self.warnings.add(&error_line(&error));
        }
    }

    /// Begins another file of the stream. The time between two files does not count as time of the session.
    pub(super) fn next_file(&mut self) {
        if let (Some(time), Some(until)) = (self.total_time(), self.latest) {
            self.previous_files = Some(PreviousFiles { time, until });
        }
        (self.earliest, self.latest) = (None, None);
    }

    /// Returns the time that the session took, in milliseconds. It is the sum of the times from the first to the last
    /// event of each file.
    pub(super) fn total_time(&self) -> Option<f64> {
        sum(self.previous_files.map(|previous| previous.time), elapsed(self.earliest, self.latest))
    }
}

/// Returns the error that an event reports; `None` if it reports none.
pub(super) fn error_details(event: &EventFields) -> Option<ErrorDetails> {
    event.has(Field::Error).then(|| {
        let stack_trace = event.string(Field::ErrorStack);
        let frame = stack_trace.as_deref().and_then(first_frame);
        let line = event.count(Field::ErrorLine).filter(|line| *line > 0);
        ErrorDetails {
            kind: event.string(Field::ErrorName),
            message: event.string(Field::ErrorText).or(event.string(Field::Error)),
            file_path: event.string(Field::ErrorFile).or(frame.as_ref().map(|(file, _)| file.clone())),
            line_number: line.or(frame.map(|(_, line)| line)),
            stack_trace,
            status_code: event.count(Field::ErrorStatus),
            is_retryable: event.flag(Field::ErrorRetryable),
        }
    })
}

/// Describes an error in one line.
pub(super) fn error_line(details: &ErrorDetails) -> String {
    let text = details.message.as_ref().or(details.kind.as_ref());
    text.cloned().unwrap_or_else(|| "the agent reported an error without details".to_owned())
}

/// Returns file and line of the first frame of a JavaScript stack trace, such as `at run (/src/a.ts:12:5)`.
fn first_frame(stack: &str) -> Option<(String, u64)> {
    stack.lines().find_map(|line| {
        let frame = line.trim().strip_prefix("at ")?;
        let location = frame.rsplit_once('(').map_or(frame, |(_, location)| location.trim_end_matches(')'));
        let (location, column) = location.rsplit_once(':')?;
        column.parse::<u64>().ok()?;
        let (file, line) = location.rsplit_once(':')?;
        Some((file.trim_start_matches("file://").to_owned(), line.parse().ok()?))
    })
}
