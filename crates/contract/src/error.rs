//! One error type with a kind, an exit code and a hint.
//!
//! The exit codes are those of principle 2: 0 success, 1 general, 2 usage,
//! 77 authentication or permission, 78 configuration.

use std::fmt;

/// The exit code of what a signal ended: 128 and its number, as shells have it.
pub fn exit_of_signal(signal: i32) -> u8 {
    u8::try_from(128 + signal).unwrap_or(ErrorKind::General.exit_code())
}

/// What went wrong, in the sense of principle 2's exit codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// The command did its work and found what breaks a requirement: a failed MUST, an invalid document, a
    /// breaking change; exit code 1.
    Findings,
    /// There was nothing that could be run, checked or learnt from: exit code 1.
    NothingRun,
    /// The output or a file could not be written: exit code 1.
    Write,
    /// The work on a document or a schema needs too much time or memory: exit code 1.
    Budget,
    /// The command could not do its work for another reason: exit code 1.
    General,
    /// Wrong arguments, or a data file named by them that is not there: exit code 2.
    Usage,
    /// Not allowed: a file that may not be read, written or executed, a refused key; exit code 77.
    Auth,
    /// A bad or missing `agentnative.toml`, contract or schema, or a target that cannot be found: exit code 78.
    Config,
}

impl ErrorKind {
    /// The process exit code of this kind.
    pub const fn exit_code(self) -> u8 {
        match self {
            Self::Findings | Self::NothingRun | Self::Write | Self::Budget | Self::General => 1,
            Self::Usage => 2,
            Self::Auth => 77,
            Self::Config => 78,
        }
    }

    /// The stable name used as `kind` in a JSON error object.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Findings => "findings",
            Self::NothingRun => "nothing-run",
            Self::Write => "write",
            Self::Budget => "budget",
            Self::General => "general",
            Self::Usage => "usage",
            Self::Auth => "auth",
            Self::Config => "config",
        }
    }
}

/// A place in a file that an error is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The file, as it was named.
    pub file: std::path::PathBuf,
    /// 1-based line; 0 when the error is about the whole file.
    pub line: usize,
    /// 1-based column in characters; 0 when the error is about the whole file.
    pub column: usize,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file.display())?;
        if self.line > 0 {
            write!(f, ":{}:{}", self.line, self.column)?;
        }
        Ok(())
    }
}

/// One thing that is wrong: where, what, and what was expected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Issue {
    /// Where, when it has a place.
    pub place: Option<Place>,
    /// What is wrong and what was expected.
    pub message: String,
}

impl fmt::Display for Issue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(place) = &self.place {
            write!(f, "{place}: ")?;
        }
        f.write_str(&self.message)
    }
}

/// The error of every fallible operation of this crate.
///
/// `message` is one line. It may hold bytes of a target or a file, so it reaches a terminal only
/// through the sanitiser of `output`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    /// Decides the exit code.
    pub kind: ErrorKind,
    /// One line: what went wrong.
    pub message: String,
    /// All the single problems behind it, when there are several or they have places.
    pub issues: Vec<Issue>,
    /// What to do about it.
    pub hint: Option<String>,
    /// The signal that ended the work; it decides the exit code.
    pub signal: Option<i32>,
}

impl Error {
    /// An error of the given kind.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), issues: Vec::new(), hint: None, signal: None }
    }
    /// A file or folder that cannot be read, written or opened, as `action` says: not allowed, where the system
    /// says so, else of the given kind.
    pub fn io(kind: ErrorKind, action: &str, path: &std::path::Path, error: &std::io::Error) -> Self {
        let denied = error.kind() == std::io::ErrorKind::PermissionDenied;
        let kind = if denied { ErrorKind::Auth } else { kind };
        Self::new(kind, format!("cannot {action} {}: {error}", path.display()))
    }
    /// A data file named on the command line that cannot be read: usage, when it is not there or is no file,
    /// else as [`Error::io`] says.
    pub fn data(path: &std::path::Path, error: &std::io::Error) -> Self {
        use std::io::ErrorKind::{IsADirectory, NotADirectory, NotFound};
        let named_wrong = matches!(error.kind(), NotFound | IsADirectory | NotADirectory);
        let kind = if named_wrong { ErrorKind::Usage } else { ErrorKind::General };
        Self::io(kind, "read", path, error)
    }
    /// A JSON document that is not `what` it should be, such as "a baseline": configuration, with line and column.
    /// `expected` says what such a document holds.
    pub fn document(path: &std::path::Path, what: &str, expected: &str, error: &serde_json::Error) -> Self {
        let (line, column) = (error.line().max(1), error.column().max(1));
        let words = error.to_string();
        let words = words.rsplit_once(" at line ").map_or(words.as_str(), |(words, _)| words);
        let expected = if error.is_data() { expected } else { "one JSON document" };
        let message = match words.contains("expected") {
            true => words.to_owned(),
            false => format!("{words}; expected {expected}"),
        };
        let place = Some(Place { file: path.to_owned(), line, column });
        Self::config(format!("{} is not {what}", path.display())).issues(vec![Issue { place, message }])
    }
    /// What was found breaks a requirement: exit code 1.
    pub fn findings(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Findings, message)
    }
    /// Nothing could be run, checked or learnt from: exit code 1.
    pub fn nothing_run(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::NothingRun, message)
    }
    /// A signal ended the work: exit code 128 and its number.
    pub fn interrupted(signal: i32, message: impl Into<String>) -> Self {
        Self { signal: Some(signal), ..Self::general(message) }
    }
    /// A general error: exit code 1.
    pub fn general(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::General, message)
    }
    /// A usage error: exit code 2.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Usage, message)
    }
    /// An authentication or permission error: exit code 77.
    pub fn auth(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Auth, message)
    }
    /// A configuration error: exit code 78.
    pub fn config(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Config, message)
    }
    /// The exit code: that of the signal, if one ended the work, else that of the kind.
    pub fn exit_code(&self) -> u8 {
        self.signal.map_or(self.kind.exit_code(), exit_of_signal)
    }
    /// The same error with what to do about it.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
    /// The same error with the single problems behind it.
    #[must_use]
    pub fn issues(mut self, issues: Vec<Issue>) -> Self {
        self.issues = issues;
        self
    }
}

/// The result of every fallible operation of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;
