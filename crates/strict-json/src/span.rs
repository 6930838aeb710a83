//! Finds the byte range of a value by its JSON pointer.

use std::io::{self, Read};

use super::pointer::unescape_token;
use super::{Event, JsonType, ReadOptions, Sink, Span, read_document};

/// Returns the byte range of the value that an RFC 6901 pointer names in a document; `None` if there is no such value
/// or the pointer is invalid. Of members with the same key, the last one counts, as in [`super::read_value`].
pub fn find_span(reader: impl Read, pointer: &str) -> io::Result<Option<Span>> {
    let mut tokens = pointer.split('/');
    if tokens.next() != Some("") {
        return Ok(None);
    }
    let tokens: Vec<String> = tokens.map(unescape_token).collect();
    let mut finder = Finder { tokens, ..Finder::default() };
    read_document(reader, &ReadOptions::default(), &mut finder)?;
    Ok(finder.found)
}

#[derive(Default)]
struct Finder {
    /// The unescaped tokens of the pointer.
    tokens: Vec<String>,
    /// The open objects and arrays: the byte offset of each and, for an array, the index of the next element.
    open: Vec<(u64, Option<u64>)>,
    /// Number of open containers, from the outermost on, that lie on the path of the pointer.
    matching: usize,
    /// True if the current key of the innermost object equals the token of the pointer for this object.
    key_matches: bool,
    found: Option<Span>,
}

impl Finder {
    /// Returns the token of the pointer that selects a member or element of the innermost open container.
    fn token(&self) -> Option<&str> {
        self.open.len().checked_sub(1).and_then(|index| self.tokens.get(index)).map(String::as_str)
    }

    /// Handles the start of a value; returns whether the value lies on the path of the pointer.
    fn begin_value(&mut self) -> bool {
        if self.matching < self.open.len() {
            return false;
        }
        let matches = match self.open.last() {
            None => true,
            Some((_, Some(index))) => self.token().is_some_and(|token| token == index.to_string()),
            Some((_, None)) => self.key_matches,
        };
        if let Some((_, Some(index))) = self.open.last_mut() {
            *index += 1;
        }
        if matches {
            self.found = None;
        }
        matches
    }

    /// Handles the end of a value that lies on the path of the pointer.
    fn end_value(&mut self, start: u64, end: u64) {
        if self.open.len() == self.tokens.len() {
            self.found = Some(Span { start, end });
        }
    }
}

impl Sink for Finder {
    #[inline(always)]
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Begin(container, start) => {
                self.matching += usize::from(self.begin_value());
                self.open.push((start, (container == JsonType::Array).then_some(0)));
            }
            Event::End(end) => {
                if let Some((start, _)) = self.open.pop()
                    && self.matching > self.open.len()
                {
                    self.matching -= 1;
                    self.end_value(start, end);
                }
            }
            Event::Key(_, text) => self.key_matches = self.token() == Some(text),
            Event::StringPart(..) => {}
            Event::String(span, _) | Event::Number(span, _) | Event::Boolean(span, _) | Event::Null(span) => {
                if self.begin_value() {
                    self.end_value(span.start, span.end);
                }
            }
        }
    }
}
