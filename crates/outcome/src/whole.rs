//! One event as a whole, unless its type says that it tells nothing; as far as a bounded memory goes.

use super::fields::MAX_TEXT;
use serde_json::Value;
use strict_json::{Builder, Event, JsonType, Sink};

/// A longer line is refused, in bytes. It is read all the same, without taking more memory.
pub const MAX_LINE: u64 = 64 << 20;
/// An event of more is refused, in bytes of its keys and of its texts as far as they are kept, and [`NODE`] for
/// each value.
pub(super) const MAX: usize = 4 << 20;
/// What a value takes beside its text, in bytes.
const NODE: usize = 64;
/// A text is kept up to here, in bytes: so far that it shows that it was longer than is used of it.
const MAX_KEPT: usize = MAX_TEXT + 4;
/// Events that repeat what others tell, or tell a part of it, in any stream that is read as a whole.
const REPEATS: &[&str] =
    &["stream_event", "message_start", "message_update", "turn_end", "tool_execution_update"];
/// A member of events that does.
const REPEATED: &str = "messages";
/// The member of events that tells in full what a tool did, and what of it is needed.
const DETAILS: &str = "tool_use_result";
const NEEDED: &[&str] = &["type", "filePath"];

/// Builds the event at hand.
#[derive(Debug, Default)]
pub(super) struct Whole {
    builder: Option<Builder>,
    depth: u32,
    /// The value that comes next is the type of the event.
    is_type: bool,
    /// The value at hand is passed over: it is a member of an object of this depth.
    passed_over: Option<u32>,
    /// The member of the event at hand is [`DETAILS`].
    in_details: bool,
    /// How much is kept of the text at hand.
    text: usize,
    /// How much is kept of the event.
    kept: usize,
    /// It was larger than [`MAX`].
    pub(super) too_large: bool,
    /// A text was longer than what is kept.
    pub(super) cut: bool,
}

impl Whole {
    /// An event begins at an offset, if it is wanted.
    pub(super) fn begin(&mut self, start: Option<u64>) {
        let builder = start.map(|start| Builder::new(start, MAX_LINE));
        *self = Self { builder, ..Self::default() };
    }

    pub(super) const fn is_wanted(&self) -> bool {
        self.builder.is_some()
    }

    pub(super) fn take(&mut self) -> Option<Value> {
        self.builder.as_mut().and_then(Builder::take)
    }

    /// The next piece of the event.
    pub(super) fn event(&mut self, event: Event<'_>) {
        if self.builder.is_none() {
            return;
        }
        match event {
            Event::Begin(..) => self.depth += 1,
            Event::End(_) => self.depth -= 1,
            Event::Key(_, key) if self.depth == 1 => {
                self.is_type = key == "type";
                self.in_details = key == DETAILS;
                self.passed_over = (key == REPEATED).then_some(1);
            }
            Event::Key(_, key) if self.depth == 2 && self.in_details && !NEEDED.contains(&key) => {
                self.passed_over = Some(2);
            }
            Event::String(_, text) if self.depth == 1 && self.is_type && REPEATS.contains(&text) => {
                self.builder = None;
            }
            _ => {}
        }
        match self.passed_over {
            None => self.keep(event),
            Some(depth) if self.depth == depth && event.value_end().is_some() => self.passed_over = None,
            Some(_) => {}
        }
    }

    fn keep(&mut self, event: Event<'_>) {
        let event = match event {
            Event::StringPart(start, text) => Event::StringPart(start, self.fitting(text)),
            Event::String(span, text) => {
                let text = self.fitting(text);
                self.text = 0;
                Event::String(span, text)
            }
            other => other,
        };
        self.kept += match event {
            Event::StringPart(_, text) => text.len(),
            Event::Key(_, text) | Event::String(_, text) => NODE + text.len(),
            Event::Begin(JsonType::Object | JsonType::Array, _) | Event::Number(..) => NODE,
            _ => NODE / 2,
        };
        if self.kept > MAX {
            (self.builder, self.too_large) = (None, true);
        } else if let Some(builder) = &mut self.builder {
            builder.event(event);
        }
    }

    /// As much of a piece of the text at hand as is kept.
    fn fitting<'t>(&mut self, text: &'t str) -> &'t str {
        let fits = text.floor_char_boundary(MAX_KEPT - self.text);
        self.text += fits;
        self.cut |= fits < text.len();
        &text[..fits]
    }
}
