//! Who receives the values of a reading.

use super::{Problem, ProblemKind};

/// Where a value or key stands: `start` is the offset of its first byte, `end` that behind its last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Span {
    /// Offset of the first byte.
    pub start: u64,
    /// Offset behind the last byte.
    pub end: u64,
}

/// Receives the values of a reading as they are met. Every method does nothing by default.
///
/// A structural problem ends a document or record where it stands, with its containers left open. The
/// events of a document or record are the same however its bytes arrive.
pub trait Sink {
    /// Whether the text of keys, strings and numbers is wanted. When false, [`Sink::key`],
    /// [`Sink::string`], [`Sink::string_part`] and [`Sink::number`] are not called: they cost nothing.
    const TEXT: bool = true;
    /// Whether the keys of an object are compared. When false, that cost is spared: a key that comes
    /// twice is not found, and the pointers of problems lack the keys.
    const COMPARES_KEYS: bool = true;

    /// Whether [`Sink::key`] is wanted for the key that comes next, of which this is the unescaped text in
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
    /// A record begins in the given line at the given offset. Called for JSON lines only.
    fn begin_record(&mut self, _line: u64, _offset: u64) {}
    /// The record is over at the given offset; `whole` is false when a structural problem ended it.
    fn end_record(&mut self, _offset: u64, _whole: bool) {}
    /// `{` at the given offset.
    fn begin_object(&mut self, _start: u64) {}
    /// `}`; `end` is the offset behind it.
    fn end_object(&mut self, _end: u64) {}
    /// `[` at the given offset.
    fn begin_array(&mut self, _start: u64) {}
    /// `]`; `end` is the offset behind it.
    fn end_array(&mut self, _end: u64) {}
    /// A key, unescaped; keys over 16 KiB are cut there. Half surrogate pairs and invalid escapes are
    /// U+FFFD, in strings too.
    fn key(&mut self, _span: Span, _text: &str) {}
    /// A string, unescaped: all of it up to 64 KiB, else what is left behind its parts.
    fn string(&mut self, _span: Span, _text: &str) {}
    /// The next 64 KiB of a longer string that begins at `start`; [`Sink::string`] ends it.
    fn string_part(&mut self, _start: u64, _text: &str) {}
    /// A number as it is written; its text is cut at 4 KiB. May be a spelling of NaN or infinity.
    fn number(&mut self, _span: Span, _text: &str) {}
    /// `true` or `false`.
    fn bool(&mut self, _span: Span, _value: bool) {}
    /// `null`.
    fn null(&mut self, _span: Span) {}
    /// Whether the sink has had enough; asked behind each value.
    fn done(&self) -> bool {
        false
    }
}

/// Takes no notice of any value.
impl Sink for () {
    const TEXT: bool = false;
}
