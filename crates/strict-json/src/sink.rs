//! Events of the reader, and the sinks that receive them.

use super::{JsonType, Problem, ProblemKind, Tape};

/// The byte range of a value or key in the input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Span {
    /// Byte offset of the first byte of the value or key.
    pub start: u64,
    /// Byte offset after the last byte of the value or key.
    pub end: u64,
}

/// A part of a value, which the reader sends to a [`Sink`]. Events have the order of the input.
///
/// Texts are unescaped; unpaired surrogates and invalid escapes become U+FFFD. The span of a key or string includes its
/// quotes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event<'a> {
    /// The start of an object or array, with the offset of its bracket.
    Begin(JsonType, u64),
    /// The end of the innermost object or array, with the offset after its bracket.
    End(u64),
    /// A key, cut at 16 KiB. Its value follows.
    Key(Span, &'a str),
    /// A complete string, or the last part of a string over 64 KiB, after its [`Event::StringPart`] events.
    String(Span, &'a str),
    /// A part (up to 64 KiB) of a longer string. The offset is the start of the string. [`Event::String`] has the last
    /// part.
    StringPart(u64, &'a str),
    /// The text of a number, cut at 4 KiB. May be a spelling of NaN or infinity.
    Number(Span, &'a str),
    /// The value `true` or `false`.
    Boolean(Span, bool),
    /// The value `null`.
    Null(Span),
}

impl Event<'_> {
    /// Returns the byte offset after a value if this event completes it, or else `None`.
    #[inline]
    pub fn value_end(self) -> Option<u64> {
        match self {
            Self::End(end) => Some(end),
            Self::String(span, _) | Self::Number(span, _) | Self::Boolean(span, _) | Self::Null(span) => {
                Some(span.end)
            }
            Self::Begin(..) | Self::Key(..) | Self::StringPart(..) => None,
        }
    }
}

/// Receives the events of a reader. All methods do nothing by default.
///
/// A structural problem, such as a syntax error, ends a document or record without [`Event::End`] for its open
/// containers. The events do not depend on the number of bytes that each read returns.
pub trait Sink {
    /// Whether the sink needs the text of keys, strings and numbers. If false, the reader sends no [`Event::Key`],
    /// [`Event::String`], [`Event::StringPart`] and [`Event::Number`], which saves their cost.
    const NEEDS_TEXT: bool = true;
    /// Whether the reader compares the keys of an object. If false, the reader is faster, but does not find duplicate
    /// keys, and pointers of problems lack the keys.
    const COMPARES_KEYS: bool = true;

    /// Returns whether the sink needs [`Event::Key`] for the next key. `_key` is the unescaped text of this key. Only
    /// called if [`Sink::NEEDS_TEXT`] is true.
    fn wants_key(&mut self, _key: &[u8]) -> bool {
        true
    }
    /// Returns whether the sink needs the event of the next string or number. Only called if [`Sink::NEEDS_TEXT`] is
    /// true. A sink that ignores parts of a document saves their cost in this way; the parts are still checked.
    fn wants_text(&self) -> bool {
        true
    }
    /// Receives a problem in the current record, or between records. `_kept` is `None` if the summary only counts the
    /// problem.
    fn problem(&mut self, _kind: ProblemKind, _kept: Option<&Problem>) {}
    /// Returns the tape of a sink that accepts complete records of JSON Lines in place of events.
    /// [`Sink::begin_record`] must clear the tape. The reader writes a record without problems to the tape, and sends
    /// no events for it. It sends any other record as events: the tape is then empty, and [`Sink::begin_record`] may be
    /// called a second time before the events.
    fn tape(&mut self) -> Option<&mut Tape> {
        None
    }
    /// Receives the start of a record: its line number, from 1, and its byte offset. Only called for JSON Lines.
    fn begin_record(&mut self, _line: u64, _offset: u64) {}
    /// Receives the end of a record: the offset after it, and whether it is complete. It is not complete if a
    /// structural problem ended it.
    fn end_record(&mut self, _offset: u64, _whole: bool) {}
    /// Receives the next part of a value.
    fn event(&mut self, _event: Event<'_>) {}
    /// Returns whether the reader stops now. Called after each value, and for each buffer of a long string.
    fn is_done(&self) -> bool {
        false
    }
}

/// A sink that ignores all values.
impl Sink for () {
    const NEEDS_TEXT: bool = false;
}
