//! Passes the elements of a top-level array to a sink as records.

use crate::{Event, JsonType, Problem, ProblemKind, Sink};

/// A sink that passes each element of a top-level array to another sink, as one record.
pub struct ArrayRecords<'s, S, L> {
    sink: &'s mut S,
    /// Function that returns the line number of a byte offset.
    line_of: L,
    depth: usize,
    inside_string: bool,
    /// Offset of the document if it is not an array; `None` if it is one.
    pub non_array_start: Option<u64>,
    /// Number of elements that were passed to the other sink.
    pub count: u64,
}

impl<'s, S: Sink, L: FnMut(u64) -> u64> ArrayRecords<'s, S, L> {
    /// Creates a sink for one document. `line_of` returns the line number of a byte offset.
    pub fn new(sink: &'s mut S, line_of: L) -> Self {
        Self { sink, line_of, depth: 0, inside_string: false, non_array_start: None, count: 0 }
    }
}

impl<S: Sink, L: FnMut(u64) -> u64> Sink for ArrayRecords<'_, S, L> {
    const NEEDS_TEXT: bool = S::NEEDS_TEXT;
    const COMPARES_KEYS: bool = S::COMPARES_KEYS;

    fn wants_key(&mut self, key: &[u8]) -> bool {
        self.sink.wants_key(key)
    }

    fn wants_text(&self) -> bool {
        self.sink.wants_text()
    }

    fn problem(&mut self, kind: ProblemKind, kept: Option<&Problem>) {
        self.sink.problem(kind, kept);
    }

    #[inline(always)]
    fn event(&mut self, event: Event<'_>) {
        match (self.depth, event) {
            _ if self.non_array_start.is_some() => {}
            (0, Event::Begin(JsonType::Array, _)) => self.depth = 1,
            (0, _) => self.non_array_start = value_start(event),
            (1, Event::End(_)) => self.depth = 0,
            (depth, _) => {
                if let Some(start) = value_start(event).filter(|_| depth == 1 && !self.inside_string) {
                    self.sink.begin_record((self.line_of)(start), start);
                }
                self.inside_string = matches!(event, Event::StringPart(..));
                match event {
                    Event::Begin(..) => self.depth += 1,
                    Event::End(_) => self.depth -= 1,
                    _ => {}
                }
                self.sink.event(event);
                if let Some(end) = event.value_end().filter(|_| self.depth == 1) {
                    self.count += 1;
                    self.sink.end_record(end, true);
                }
            }
        }
    }

    fn is_done(&self) -> bool {
        self.sink.is_done()
    }
}

/// Returns the start offset of the value that an event begins or contains; `None` for the end of a container and for a
/// key.
fn value_start(event: Event<'_>) -> Option<u64> {
    match event {
        Event::Begin(_, start) | Event::StringPart(start, _) => Some(start),
        Event::String(span, _) | Event::Number(span, _) | Event::Boolean(span, _) | Event::Null(span) => {
            Some(span.start)
        }
        Event::End(_) | Event::Key(..) => None,
    }
}
