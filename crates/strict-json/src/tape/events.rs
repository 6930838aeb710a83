//! The tape as a sink: writes events to the tape.

use super::Tape;
use crate::{Event, JsonType, Sink};

impl Sink for Tape {
    // Duplicate keys were reported when the input was read for the first time.
    const COMPARES_KEYS: bool = false;

    fn tape(&mut self) -> Option<&mut Tape> {
        Some(self)
    }

    #[inline(always)]
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Begin(container, start) => self.open(container, start),
            Event::End(_) => self.close(),
            Event::Key(span, text) => self.push_text(None, span.start, text),
            Event::String(span, text) => self.push_text(Some(JsonType::String), span.start, text),
            Event::StringPart(_, text) => {
                let from = *self.partial_start.get_or_insert(self.text.len());
                self.append(from, text);
            }
            Event::Number(span, text) => self.push_text(Some(JsonType::Number), span.start, text),
            Event::Boolean(span, value) => {
                self.push(Some(JsonType::Boolean), span.start, usize::from(value), 0);
            }
            Event::Null(span) => self.push(Some(JsonType::Null), span.start, 0, 0),
        }
    }
}
