//! The text parts of the last assistant message.

use super::fields::MAX_TEXT;
use std::collections::HashMap;
use xxhash_rust::xxh3::xxh3_64;

/// All parts of a message are held up to here, in bytes.
const MAX_MESSAGE: usize = 4 * MAX_TEXT;
/// Text of messages whose role is not yet known is held up to here, in bytes.
const MAX_WAITING: usize = 2 * MAX_TEXT;
const MAX_WAITING_PARTS: usize = 64;

/// Text parts, keyed by their id: those of the last assistant message, and for a while those of
/// messages whose role is not yet known.
#[derive(Debug, Default)]
pub(super) struct Texts {
    last: Option<String>,
    parts: Vec<String>,
    /// The bytes that the parts take.
    held: usize,
    truncated: bool,
    /// By hash of the part's id.
    index: HashMap<u64, usize>,
    waiting: Vec<Waiting>,
}

#[derive(Debug)]
struct Waiting {
    message: String,
    id: u64,
    text: String,
}

impl Texts {
    /// This is the last assistant message now.
    pub(super) fn last_message(&mut self, message: &str) {
        if self.last.as_deref() == Some(message) {
            return;
        }
        self.last = Some(message.to_owned());
        self.parts.clear();
        self.index.clear();
        (self.held, self.truncated) = (0, false);
        for part in std::mem::take(&mut self.waiting) {
            if part.message == message {
                self.add_part(part.id, &part.text);
            } else {
                self.waiting.push(part);
            }
        }
    }

    /// This message is not the last assistant message: it is a user's, or an older one.
    pub(super) fn forget(&mut self, message: &str) {
        self.waiting.retain(|part| part.message != message);
    }

    /// A part has this text now. False when other text of unknown role had to go for it.
    pub(super) fn put(&mut self, message: &str, id: &str, text: &str) -> bool {
        let id = xxh3_64(id.as_bytes());
        if self.last.as_deref() == Some(message) {
            match self.index.get(&id) {
                Some(&at) => {
                    self.held -= self.parts[at].len();
                    self.parts[at].clear();
                    self.append_to(at, text);
                }
                None => self.add_part(id, text),
            }
            return true;
        }
        match self.waiting.iter_mut().find(|part| part.id == id && part.message == message) {
            Some(part) => text.clone_into(&mut part.text),
            None => {
                let (message, text) = (message.to_owned(), text.to_owned());
                self.waiting.push(Waiting { message, id, text });
            }
        }
        let mut fits = true;
        while self.waiting.len() > MAX_WAITING_PARTS
            || self.waiting.iter().map(|part| part.text.len()).sum::<usize>() > MAX_WAITING
        {
            self.waiting.remove(0);
            fits = false;
        }
        fits
    }

    /// A text that goes on in the next one.
    pub(super) fn extend(&mut self, text: &str) {
        match self.parts.len().checked_sub(1) {
            Some(last) => self.append_to(last, text),
            None => self.add(text),
        }
    }

    /// One more text of the last message.
    pub(super) fn add(&mut self, text: &str) {
        if self.held + size_of::<String>() > MAX_MESSAGE {
            self.truncated = true;
            return;
        }
        self.held += size_of::<String>();
        self.parts.push(String::new());
        self.append_to(self.parts.len() - 1, text);
    }

    /// One more part of the last message, which may get another text.
    fn add_part(&mut self, id: u64, text: &str) {
        let at = self.parts.len();
        self.add(text);
        if at < self.parts.len() {
            self.index.insert(id, at);
        }
    }

    /// A part's text goes on.
    pub(super) fn append(&mut self, id: &str, text: &str) {
        let id = xxh3_64(id.as_bytes());
        if let Some(&at) = self.index.get(&id) {
            self.append_to(at, text);
        } else if let Some(part) = self.waiting.iter_mut().find(|part| part.id == id) {
            push_within(&mut part.text, text, MAX_TEXT);
        }
    }

    /// Adds to a part what there is room for.
    fn append_to(&mut self, at: usize, text: &str) {
        let room = MAX_MESSAGE.saturating_sub(self.held);
        self.held += push_within(&mut self.parts[at], text, room);
        self.truncated |= text.len() > room;
    }

    /// Whether the last message is not whole, because there is too much of it.
    pub(super) fn is_truncated(&self) -> bool {
        self.truncated
    }

    /// The final message: the parts joined with newlines, without blank ones, trimmed.
    pub(super) fn message(&self) -> Option<String> {
        let texts = self.parts.iter().map(String::as_str).filter(|text| !text.trim().is_empty());
        let message = texts.collect::<Vec<_>>().join("\n");
        Some(message.trim().to_owned()).filter(|message| !message.is_empty())
    }
}

/// Adds to a text what it has room for. Gives how much that is, in bytes.
fn push_within(part: &mut String, text: &str, room: usize) -> usize {
    let fits = text.floor_char_boundary(room.min(MAX_TEXT.saturating_sub(part.len())));
    part.push_str(&text[..fits]);
    fits
}
