//! Where the value of a JSON pointer stands.

use std::io::{self, Read};

use super::pointer::unescape_token;
use super::{Event, JsonType, ReadOptions, Sink, Span, read_document};

/// The bytes of the value that an RFC 6901 pointer names in a document; none when there is no such
/// value, or the pointer is none. Of members with the same key the last one counts, as in
/// [`super::read_value`].
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
    /// The unescaped keys and indices on the way to the value.
    tokens: Vec<String>,
    /// The open containers: where each begins, and the index of the next element of an array.
    open: Vec<(u64, Option<u64>)>,
    /// So many of them, the outermost first, lie on the way to the value or are it.
    on_way: usize,
    /// The current key of the innermost container is the next token.
    key_fits: bool,
    found: Option<Span>,
}

impl Finder {
    /// The token that names a member or element of the innermost container.
    fn token(&self) -> Option<&str> {
        self.open.len().checked_sub(1).and_then(|index| self.tokens.get(index)).map(String::as_str)
    }

    /// A value begins; tells whether it is the value that is looked for or lies on the way to it.
    fn begin(&mut self) -> bool {
        if self.on_way < self.open.len() {
            return false;
        }
        let fits = match self.open.last() {
            None => true,
            Some((_, Some(index))) => self.token().is_some_and(|token| token == index.to_string()),
            Some((_, None)) => self.key_fits,
        };
        if let Some((_, Some(index))) = self.open.last_mut() {
            *index += 1;
        }
        if fits {
            self.found = None;
        }
        fits
    }

    /// A value on the way ends.
    fn end(&mut self, start: u64, end: u64) {
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
                self.on_way += usize::from(self.begin());
                self.open.push((start, (container == JsonType::Array).then_some(0)));
            }
            Event::End(end) => {
                if let Some((start, _)) = self.open.pop()
                    && self.on_way > self.open.len()
                {
                    self.on_way -= 1;
                    self.end(start, end);
                }
            }
            Event::Key(_, text) => self.key_fits = self.token() == Some(text),
            Event::StringPart(..) => {}
            Event::String(span, _) | Event::Number(span, _) | Event::Boolean(span, _) | Event::Null(span) => {
                if self.begin() {
                    self.end(span.start, span.end);
                }
            }
        }
    }
}
