//! The plan that the launcher receives, and its answer.
//!
//! The supervisor sends the plan with the three standard descriptors of the target. The launcher answers in JSON
//! immediately before exec, or on failure, or both. End of file after the first answer means that exec succeeded.

use crate::{Confinement, Job};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::io;

/// What the launcher does before it becomes the target.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Plan {
    /// The job with its complete environment.
    pub job: Job,
    /// Process ID that the launcher expects its parent to have. The target is killed when the parent ends.
    pub parent: i32,
    pub level: ConfinementLevel,
    /// Limit on the processor time of the run, in seconds.
    pub cpu: u64,
    /// Limit on the size of a file, in bytes.
    pub file_size: u64,
    /// Soft limit on the number of open files; `None` without a limit.
    pub open_files: Option<u64>,
    /// Numbers of the signals whose default action is restored, since the supervisor was started with them ignored.
    pub ignored: Vec<i32>,
}

/// How strongly a run is confined.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum ConfinementLevel {
    None,
    /// By Landlock: the run may write only below these folders.
    Landlock(Vec<OsString>),
    /// By namespaces, which the launcher is already in.
    Namespaces,
}

/// The answer of the launcher to the supervisor.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Answer {
    /// The target runs with this confinement, or is about to. If another answer follows, only that one is valid.
    Started(Option<Confinement>),
    /// The target cannot be started: error number of the operating system, and message.
    Failed(i32, String),
}

impl Answer {
    /// Creates the answer for a failed action, such as `cannot set stdin`. An empty `action` stands for exec, which
    /// needs no explanation.
    pub fn failed(error: &io::Error, action: &str) -> Self {
        let number = error.raw_os_error().unwrap_or_else(|| Errno::INVAL.raw_os_error());
        let message = match action {
            "" => errno_message(number),
            action => format!("{action}: {}", errno_message(number)),
        };
        Self::Failed(number, message)
    }

    /// Parses all answers that the launcher sent until it closed the socket, and returns the last one. If there are
    /// none, the launcher has failed.
    pub fn parse(answers: &[u8]) -> Self {
        let answers = serde_json::Deserializer::from_slice(answers).into_iter().map_while(Result::ok);
        let none = || Self::Failed(0, "the launcher exited before it started the program".into());
        answers.last().unwrap_or_else(none)
    }
}

/// Returns the operating system's message for an error number.
pub(super) fn errno_message(number: i32) -> String {
    let message = io::Error::from_raw_os_error(number).to_string();
    // The number is reported separately.
    message.split(" (os error").next().unwrap_or_default().to_owned()
}
