//! Events of the reader, and the sinks that receive them.

use super::{JsonType, Problem, ProblemKind, Tape};

/// The byte range of a value or key in the input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Span {
    /// Offset of the first byte.
    pub start: u64,
    /// Offset after the last byte.
    pub end: u64,
}

/// A part of a value, in input order.
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
    /// A string. After parts of a string over 64 KiB: the rest of it.
    String(Span, &'a str),
    /// The next part, of up to 64 KiB, of a longer string that begins at this offset. [`Event::String`] ends the
    /// string.
    StringPart(u64, &'a str),
    /// The text of a number, cut at 4 KiB. May be a spelling of NaN or infinity.
    Number(Span, &'a str),
    /// `true` or `false`.
    Boolean(Span, bool),
    /// `null`.
    Null(Span),
}

impl Event<'_> {
    /// Returns the offset after the value, if this event completes one.
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
/// A structural problem ends a document or record without [`Event::End`] for its open containers. The events do not
/// depend on how the bytes arrive.
pub trait Sink {
    /// Whether the sink needs the text of keys, strings and numbers. If false, the reader sends no [`Event::Key`],
    /// [`Event::String`], [`Event::StringPart`] and [`Event::Number`], which saves their cost.
    const NEEDS_TEXT: bool = true;
    /// Whether the reader compares the keys of an object. If false, the reader is faster, but does not find duplicate
    /// keys, and pointers of problems lack the keys.
    const COMPARES_KEYS: bool = true;

    /// Whether the sink needs [`Event::Key`] for the next key, whose unescaped text is given. Only called if
    /// [`Sink::NEEDS_TEXT`] is true.
    fn wants_key(&mut self, _key: &[u8]) -> bool {
        true
    }
    /// Whether the sink needs the event of the next string or number. Only called if [`Sink::NEEDS_TEXT`] is true. A sink
    /// that ignores parts of a document saves their cost in this way; they are still checked.
    fn wants_text(&self) -> bool {
        true
    }
    /// Receives a problem of the current record, or between records. `kept` is `None` if the summary only counts it.
    fn problem(&mut self, _kind: ProblemKind, _kept: Option<&Problem>) {}
    /// Returns a tape if the sink accepts the values of a record of JSON Lines at once; [`Sink::begin_record`] must
    /// clear it. The reader writes a record without problems to the tape, without events. Any other record comes as
    /// events: the tape is then empty, and [`Sink::begin_record`] may be called a second time before the events.
    fn tape(&mut self) -> Option<&mut Tape> {
        None
    }
    /// Receives the start of a record, with its line and offset. Only called for JSON Lines.
    fn begin_record(&mut self, _line: u64, _offset: u64) {}
    /// Receives the end of a record, with its offset; `whole` is false if a structural problem ended the record.
    fn end_record(&mut self, _offset: u64, _whole: bool) {}
    /// Receives a part of a value.
    fn event(&mut self, _event: Event<'_>) {}
    /// Returns whether reading shall stop. Called after each value, and for each buffer of a long string.
    fn is_done(&self) -> bool {
        false
    }
}

/// A sink that ignores all values.
impl Sink for () {
    const NEEDS_TEXT: bool = false;
}
