//! Reads events to a tape within a memory limit. Events and members that repeat others are left out.

use super::json::text;
use strict_json::{Event, Sink, Tape, TapeNode};

/// Maximum length of a line, in bytes. Longer lines are skipped, in constant memory.
pub const MAX_LINE: u64 = 64 << 20;
/// Maximum size of an event, in bytes: that of its keys and texts, as far as they are kept, and that of its values
/// without their texts. Larger events are skipped.
pub(super) const MAX_EVENT: usize = 4 << 20;
/// Size that a JSON value without its text, or a key, counts, in bytes.
const VALUE_SIZE: usize = 64;
/// Values of `type` in events that repeat other events or parts of them, of all agents whose events are read to a tape.
/// Such events are left out.
const REPEATED_TYPES: &[&str] =
    &["stream_event", "message_start", "message_update", "turn_end", "tool_execution_update"];
/// Key of an event whose value repeats other events. It is left out.
const REPEATED_MEMBER: &[u8] = b"messages";
/// Key of an event whose value is the complete result of a tool. Only the members in [`NEEDED_DETAILS`] are read.
const DETAILS_MEMBER: &[u8] = b"tool_use_result";
/// Keys in the value of [`DETAILS_MEMBER`] that are read.
const NEEDED_DETAILS: &[&[u8]] = &[b"type", b"filePath"];

/// Reads the current event to a tape.
#[derive(Debug, Default)]
pub(super) struct EventTape {
    pub(super) tape: Tape,
    is_reading: bool,
    depth: u32,
    /// True if the next value is that of the key `type`.
    is_type: bool,
    /// Depth of the object whose current member is skipped.
    skipped_depth: Option<u32>,
    /// True inside of the value of [`DETAILS_MEMBER`].
    in_details: bool,
    /// True if the event exceeds [`MAX_EVENT`].
    pub(super) too_large: bool,
}

impl EventTape {
    /// Begins an event at the byte offset `start`. It is not read if `needed` is false.
    pub(super) fn begin(&mut self, start: u64, needed: bool) {
        let mut tape = std::mem::take(&mut self.tape);
        tape.clear(start, start);
        *self = Self { tape, is_reading: needed, ..Self::default() };
    }

    /// Returns the event; `None` if it is left out or too large.
    pub(super) fn event(&self) -> Option<TapeNode<'_>> {
        self.tape
            .root()
            .filter(|event| !text(*event, "/type").is_some_and(|kind| REPEATED_TYPES.contains(&kind)))
    }

    /// Returns true if a text of the event was truncated.
    pub(super) fn is_truncated(&self) -> bool {
        let Some(root) = self.tape.root() else { return false };
        (0..root.cell_count()).filter_map(|index| root.at(index)).any(|node| node.omitted_chars() > 0)
    }

    /// Returns true if the text of the next value is needed.
    pub(super) fn needs_text(&self) -> bool {
        self.is_reading && self.skipped_depth.is_none()
    }

    /// Moves to the member with this key. Returns true if the member is needed.
    pub(super) fn needs_key(&mut self, key: &[u8]) -> bool {
        self.skipped_depth = self.skipped_depth.filter(|depth| *depth < self.depth);
        if self.depth == 1 {
            self.is_type = key == b"type";
            self.in_details = key == DETAILS_MEMBER;
        }
        let skipped = match self.depth {
            1 => key == REPEATED_MEMBER,
            2 => self.in_details && !NEEDED_DETAILS.contains(&key),
            _ => false,
        };
        if skipped {
            self.skipped_depth.get_or_insert(self.depth);
        }
        self.needs_text()
    }

    /// Handles the next token of the event, such as a key or a number.
    pub(super) fn handle_token(&mut self, event: Event<'_>) {
        match event {
            Event::Begin(..) => self.depth += 1,
            Event::End(_) => {
                self.depth -= 1;
                self.skipped_depth = self.skipped_depth.filter(|depth| *depth <= self.depth);
            }
            Event::String(_, text) if self.depth == 1 && self.is_type && REPEATED_TYPES.contains(&text) => {
                self.stop();
            }
            _ => {}
        }
        if self.needs_text() {
            self.tape.event(event);
            if self.tape.is_longer_than(MAX_EVENT / VALUE_SIZE, MAX_EVENT) {
                self.too_large = true;
                self.stop();
            }
        }
    }

    fn stop(&mut self) {
        self.is_reading = false;
        self.tape.clear(0, 0);
    }
}
