//! JSON structures that all subcommands share: the envelope of a result, and the error object.

use agentnative_contract::error::{Error, ErrorKind, Issue};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::os::unix::ffi::OsStrExt as _;
use strict_json::sanitize::lossless;

/// The document that `--output json` prints.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Envelope<T> {
    /// The command succeeded and found no problem.
    pub ok: bool,
    /// The subcommand, such as `check` or `contract list`.
    pub command: String,
    /// The result of the subcommand.
    pub data: T,
}

/// The error object: the line that a failed command prints to stderr in a JSON mode.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ErrorObject {
    /// The kind in words, such as "configuration error".
    pub error: String,
    /// The kind as a stable name: `findings`, `nothing-run`, `write`, `budget`, `general`, `usage`, `auth` or `config`.
    pub kind: String,
    /// Description of the error, in one line.
    pub message: String,
    /// The individual problems.
    pub issues: Vec<ErrorIssue>,
    /// What to do next.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub hint: Option<String>,
}

/// One problem of an [`ErrorObject`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ErrorIssue {
    /// The file; bytes of its name that are not UTF-8 are written as `\xNN`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub file: Option<String>,
    /// 1-based line; absent if the problem concerns the entire file.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub line: Option<usize>,
    /// 1-based column in characters; absent if the problem concerns the entire file.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub column: Option<usize>,
    /// The problem and what was expected.
    pub message: String,
}

impl From<&Error> for ErrorObject {
    fn from(error: &Error) -> Self {
        let words = match error.kind {
            ErrorKind::Findings => "requirement not met",
            ErrorKind::NothingRun => "nothing run",
            ErrorKind::Unrecognised => "output not recognised",
            ErrorKind::Write => "write error",
            ErrorKind::Budget => "budget spent",
            ErrorKind::Isolation => "isolation unavailable",
            ErrorKind::General => "general error",
            ErrorKind::Usage => "usage error",
            ErrorKind::Auth => "authentication or permission error",
            ErrorKind::Config => "configuration error",
        };
        Self {
            error: words.to_owned(),
            kind: error.kind.name().to_owned(),
            message: error.message.clone(),
            issues: error.issues.iter().map(ErrorIssue::from).collect(),
            hint: error.hint.clone(),
        }
    }
}

impl From<&Issue> for ErrorIssue {
    fn from(issue: &Issue) -> Self {
        let place = issue.place.as_ref();
        let position = place.filter(|place| place.line > 0);
        Self {
            file: place.map(|place| lossless(place.file.as_os_str().as_bytes()).into_owned()),
            line: position.map(|place| place.line),
            column: position.map(|place| place.column),
            message: issue.message.clone(),
        }
    }
}
