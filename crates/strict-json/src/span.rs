//! Where the value of a JSON pointer stands.

use std::io::{self, Read};

use super::pointer::unescape_token;
use super::{Event, Options, Sink, Span, read_document};

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
    read_document(reader, &Options::default(), &mut finder)?;
    Ok(finder.found)
}

#[derive(Default)]
struct Finder {
    /// The unescaped keys and indices on the way to the value.
    tokens: Vec<String>,
    /// The open containers.
    open: Vec<Level>,
    found: Option<Span>,
}

struct Level {
    start: u64,
    /// The container is the value or lies on the way to it.
    on_way: bool,
    /// Elements so far in an array; none in an object.
    elements: Option<u64>,
    /// The current member or element is the value or lies on the way to it.
    next_on_way: bool,
}

impl Finder {
    /// A value begins; tells whether it is the value or lies on the way to it.
    fn begin(&mut self) -> bool {
        let depth = self.open.len();
        let on_way = match self.open.last_mut() {
            None => true,
            Some(Level { on_way, elements: Some(elements), .. }) => {
                let index = elements.to_string();
                *elements += 1;
                *on_way && self.tokens.get(depth - 1) == Some(&index)
            }
            Some(Level { next_on_way, .. }) => *next_on_way,
        };
        if on_way {
            self.found = None;
        }
        on_way
    }

    fn scalar(&mut self, span: Span) {
        if self.begin() && self.open.len() == self.tokens.len() {
            self.found = Some(span);
        }
    }

    fn open(&mut self, start: u64, elements: Option<u64>) {
        let on_way = self.begin();
        self.open.push(Level { start, on_way, elements, next_on_way: false });
    }

    fn close(&mut self, end: u64) {
        let level = self.open.pop();
        if let Some(level) = level
            && level.on_way
            && self.open.len() == self.tokens.len()
        {
            self.found = Some(Span { start: level.start, end });
        }
    }
}

impl Sink for Finder {
    #[inline(always)]
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::BeginObject { start } => self.open(start, None),
            Event::BeginArray { start } => self.open(start, Some(0)),
            Event::EndObject { end } | Event::EndArray { end } => self.close(end),
            Event::Key { text, .. } => {
                let depth = self.open.len();
                if let Some(level) = self.open.last_mut() {
                    let token = depth.checked_sub(1).and_then(|index| self.tokens.get(index));
                    level.next_on_way = level.on_way && token.is_some_and(|token| token == text);
                }
            }
            Event::StringPart { .. } => {}
            Event::String { span, .. }
            | Event::Number { span, .. }
            | Event::Boolean { span, .. }
            | Event::Null { span } => self.scalar(span),
        }
    }
}
