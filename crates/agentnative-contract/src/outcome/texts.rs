//! The text parts of the last assistant message.

use super::fields::MAX_TEXT;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use xxhash_rust::xxh3::xxh3_64;

/// Text of messages whose role is not yet known is held up to here, in bytes.
const MAX_WAITING: usize = 2 * MAX_TEXT;
const MAX_WAITING_PARTS: usize = 64;

/// Text parts, keyed by their id: those of the last assistant message, and for a while those of
/// messages whose role is not yet known.
#[derive(Debug, Default)]
pub(super) struct Texts {
    last: Option<String>,
    parts: Vec<String>,
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
        for part in std::mem::take(&mut self.waiting) {
            if part.message == message {
                self.index.insert(part.id, self.parts.len());
                self.parts.push(part.text);
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
            match self.index.entry(id) {
                Entry::Occupied(at) => text.clone_into(&mut self.parts[*at.get()]),
                Entry::Vacant(free) => {
                    free.insert(self.parts.len());
                    self.parts.push(text.to_owned());
                }
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
        match self.parts.last_mut() {
            Some(last) => {
                let fits = text.floor_char_boundary(MAX_TEXT - last.len().min(MAX_TEXT));
                last.push_str(&text[..fits]);
            }
            None => self.parts.push(text.to_owned()),
        }
    }

    /// One more text of the last message.
    pub(super) fn add(&mut self, text: &str) {
        self.parts.push(text.to_owned());
    }

    /// A part's text goes on.
    pub(super) fn append(&mut self, id: &str, text: &str) {
        let id = xxh3_64(id.as_bytes());
        let part = match self.index.get(&id) {
            Some(at) => Some(&mut self.parts[*at]),
            None => self.waiting.iter_mut().find(|part| part.id == id).map(|part| &mut part.text),
        };
        if let Some(part) = part {
            let fits = text.floor_char_boundary(MAX_TEXT - part.len().min(MAX_TEXT));
            part.push_str(&text[..fits]);
        }
    }

    /// The final message: the parts joined with newlines, without blank ones, trimmed.
    pub(super) fn message(&self) -> Option<String> {
        let texts = self.parts.iter().map(String::as_str).filter(|text| !text.trim().is_empty());
        let message = texts.collect::<Vec<_>>().join("\n");
        Some(message.trim().to_owned()).filter(|message| !message.is_empty())
    }
}
