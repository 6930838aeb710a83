//! Who receives the values of a reading.

use super::{JsonType, Problem, ProblemKind, Tape};

/// Where a value or key stands: `start` is the offset of its first byte, `end` that behind its last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Span {
    /// Offset of the first byte.
    pub start: u64,
    /// Offset behind the last byte.
    pub end: u64,
}

/// A piece of a value, as a reading meets it.
///
/// Texts are unescaped; half surrogate pairs and invalid escapes in them are U+FFFD. The span of a key or
/// string is with its quotes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event<'a> {
    /// An object or array, whose bracket is at this offset.
    Begin(JsonType, u64),
    /// The end of the innermost object or array; the offset is that behind its bracket.
    End(u64),
    /// A key, cut at 16 KiB; its value follows.
    Key(Span, &'a str),
    /// A string: all of it up to 64 KiB, else what is left behind its parts.
    String(Span, &'a str),
    /// The next 64 KiB of a longer string that begins at this offset; [`Event::String`] ends it.
    StringPart(u64, &'a str),
    /// A number as it is written, cut at 4 KiB. May be a spelling of NaN or infinity.
    Number(Span, &'a str),
    /// `true` or `false`.
    Boolean(Span, bool),
    /// `null`.
    Null(Span),
}

impl Event<'_> {
    /// The offset behind the value that this event completes, if it does.
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

/// Receives the values of a reading as they are met. Every method does nothing by default.
///
/// A structural problem ends a document or record where it stands, with its containers left open. The
/// events of a document or record are the same however its bytes arrive.
pub trait Sink {
    /// Whether the text of keys, strings and numbers is wanted. When false, [`Event::Key`],
    /// [`Event::String`], [`Event::StringPart`] and [`Event::Number`] do not come: they cost nothing.
    const TEXT: bool = true;
    /// Whether the keys of an object are compared. When false, that cost is spared: a key that comes
    /// twice is not found, and the pointers of problems lack the keys.
    const COMPARES_KEYS: bool = true;

    /// Whether [`Event::Key`] is wanted for the key that comes next, of which this is the unescaped text in
    /// bytes; asked where [`Sink::TEXT`] is true.
    fn wants_key(&mut self, _key: &[u8]) -> bool {
        true
    }
    /// Whether the text of the string or number that comes next is wanted; asked where [`Sink::TEXT`] is
    /// true. Unwanted text is read, but not given: a sink that leaves parts of a document out spares
    /// their cost in this way.
    fn wants_text(&self) -> bool {
        true
    }
    /// A problem was met in the record begun last, or between records; none when no more of its kind
    /// are kept.
    fn problem(&mut self, _kind: ProblemKind, _kept: Option<&Problem>) {}
    /// The tape of the sink, which [`Sink::begin_record`] clears, if the values of a record of JSON Lines may come at
    /// once. A record with nothing to report then comes onto the tape, without events. Any other comes as events; the
    /// tape is left empty, and [`Sink::begin_record`] may be called a second time before them.
    fn tape(&mut self) -> Option<&mut Tape> {
        None
    }
    /// A record begins in the given line at the given offset. Called for JSON lines only.
    fn begin_record(&mut self, _line: u64, _offset: u64) {}
    /// The record is over at the given offset; `whole` is false when a structural problem ended it.
    fn end_record(&mut self, _offset: u64, _whole: bool) {}
    /// A piece of a value.
    fn event(&mut self, _event: Event<'_>) {}
    /// Whether the sink has had enough; asked behind each value.
    fn done(&self) -> bool {
        false
    }
}

/// Takes no notice of any value.
impl Sink for () {
    const TEXT: bool = false;
}
