//! What is known of one session.

use super::artifacts::Artifacts;
use super::calls::{Calls, span};
use super::event::EventFields;
use super::fields::Field;
use super::texts::Texts;
use super::types::{ErrorDetails, Metrics, Quantity};
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
    earliest: Option<f64>,
    latest: Option<f64>,
}

impl Session {
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

    /// A time that the stream has: the session was at work then.
    pub(super) fn at(&mut self, time: Option<f64>) {
        if let Some(time) = time {
            self.earliest = Some(self.earliest.map_or(time, |earliest| earliest.min(time)));
            self.latest = Some(self.latest.map_or(time, |latest| latest.max(time)));
        }
    }

    /// From the first to the last time of the session.
    pub(super) fn total(&self) -> Option<f64> {
        span(self.earliest, self.latest)
    }

    /// The times, tokens and cost of the run, without the counts.
    pub(super) fn metrics(&self) -> Metrics {
        let assistant = &self.assistant;
        let (start, end) = (assistant.created, assistant.completed);
        let duration = span(start, end).or(span(self.created, self.updated));
        let tokens = match (assistant.input, assistant.output) {
            (None, None) => None,
            (input, output) => Some(input.unwrap_or(0.0) + output.unwrap_or(0.0)),
        };
        // Costs are sums of small decimals; what is behind the twelfth is no money.
        let cost = assistant.cost.map(|cost| (cost * 1e12).round() / 1e12);
        let model = assistant.provider.as_ref().zip(assistant.model.as_ref());
        let model_name = model.map(|(provider, model)| format!("{provider}/{model}"));
        Metrics {
            start_time_ms: start.map(Quantity),
            end_time_ms: end.map(Quantity),
            duration_ms: duration.map(Quantity),
            tokens_used: tokens.map(Quantity),
            cost: cost.map(Quantity),
            model_name,
            ..Metrics::default()
        }
    }
}

/// The error of an event.
pub(super) fn error_details(event: &EventFields) -> Option<ErrorDetails> {
    event.has(Field::Error).then(|| {
        let stack_trace = event.owned(Field::ErrorStack);
        let frame = stack_trace.as_deref().and_then(first_frame);
        let line = event.number(Field::ErrorLine).filter(|line| *line >= 1.0 && line.fract() == 0.0);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "whole and positive")]
        let line = line.map(|line| line as u64);
        ErrorDetails {
            kind: event.owned(Field::ErrorName),
            message: event.owned(Field::ErrorText).or(event.owned(Field::Error)),
            file_path: event.owned(Field::ErrorFile).or(frame.as_ref().map(|(file, _)| file.clone())),
            line_number: line.or(frame.map(|(_, line)| line)),
            stack_trace,
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
