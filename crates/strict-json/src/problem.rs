//! Kinds of problems in JSON, options of the reader and its summary.

use super::Position;

/// The severity of a kind of problem in JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ProblemSeverity {
    /// The input is not one JSON document, or a line of JSON Lines is not a record. The input is rejected. Reading ends
    /// at the problem; JSON Lines continue at the next line. After a byte order mark, and after a record that is no
    /// object or continues over several lines, reading continues at once.
    Structural,
    /// An error inside a value that parsers treat differently, such as a duplicate key. The input is rejected, but
    /// reading continues.
    Strict,
    /// JSON that RFC 8259 allows, but RFC 7493 forbids because parsers may lose data.
    Interop,
    /// A problem in the bytes between values; no data is lost.
    Framing,
}

macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident $severity:ident $name:literal,)*) => {
        /// The kind of a problem in JSON, such as a duplicate key.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum ProblemKind { $($(#[$doc])* $kind,)* }

        impl ProblemKind {
            /// All kinds, in the order of their declaration.
            pub const ALL: &[Self] = &[$(Self::$kind,)*];

            /// Returns the severity of problems of this kind.
            pub const fn severity(self) -> ProblemSeverity {
                match self { $(Self::$kind => ProblemSeverity::$severity,)* }
            }

            /// Returns the stable name of the kind, such as `duplicate-key`.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$kind => $name,)* }
            }
        }
    };
}

kinds! {
    /// A byte order mark before a document or record.
    Bom Structural "bom",
    /// Bytes that are not UTF-8.
    InvalidUtf8 Structural "invalid-utf8",
    /// A zero byte.
    Nul Structural "nul",
    /// An unescaped control character inside a string.
    ControlInString Structural "control-in-string",
    /// A control character outside of strings, such as the first of an escape sequence.
    Control Structural "control",
    /// A token that the grammar does not allow at this position.
    Syntax Structural "syntax",
    /// The input ends inside the document.
    Truncated Structural "truncated",
    /// The input has no document.
    Empty Structural "empty",
    /// Anything but white space after the document, or after the record on its line.
    Trailing Structural "trailing",
    /// Values nested deeper than [`ReadOptions::max_depth`].
    Depth Structural "depth",
    /// A line that has only white space.
    BlankLine Structural "blank-line",
    /// A record that is not an object.
    NotObject Structural "not-object",
    /// A record that continues over several lines, as pretty-printed JSON does.
    MultiLine Structural "multi-line",
    /// A line that ends inside a value. The value does not continue on the next line.
    Torn Structural "torn",
    /// A key that an object has twice, after unescaping.
    DuplicateKey Strict "duplicate-key",
    /// `NaN` or `Infinity`, in any spelling.
    NonFinite Strict "non-finite",
    /// Half of a surrogate pair in `\u` escapes.
    UnpairedSurrogate Strict "unpaired-surrogate",
    /// An escape that JSON does not define.
    InvalidEscape Strict "invalid-escape",
    /// An integer outside of ±(2^53−1).
    IntegerRange Interop "integer-range",
    /// A number that overflows to infinity in binary64, such as `1e400`.
    Overflow Interop "overflow",
    /// A code point that is no character, such as U+FFFF.
    Noncharacter Interop "noncharacter",
    /// The last record does not end in a newline.
    NoFinalNewline Framing "no-final-newline",
    /// A carriage return outside of strings that is not followed by a newline.
    BareCr Framing "bare-cr",
}

impl ProblemKind {
    /// Returns whether a strict reader rejects a document or record with this kind of problem: true for all structural
    /// and strict kinds.
    pub const fn rejects(self) -> bool {
        matches!(self.severity(), ProblemSeverity::Structural | ProblemSeverity::Strict)
    }
}

/// A problem in JSON, at one position of the input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Kind of the problem.
    pub kind: ProblemKind,
    /// Position of the first wrong byte.
    pub position: Position,
    /// RFC 6901 pointer of the value that contains the problem. Its keys come from the input. Keys over 1 KiB and
    /// pointers over 64 KiB are cut and end in `…`.
    pub pointer: String,
    /// What was expected and what was found: one line of printable ASCII.
    pub message: String,
}

/// Options for reading JSON or JSON Lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadOptions {
    /// Maximum number of problems of each kind in [`ReadSummary::problems`]; further ones are only counted.
    pub max_problems: usize,
    /// Maximum depth of nested values; 1 allows an array of numbers.
    pub max_depth: usize,
    /// Whether records of JSON Lines may also be in `data:` fields of server-sent events. Other fields, comments and
    /// blank lines are then skipped.
    pub event_stream: bool,
}

impl Default for ReadOptions {
    /// Returns the default options: 20 problems of each kind, 512 levels, no server-sent events.
    fn default() -> Self {
        Self { max_problems: 20, max_depth: 512, event_stream: false }
    }
}

/// The result of reading an input: its problems, and counts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReadSummary {
    /// The first problems of each kind, in input order, up to [`ReadOptions::max_problems`].
    pub problems: Vec<Problem>,
    /// Number of records, also incomplete ones: lines that are not blank, or 1 for a document.
    pub records: u64,
    /// Number of records that were read to their end, without a structural problem that ended them early.
    pub complete: u64,
    /// Number of bytes read: the whole input, unless a structural problem ended a document or the sink was done.
    pub bytes: u64,
    /// Number of keys that were not checked for duplicates: at most 917,504 keys of open objects are stored.
    pub unchecked_keys: u64,
    pub(super) counts: [u64; ProblemKind::ALL.len()],
}

impl ReadSummary {
    /// Returns the number of problems of this kind, including those that are not in [`ReadSummary::problems`].
    pub fn count(&self, kind: ProblemKind) -> u64 {
        self.counts[kind as usize]
    }

    /// Returns the number of problems of this severity, including those that are not in [`ReadSummary::problems`].
    pub fn count_severity(&self, severity: ProblemSeverity) -> u64 {
        ProblemKind::ALL.iter().filter(|kind| kind.severity() == severity).map(|kind| self.count(*kind)).sum()
    }

    /// Returns the first problem of this severity in [`ReadSummary::problems`].
    pub fn first_of_severity(&self, severity: ProblemSeverity) -> Option<&Problem> {
        self.problems.iter().find(|problem| problem.kind.severity() == severity)
    }

    /// Returns whether a strict reader rejects the input: it has a structural or strict problem.
    pub fn rejected(&self) -> bool {
        self.count_severity(ProblemSeverity::Structural) + self.count_severity(ProblemSeverity::Strict) > 0
    }
}
