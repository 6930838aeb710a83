//! Builds events as values within a memory limit, without events and members that repeat others.

use super::fields::MAX_TEXT;
use serde_json::Value;
use strict_json::{Builder, Event, JsonType, Sink};

/// Maximum length of a line, in bytes. Longer lines are skipped, in constant memory.
pub const MAX_LINE: u64 = 64 << 20;
/// Maximum size of an event, in bytes: its keys, its texts as far as they are kept, and [`VALUE_SIZE`] for each value.
/// Larger events are skipped.
pub(super) const MAX_EVENT: usize = 4 << 20;
/// Size of a value without its text, in bytes.
const VALUE_SIZE: usize = 64;
/// Maximum length of a text in an event, in bytes; more than [`MAX_TEXT`], so that truncation is noticed.
const MAX_KEPT_TEXT: usize = MAX_TEXT + 4;
/// Types of events that repeat other events or parts of them, for all agents whose events are built as values.
const REPEATED_TYPES: &[&str] =
    &["stream_event", "message_start", "message_update", "turn_end", "tool_execution_update"];
/// Member of events that repeats other events.
const REPEATED_MEMBER: &str = "messages";
/// Member of events with the complete result of a tool.
const DETAILS_MEMBER: &str = "tool_use_result";
/// Members of [`DETAILS_MEMBER`] that are needed.
const NEEDED_DETAILS: &[&str] = &["type", "filePath"];

/// Builds the current event as a value.
#[derive(Debug, Default)]
pub(super) struct EventBuilder {
    builder: Option<Builder>,
    depth: u32,
    /// True if the next value is the type of the event.
    is_type: bool,
    /// Depth of the object whose current member is skipped.
    skipped_depth: Option<u32>,
    /// True inside of [`DETAILS_MEMBER`].
    in_details: bool,
    /// Number of bytes of the current text that are kept.
    text_length: usize,
    /// Size of the event so far, in bytes.
    size: usize,
    /// True if the event exceeds [`MAX_EVENT`].
    pub(super) too_large: bool,
    /// True if a text was truncated.
    pub(super) truncated: bool,
}

impl EventBuilder {
    /// Begins an event at offset `start`; builds nothing if that is `None`.
    pub(super) fn begin(&mut self, start: Option<u64>) {
        let builder = start.map(|start| Builder::new(start, MAX_LINE));
        *self = Self { builder, ..Self::default() };
    }

    pub(super) const fn is_building(&self) -> bool {
        self.builder.is_some()
    }

    pub(super) fn take(&mut self) -> Option<Value> {
        self.builder.as_mut().and_then(Builder::take)
    }

    /// Handles the next part of the event.
    pub(super) fn event(&mut self, event: Event<'_>) {
        if self.builder.is_none() {
            return;
        }
        match event {
            Event::Begin(..) => self.depth += 1,
            Event::End(_) => self.depth -= 1,
            Event::Key(_, key) if self.depth == 1 => {
                self.is_type = key == "type";
                self.in_details = key == DETAILS_MEMBER;
                self.skipped_depth = (key == REPEATED_MEMBER).then_some(1);
            }
            Event::Key(_, key) if self.depth == 2 && self.in_details && !NEEDED_DETAILS.contains(&key) => {
                self.skipped_depth = Some(2);
            }
            Event::String(_, text) if self.depth == 1 && self.is_type && REPEATED_TYPES.contains(&text) => {
                self.builder = None;
            }
            _ => {}
        }
        match self.skipped_depth {
            None => self.build(event),
            Some(depth) if self.depth == depth && event.value_end().is_some() => self.skipped_depth = None,
            Some(_) => {}
        }
    }

    fn build(&mut self, event: Event<'_>) {
        let event = match event {
            Event::StringPart(start, text) => Event::StringPart(start, self.truncate(text)),
            Event::String(span, text) => {
                let text = self.truncate(text);
                self.text_length = 0;
                Event::String(span, text)
            }
            other => other,
        };
        self.size += match event {
            Event::StringPart(_, text) => text.len(),
            Event::Key(_, text) | Event::String(_, text) => VALUE_SIZE + text.len(),
            Event::Begin(JsonType::Object | JsonType::Array, _) | Event::Number(..) => VALUE_SIZE,
            _ => VALUE_SIZE / 2,
        };
        if self.size > MAX_EVENT {
            (self.builder, self.too_large) = (None, true);
        } else if let Some(builder) = &mut self.builder {
            builder.event(event);
        }
    }

    /// Returns the bytes of a part of the current text that are kept.
    fn truncate<'t>(&mut self, text: &'t str) -> &'t str {
        let fits = text.floor_char_boundary(MAX_KEPT_TEXT - self.text_length);
        self.text_length += fits;
        self.truncated |= fits < text.len();
        &text[..fits]
    }
}
