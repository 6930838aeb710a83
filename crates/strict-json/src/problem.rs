//! What can be wrong with JSON, and the summary of a reading.

use super::Position;

/// How bad a kind of problem is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Class {
    /// Not one JSON document, or not a JSON line: rejected. The reading of the document or line ends
    /// there (behind a byte order mark and a record of the wrong shape it goes on).
    Structural,
    /// A fault inside a value that readers disagree on: rejected, but the reading goes on.
    Strict,
    /// Allowed by RFC 8259, but RFC 7493 forbids it since readers may lose data.
    Interop,
    /// A lapse in the bytes between values; nothing is lost.
    Framing,
}

macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident $class:ident $name:literal,)*) => {
        /// What is wrong.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum ProblemKind { $($(#[$doc])* $kind,)* }

        impl ProblemKind {
            /// All kinds, in the order of their declaration.
            pub const ALL: &[Self] = &[$(Self::$kind,)*];

            /// How bad it is.
            pub const fn class(self) -> Class {
                match self { $(Self::$kind => Class::$class,)* }
            }

            /// A stable name, such as `duplicate-key`.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$kind => $name,)* }
            }
        }
    };
}

kinds! {
    /// A byte order mark in front of a document or record.
    Bom Structural "bom",
    /// Bytes that are not UTF-8.
    InvalidUtf8 Structural "invalid-utf8",
    /// A zero byte.
    Nul Structural "nul",
    /// An unescaped control character inside a string.
    ControlInString Structural "control-in-string",
    /// A control character, such as an escape sequence's first, outside of strings.
    Control Structural "control",
    /// Something else than the grammar allows at this place.
    Syntax Structural "syntax",
    /// The input ends inside the document.
    Truncated Structural "truncated",
    /// There is no document at all.
    Empty Structural "empty",
    /// Something but white space behind the document, or behind the record on its line.
    Trailing Structural "trailing",
    /// Values nested deeper than [`ReadOptions::max_depth`].
    Depth Structural "depth",
    /// A line with nothing but white space.
    BlankLine Structural "blank-line",
    /// A record that is not an object.
    NotObject Structural "not-object",
    /// A record that goes on over several lines, as pretty-printed JSON does.
    MultiLine Structural "multi-line",
    /// A line that ends inside a value which does not go on in the next line.
    Torn Structural "torn",
    /// The same key, after unescaping, twice in an object.
    DuplicateKey Strict "duplicate-key",
    /// `NaN` or `Infinity` in any spelling.
    NonFinite Strict "non-finite",
    /// Half of a surrogate pair in `\u` escapes.
    UnpairedSurrogate Strict "unpaired-surrogate",
    /// An escape that JSON does not have.
    InvalidEscape Strict "invalid-escape",
    /// An integer outside of ±(2^53−1).
    IntegerRange Interop "integer-range",
    /// A number that overflows to infinity in binary64, such as `1e400`.
    Overflow Interop "overflow",
    /// A code point that is no character, such as U+FFFF.
    Noncharacter Interop "noncharacter",
    /// The last record does not end in a newline.
    NoFinalNewline Framing "no-final-newline",
    /// A carriage return outside of strings that no newline follows.
    BareCr Framing "bare-cr",
}

impl ProblemKind {
    /// Whether a strict reader rejects the document or record: all structural and strict kinds.
    pub const fn rejects(self) -> bool {
        matches!(self.class(), Class::Structural | Class::Strict)
    }
}

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// What it is.
    pub kind: ProblemKind,
    /// The first byte that is wrong.
    pub at: Position,
    /// RFC 6901 pointer of the value it is in; holds keys of the input. Keys over 1 KiB are cut and end
    /// in `…`, and so does a pointer over 64 KiB.
    pub pointer: String,
    /// One line of printable ASCII: what was expected and what was found.
    pub message: String,
}

/// Limits of a reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadOptions {
    /// How many problems of each kind are kept; those beyond are counted only.
    pub max_problems: usize,
    /// How deep values may nest: 1 allows a list of numbers.
    pub max_depth: usize,
    /// Records of JSON lines may also come as server-sent events, one record in a `data:` field. The
    /// other fields, comments and blank lines are then passed over.
    pub event_stream: bool,
}

impl Default for ReadOptions {
    /// 20 problems of each kind, 512 levels, bare lines.
    fn default() -> Self {
        Self { max_problems: 20, max_depth: 512, event_stream: false }
    }
}

/// The result of a reading.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Summary {
    /// The first problems of each kind, in the order they were met.
    pub problems: Vec<Problem>,
    /// The number of records begun: lines that are not blank, or 1 for a document.
    pub records: u64,
    /// Those of `records` that no structural problem ended early.
    pub whole: u64,
    /// The bytes gone through: all of the input, unless a structural problem ended a document or the
    /// sink had enough.
    pub bytes: u64,
    /// Keys not compared with the others of their object, because 917,504 keys of open objects were held already.
    pub keys_unchecked: u64,
    pub(super) counts: [u64; ProblemKind::ALL.len()],
}

impl Summary {
    /// How many problems of this kind there are, kept or not.
    pub fn count(&self, kind: ProblemKind) -> u64 {
        self.counts[kind as usize]
    }

    /// How many problems of this class there are, kept or not.
    pub fn count_class(&self, class: Class) -> u64 {
        ProblemKind::ALL.iter().filter(|kind| kind.class() == class).map(|kind| self.count(*kind)).sum()
    }

    /// The first kept problem of this class.
    pub fn first(&self, class: Class) -> Option<&Problem> {
        self.problems.iter().find(|problem| problem.kind.class() == class)
    }

    /// Whether a strict reader rejects the input.
    pub fn rejected(&self) -> bool {
        self.count_class(Class::Structural) + self.count_class(Class::Strict) > 0
    }
}
