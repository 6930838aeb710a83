//! The error type: a message with a kind, which determines the exit code, and a hint.
//!
//! The exit codes are those of principle 2: 0 success, 1 general, 2 usage,
//! 77 authentication or permission, 78 configuration.

use std::fmt;

/// Returns the exit code of a program that was killed by a signal: 128 + `signal`, as in a shell.
pub fn signal_exit_code(signal: i32) -> u8 {
    u8::try_from(128 + signal).unwrap_or(ErrorKind::General.exit_code())
}

/// The kind of an error, which determines the exit code (principle 2 of the standard).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// The command succeeded and found a violation: a failed MUST, an invalid document, a breaking change; exit code 1.
    Findings,
    /// There was nothing to run, to check or to infer from: exit code 1.
    NothingRun,
    /// The output is not one of a known agent, so nothing is known about the run: exit code 1.
    Unrecognised,
    /// The output or a file could not be written: exit code 1.
    Write,
    /// The work on a document or a schema needs too much time or memory: exit code 1.
    Budget,
    /// The system cannot confine runs as strongly as the command requires: exit code 1.
    Isolation,
    /// The command failed for another reason: exit code 1.
    General,
    /// Invalid arguments, or a named data file that does not exist: exit code 2.
    Usage,
    /// A permission is missing (to read, write or execute a file), or a key was rejected: exit code 77.
    Auth,
    /// An invalid or missing `agentnative.toml`, contract or schema, or a missing target: exit code 78.
    Config,
}

impl ErrorKind {
    /// Returns the exit code of a process that fails with an error of this kind.
    pub const fn exit_code(self) -> u8 {
        match self {
            Self::Findings
            | Self::NothingRun
            | Self::Unrecognised
            | Self::Write
            | Self::Budget
            | Self::Isolation
            | Self::General => 1,
            Self::Usage => 2,
            Self::Auth => 77,
            Self::Config => 78,
        }
    }

    /// Returns the stable name of the kind, which JSON error objects contain as `kind`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Findings => "findings",
            Self::NothingRun => "nothing-run",
            Self::Unrecognised => "unrecognised",
            Self::Write => "write",
            Self::Budget => "budget",
            Self::Isolation => "isolation",
            Self::General => "general",
            Self::Usage => "usage",
            Self::Auth => "auth",
            Self::Config => "config",
        }
    }
}

/// The place of an error in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The file, as named by the user.
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

/// One problem of an [`Error`] that has several problems or places.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Issue {
    /// The place of the problem in a file, if it has one.
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
/// `message` is one line. It may contain bytes of a target or a file, so it must be sanitised before it is printed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    /// The kind of the error; it determines the exit code.
    pub kind: ErrorKind,
    /// What went wrong, in one line.
    pub message: String,
    /// The individual problems, if there are several or they have places; otherwise empty.
    pub issues: Vec<Issue>,
    /// How the user can fix the error.
    pub hint: Option<String>,
    /// The signal that interrupted the work, if one did; the exit code is then 128 + signal.
    pub signal: Option<i32>,
}

impl Error {
    /// Creates an error of this kind with a message, without issues, hint and signal.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), issues: Vec::new(), hint: None, signal: None }
    }
    /// Creates an error for a failed `action` ("read", "write", "open") on a file or folder: of kind `Auth` if
    /// permission is denied, or else of `kind`.
    pub fn io(kind: ErrorKind, action: &str, path: &std::path::Path, error: &std::io::Error) -> Self {
        let denied = error.kind() == std::io::ErrorKind::PermissionDenied;
        let kind = if denied { ErrorKind::Auth } else { kind };
        Self::new(kind, format!("cannot {action} {}: {error}", path.display()))
    }
    /// Creates an error for a data file of the command line that cannot be read: of kind `Usage` if the file does not
    /// exist or is not a file, or else as in [`Error::io`]. If `error` contains an error of this type, it is about the
    /// contents of the file.
    pub fn data_file(path: &std::path::Path, error: &std::io::Error) -> Self {
        if let Some(inner) = error.get_ref().and_then(|inner| inner.downcast_ref::<Self>()) {
            return Self { message: format!("{}: {}", path.display(), inner.message), ..inner.clone() };
        }
        use std::io::ErrorKind::{IsADirectory, NotADirectory, NotFound};
        let is_usage = matches!(error.kind(), NotFound | IsADirectory | NotADirectory);
        let kind = if is_usage { ErrorKind::Usage } else { ErrorKind::General };
        Self::io(kind, "read", path, error)
    }
    /// Creates a configuration error, with line and column, for a JSON document that is not `what` it should be, such
    /// as "a baseline". `expected` describes the contents of such a document.
    pub fn document(path: &std::path::Path, what: &str, expected: &str, error: &serde_json::Error) -> Self {
        let (line, column) = (error.line().max(1), error.column().max(1));
        let text = error.to_string();
        let text = text.rsplit_once(" at line ").map_or(text.as_str(), |(text, _)| text);
        let expected = if error.is_data() { expected } else { "one JSON document" };
        let message = match text.contains("expected") {
            true => text.to_owned(),
            false => format!("{text}; expected {expected}"),
        };
        let place = Some(Place { file: path.to_owned(), line, column });
        Self::config(format!("{} is not {what}", path.display())).issues(vec![Issue { place, message }])
    }
    /// Creates an error of kind `Findings`.
    pub fn findings(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Findings, message)
    }
    /// Creates an error of kind `NothingRun`.
    pub fn nothing_run(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::NothingRun, message)
    }
    /// Creates an error for work that a signal interrupted: exit code 128 + `signal`.
    pub fn interrupted(signal: i32, message: impl Into<String>) -> Self {
        Self { signal: Some(signal), ..Self::general(message) }
    }
    /// Creates an error of kind `General`.
    pub fn general(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::General, message)
    }
    /// Creates an error of kind `Usage`.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Usage, message)
    }
    /// Creates an error of kind `Auth`.
    pub fn auth(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Auth, message)
    }
    /// Creates an error of kind `Config`.
    pub fn config(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Config, message)
    }
    /// Returns the exit code: 128 + `signal` if a signal interrupted the work, or else the exit code of the kind.
    pub fn exit_code(&self) -> u8 {
        self.signal.map_or(self.kind.exit_code(), signal_exit_code)
    }
    /// Returns the error with a hint: how to fix it.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
    /// Returns the error with its individual problems.
    #[must_use]
    pub fn issues(mut self, issues: Vec<Issue>) -> Self {
        self.issues = issues;
        self
    }
}

/// The result of every fallible operation of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;
