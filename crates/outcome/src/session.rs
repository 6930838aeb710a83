//! What is known of one session.

use super::arithmetic::{span, sum};
use super::artifacts::Artifacts;
use super::calls::{Calls, Update};
use super::event::EventFields;
use super::fields::Field;
use super::texts::Texts;
use super::trace::{Source, Trace};
use super::types::ErrorDetails;
use super::usage::Usage;
use super::warnings::Warnings;
use std::collections::VecDeque;
use xxhash_rust::xxh3::xxh3_64;

/// The roles of this many messages are remembered.
const MAX_ROLES: usize = 256;
/// This many permissions may be open at once.
const MAX_ASKED: usize = 256;

/// Whether a session is at work, as far as it was said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Activity {
    #[default]
    Unknown,
    Busy,
    Idle,
}

/// The last assistant message, or in a stream of steps the run as a whole.
#[derive(Debug, Default)]
pub(super) struct Assistant {
    pub(super) id: Option<String>,
    pub(super) created: Option<f64>,
    pub(super) completed: Option<f64>,
    pub(super) input: Option<f64>,
    pub(super) output: Option<f64>,
    pub(super) cost: Option<f64>,
    pub(super) model: Option<String>,
    pub(super) provider: Option<String>,
    /// Why it ended, such as `stop`.
    pub(super) finish: Option<String>,
    pub(super) error: Option<ErrorDetails>,
}

/// The permissions that a session asked for.
#[derive(Debug, Default)]
pub(super) struct Permissions {
    open: VecDeque<u64>,
    refused: bool,
    asked: bool,
}

impl Permissions {
    /// A permission is asked for; false when it was already.
    pub(super) fn ask(&mut self, id: &str) -> bool {
        self.asked = true;
        let id = xxh3_64(id.as_bytes());
        let new = !self.open.contains(&id);
        if new && self.open.len() < MAX_ASKED {
            self.open.push_back(id);
        }
        new
    }

    /// A permission was granted or refused.
    pub(super) fn reply(&mut self, id: &str, reply: &str) {
        let id = xxh3_64(id.as_bytes());
        self.open.retain(|open| *open != id);
        self.refused |= matches!(reply, "reject" | "rejected" | "deny" | "denied" | "no");
        self.asked = true;
    }

    /// A permission was asked for and refused at once.
    pub(super) fn refuse(&mut self) {
        (self.asked, self.refused) = (true, true);
    }

    pub(super) const fn was_refused(&self) -> bool {
        self.refused
    }

    /// Whether approval is required; none when no permission was asked for.
    pub(super) fn required(&self) -> Option<bool> {
        self.asked.then_some(self.refused || !self.open.is_empty())
    }
}

/// What is known of one session.
#[derive(Debug, Default)]
pub(super) struct Session {
    pub(super) id: String,
    pub(super) parent: Option<String>,
    /// It had an event of its own, not only events that name it.
    pub(super) announced: bool,
    pub(super) created: Option<f64>,
    pub(super) updated: Option<f64>,
    pub(super) activity: Activity,
    /// The agent did something: it wrote, called a tool, or came to its end.
    pub(super) acted: bool,
    pub(super) assistant: Assistant,
    pub(super) texts: Texts,
    pub(super) calls: Calls,
    pub(super) artifacts: Artifacts,
    pub(super) error: Option<ErrorDetails>,
    pub(super) warnings: Warnings,
    pub(super) permissions: Permissions,
    /// Hashes of message ids, with whether they are the assistant's.
    roles: VecDeque<(u64, bool)>,
    /// What was used, of all requests.
    pub(super) used: Usage,
    /// The step that ended last.
    pub(super) last_finish: Option<String>,
    /// How many requests there were.
    pub(super) steps: Option<f64>,
    /// Tokens of all kinds, where the agent adds them up itself.
    pub(super) tokens: Option<f64>,
    /// Milliseconds, where the agent measures them itself.
    pub(super) duration: Option<f64>,
    /// The final answer, where an event tells it apart from the texts.
    pub(super) answer: Option<String>,
    /// How many calls there were, where the stream does not show each; none inside if it does not tell.
    pub(super) uncounted: Option<Option<f64>>,
    /// The version of the agent.
    pub(super) version: Option<String>,
    /// Inputs and outputs of calls are kept.
    pub(super) full: bool,
    /// The steps, if they are kept.
    pub(super) trace: Option<Trace>,
    /// The number of the event at hand.
    pub(super) event: u64,
    /// The first and the last time in the file at hand.
    earliest: Option<f64>,
    latest: Option<f64>,
    /// What the files before it come to.
    before: Option<Spent>,
}

/// The time that a session spent in files that were read.
#[derive(Debug, Clone, Copy)]
struct Spent {
    /// In milliseconds.
    time: f64,
    /// The last time in them.
    until: f64,
}

impl Session {
    /// Nothing is known yet; inputs and outputs of calls, and steps, are kept or not.
    pub(super) fn new(full: bool, trace: Option<Trace>) -> Self {
        Self { full, trace, ..Self::default() }
    }

    /// Whether a message is the assistant's, when that is known.
    pub(super) fn role(&self, message: &str) -> Option<bool> {
        let id = xxh3_64(message.as_bytes());
        self.roles.iter().rev().find(|(known, _)| *known == id).map(|(_, assistant)| *assistant)
    }

    pub(super) fn learn_role(&mut self, message: &str, assistant: bool) {
        if self.role(message).is_none() {
            if self.roles.len() == MAX_ROLES {
                self.roles.pop_front();
            }
            self.roles.push_back((xxh3_64(message.as_bytes()), assistant));
        }
    }

    /// A time that the stream has: the session was at work then. What earlier files have was counted with them.
    pub(super) fn at(&mut self, time: Option<f64>) {
        let is_new = |time: &f64| self.before.is_none_or(|before| *time > before.until);
        if let Some(time) = time.filter(is_new) {
            self.earliest = Some(self.earliest.map_or(time, |earliest| earliest.min(time)));
            self.latest = Some(self.latest.map_or(time, |latest| latest.max(time)));
        }
    }

    /// An answer of the model begins, with the id of its message.
    pub(super) fn step(&mut self, id: &str, time: Option<f64>) {
        self.acted = true;
        self.texts.last_message(id);
        if let Some(trace) = &mut self.trace {
            trace.begin(Source::Agent, id, time);
        }
    }

    /// Where the stream does not show where an answer begins: behind calls that have ended.
    pub(super) fn step_behind_calls(&mut self, time: Option<f64>) {
        let open = self.calls.any_open();
        if let Some(trace) = &mut self.trace
            && !trace.current().calls.is_empty()
            && !open
        {
            let id = trace.steps.len().to_string();
            trace.begin(Source::Agent, &id, time);
        }
        if let Some(trace) = &mut self.trace {
            let step = trace.current();
            step.time = step.time.or(time);
        }
    }

    /// A text of the answer at hand, whole.
    pub(super) fn text(&mut self, text: &str) {
        self.texts.add(text);
        if let Some(trace) = &mut self.trace {
            trace.current();
            trace.text(false, &self.event.to_string(), text);
        }
    }

    /// What the model thought.
    pub(super) fn reasoning(&mut self, text: &str) {
        if let Some(trace) = &mut self.trace {
            trace.current();
            trace.text(true, &self.event.to_string(), text);
        }
    }

    /// What the user wrote, with the id of it.
    pub(super) fn user(&mut self, id: &str, text: &str, time: Option<f64>) {
        if let Some(trace) = &mut self.trace
            && trace.begin(Source::User, id, time)
        {
            trace.text(false, id, text);
        }
    }

    /// What a call does, with the files that it touches.
    pub(super) fn call(&mut self, update: Update<'_>) {
        self.acted = true;
        self.at(update.start);
        self.at(update.end);
        let taken = self.calls.take(update, self.full);
        for touch in taken.touches {
            self.artifacts.touch(self.event, touch);
        }
        if taken.new
            && let Some(trace) = &mut self.trace
        {
            trace.current().calls.push(taken.at);
        }
    }

    /// The end of a call that took so many milliseconds.
    pub(super) fn call_of_span(&mut self, update: Update<'_>, milliseconds: Option<f64>) {
        let start = milliseconds.map(|_| 0.0);
        self.calls.take(Update { start, end: milliseconds, ..update }, self.full);
    }

    /// A part of a text, which goes on in the next one.
    pub(super) fn delta(&mut self, text: &str) {
        self.texts.extend(text);
        if let Some(trace) = &mut self.trace {
            trace.current().extend(text);
        }
    }

    /// A request is tried again.
    pub(super) fn retry(&mut self, reason: Option<&str>, attempt: Option<f64>) {
        let (reason, attempt) = (reason.unwrap_or("no reason given"), attempt.unwrap_or(1.0));
        self.warnings.add(&format!("Session retry: {reason} (attempt {attempt})"));
    }

    /// The step at hand used so much.
    pub(super) fn used_in_step(&mut self, usage: Usage) {
        if let Some(trace) = &mut self.trace {
            trace.current().usage = Some(usage);
        }
    }

    /// A request used so much.
    pub(super) fn request(&mut self, usage: &Usage) {
        self.steps = sum(self.steps, Some(1.0));
        self.used = self.used.plus(usage);
        self.used_in_step(usage.clone());
    }

    /// The run failed, as far as is known.
    pub(super) fn fail(&mut self, kind: Option<String>, message: &str) {
        let message = Some(message.to_owned());
        self.error = Some(ErrorDetails { kind, message, ..ErrorDetails::default() });
    }

    /// What was an error was none: the run went on.
    pub(super) fn recover(&mut self) {
        if let Some(error) = self.error.take() {
            self.warnings.add(&in_a_line(&error));
        }
    }

    /// Another file begins: the time between the two is not the session's.
    pub(super) fn next_file(&mut self) {
        if let (Some(time), Some(until)) = (self.total(), self.latest) {
            self.before = Some(Spent { time, until });
        }
        (self.earliest, self.latest) = (None, None);
    }

    /// The time spent: from the first to the last time of each file.
    pub(super) fn total(&self) -> Option<f64> {
        sum(self.before.map(|before| before.time), span(self.earliest, self.latest))
    }
}

/// The error of an event.
pub(super) fn error_details(event: &EventFields) -> Option<ErrorDetails> {
    event.has(Field::Error).then(|| {
        let stack_trace = event.owned(Field::ErrorStack);
        let frame = stack_trace.as_deref().and_then(first_frame);
        let line = event.count(Field::ErrorLine).filter(|line| *line > 0);
        ErrorDetails {
            kind: event.owned(Field::ErrorName),
            message: event.owned(Field::ErrorText).or(event.owned(Field::Error)),
            file_path: event.owned(Field::ErrorFile).or(frame.as_ref().map(|(file, _)| file.clone())),
            line_number: line.or(frame.map(|(_, line)| line)),
            stack_trace,
            status_code: event.count(Field::ErrorStatus),
            is_retryable: event.flag(Field::ErrorRetryable),
        }
    })
}

/// An error in a line.
pub(super) fn in_a_line(details: &ErrorDetails) -> String {
    let text = details.message.as_ref().or(details.kind.as_ref());
    text.cloned().unwrap_or_else(|| "the agent reported an error without details".to_owned())
}

/// File and line of the first frame of a JavaScript stack trace, such as `at run (/src/a.ts:12:5)`.
fn first_frame(stack: &str) -> Option<(String, u64)> {
    stack.lines().find_map(|line| {
        let frame = line.trim().strip_prefix("at ")?;
        let place = frame.rsplit_once('(').map_or(frame, |(_, place)| place.trim_end_matches(')'));
        let (place, column) = place.rsplit_once(':')?;
        column.parse::<u64>().ok()?;
        let (file, line) = place.rsplit_once(':')?;
        Some((file.trim_start_matches("file://").to_owned(), line.parse().ok()?))
    })
}
