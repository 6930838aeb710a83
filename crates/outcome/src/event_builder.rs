//! Builds events as JSON values within a memory limit. Events and members that repeat others are left out.

use super::fields::MAX_TEXT;
use serde_json::Value;
use strict_json::{Builder, Event, JsonType, Sink};

/// Maximum length of a line, in bytes. Longer lines are skipped, in constant memory.
pub const MAX_LINE: u64 = 64 << 20;
/// Maximum size of an event, in bytes: its keys, its texts as far as they are kept, and [`VALUE_SIZE`] for each value.
/// Larger events are skipped.
pub(super) const MAX_EVENT: usize = 4 << 20;
/// Size that a JSON value without its text counts, in bytes.
const VALUE_SIZE: usize = 64;
/// Maximum number of bytes of a text that are kept. This is more than [`MAX_TEXT`], so that a longer text is noticed
/// later.
const MAX_KEPT_TEXT: usize = MAX_TEXT + 4;
/// Values of `type` in events that repeat other events or parts of them, of all agents whose events are built as
/// values. Such events are not built.
const REPEATED_TYPES: &[&str] =
    &["stream_event", "message_start", "message_update", "turn_end", "tool_execution_update"];
/// Key of an event whose value repeats other events. It is not built.
const REPEATED_MEMBER: &str = "messages";
/// Key of an event whose value is the complete result of a tool. Only the members in [`NEEDED_DETAILS`] are built.
const DETAILS_MEMBER: &str = "tool_use_result";
/// Keys in the value of [`DETAILS_MEMBER`] that are built.
const NEEDED_DETAILS: &[&str] = &["type", "filePath"];

/// Builds the current event as a JSON value.
#[derive(Debug, Default)]
pub(super) struct EventBuilder {
    builder: Option<Builder>,
    depth: u32,
    /// True if the next value is that of the key `type`.
    is_type: bool,
    /// Depth of the object whose current member is skipped.
    skipped_depth: Option<u32>,
    /// True inside of the value of [`DETAILS_MEMBER`].
    in_details: bool,
    /// Number of bytes of the current text that are kept so far.
    text_length: usize,
    /// Size of the event so far, in bytes.
    size: usize,
    /// True if the event exceeds [`MAX_EVENT`].
    pub(super) too_large: bool,
    /// True if a text was truncated.
    pub(super) truncated: bool,
}

impl EventBuilder {
    /// Begins an event at the byte offset `start`. If `start` is `None`, the event is not built.
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

    /// Handles the next token of the event, such as a key or a number.
    pub(super) fn handle_token(&mut self, event: Event<'_>) {
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

    /// Returns the start of `text`, a part of the current text, that fits into the maximum length of the current text.
    fn truncate<'t>(&mut self, text: &'t str) -> &'t str {
        let fits = text.floor_char_boundary(MAX_KEPT_TEXT - self.text_length);
        self.text_length += fits;
        self.truncated |= fits < text.len();
        &text[..fits]
    }
}
