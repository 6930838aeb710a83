//! The text parts of the last assistant message.

use super::fields::MAX_TEXT;
use std::collections::HashMap;
use xxhash_rust::xxh3::xxh3_64;

/// Maximum size of all parts of a message, in bytes.
const MAX_MESSAGE: usize = 4 * MAX_TEXT;
/// Maximum size of the text of messages whose role is not yet known, in bytes.
const MAX_PENDING: usize = 2 * MAX_TEXT;
const MAX_PENDING_PARTS: usize = 64;

/// The text parts of the last assistant message, and parts of messages whose role is not yet known.
#[derive(Debug, Default)]
pub(super) struct Texts {
    last: Option<String>,
    parts: Vec<String>,
    /// Size of all parts of the last message, in bytes.
    bytes: usize,
    truncated: bool,
    /// Maps the hash of a part's ID to the index of the part in `parts`.
    index: HashMap<u64, usize>,
    pending: Vec<PendingPart>,
}

#[derive(Debug)]
struct PendingPart {
    message: String,
    id: u64,
    text: String,
}

impl Texts {
    /// Sets the ID of the last assistant message. If it is new, the parts of the previous message are dropped, and
    /// parts that arrived earlier for this one are added.
    pub(super) fn set_last_message(&mut self, message: &str) {
        if self.last.as_deref() == Some(message) {
            return;
        }
        self.last = Some(message.to_owned());
        self.parts.clear();
        self.index.clear();
        (self.bytes, self.truncated) = (0, false);
        for part in std::mem::take(&mut self.pending) {
            if part.message == message {
                self.add_part(part.id, &part.text);
            } else {
                self.pending.push(part);
            }
        }
    }

    /// Drops the text parts of a message that is one of the user, or older than the last one.
    pub(super) fn forget(&mut self, message: &str) {
        self.pending.retain(|part| part.message != message);
    }

    /// Sets the text of the part `id` in a message. Returns false if this removed parts of messages whose role is not
    /// yet known, because they take too much memory.
    pub(super) fn set_part(&mut self, message: &str, id: &str, text: &str) -> bool {
        let id = xxh3_64(id.as_bytes());
        if self.last.as_deref() == Some(message) {
            match self.index.get(&id) {
                Some(&position) => {
                    self.bytes -= self.parts[position].len();
                    self.parts[position].clear();
                    self.append_to_part(position, text);
                }
                None => self.add_part(id, text),
            }
            return true;
        }
        match self.pending.iter_mut().find(|part| part.id == id && part.message == message) {
            Some(part) => text.clone_into(&mut part.text),
            None => {
                let (message, text) = (message.to_owned(), text.to_owned());
                self.pending.push(PendingPart { message, id, text });
            }
        }
        let mut fits = true;
        while self.pending.len() > MAX_PENDING_PARTS
            || self.pending.iter().map(|part| part.text.len()).sum::<usize>() > MAX_PENDING
        {
            self.pending.remove(0);
            fits = false;
        }
        fits
    }

    /// Appends to the last part of the last message.
    pub(super) fn append_to_last(&mut self, text: &str) {
        match self.parts.len().checked_sub(1) {
            Some(last) => self.append_to_part(last, text),
            None => self.add_text(text),
        }
    }

    /// Adds a part with this text to the last message.
    pub(super) fn add_text(&mut self, text: &str) {
        if self.bytes + size_of::<String>() > MAX_MESSAGE {
            self.truncated = true;
            return;
        }
        self.bytes += size_of::<String>();
        self.parts.push(String::new());
        self.append_to_part(self.parts.len() - 1, text);
    }

    /// Adds a part to the last message. Its text can be replaced later, because `id` (a hash) identifies it.
    fn add_part(&mut self, id: u64, text: &str) {
        let position = self.parts.len();
        self.add_text(text);
        if position < self.parts.len() {
            self.index.insert(id, position);
        }
    }

    /// Appends `text` to the part with this ID; ignored if there is no such part.
    pub(super) fn append(&mut self, id: &str, text: &str) {
        let id = xxh3_64(id.as_bytes());
        if let Some(&position) = self.index.get(&id) {
            self.append_to_part(position, text);
        } else if let Some(part) = self.pending.iter_mut().find(|part| part.id == id) {
            push_within(&mut part.text, text, MAX_TEXT);
        }
    }

    /// Appends to the part with this index, up to the maximum size of a message.
    fn append_to_part(&mut self, position: usize, text: &str) {
        let max = MAX_MESSAGE.saturating_sub(self.bytes);
        self.bytes += push_within(&mut self.parts[position], text, max);
        self.truncated |= text.len() > max;
    }

    /// True if the last message was truncated because it exceeds the maximum size.
    pub(super) fn is_truncated(&self) -> bool {
        self.truncated
    }

    /// Returns the final message: the parts that are not blank, joined with newlines and trimmed.
    pub(super) fn message(&self) -> Option<String> {
        let texts = self.parts.iter().map(String::as_str).filter(|text| !text.trim().is_empty());
        let message = texts.collect::<Vec<_>>().join("\n");
        Some(message.trim().to_owned()).filter(|message| !message.is_empty())
    }
}

/// Appends at most `max` bytes of `text` to a part, which never gets longer than [`MAX_TEXT`]. Returns the number of
/// appended bytes.
fn push_within(part: &mut String, text: &str, max: usize) -> usize {
    let fits = text.floor_char_boundary(max.min(MAX_TEXT.saturating_sub(part.len())));
    part.push_str(&text[..fits]);
    fits
}
