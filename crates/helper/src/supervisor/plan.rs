//! What the launcher is told, and what it answers.
//!
//! To the launcher: the plan, and with it the three standard descriptors of the target. From the launcher:
//! an answer in JSON just before exec, or when something failed, or both. End of file after the first
//! means that exec happened.

use crate::{Confinement, Job};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::io;

/// What the launcher has to do before it becomes the target.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Plan {
    /// The job, with all of its environment.
    pub job: Job,
    /// The parent of the launcher, as that sees it: when it is gone, so is the target.
    pub parent: i32,
    /// What it is confined by.
    pub rung: Rung,
    /// Processor time, in seconds.
    pub cpu: u64,
    /// Size of the largest file, in bytes.
    pub file_size: u64,
    /// Number of open files.
    pub open_files: Option<u64>,
    /// Signals to be set back to their defaults, since we were started with them ignored.
    pub ignored: Vec<i32>,
}

/// What confines a run.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Rung {
    /// Nothing.
    None,
    /// Landlock: it may write below these folders alone.
    Landlock(Vec<OsString>),
    /// The namespaces that the launcher is in.
    Namespaces,
}

/// What the launcher answered.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Answer {
    /// The target runs, confined so far; or it will in a moment, unless another answer follows.
    Started(Option<Confinement>),
    /// It does not: error number and words.
    Failed(i32, String),
}

impl Answer {
    /// That something, if it has a name, could not be done.
    pub fn failed(error: &io::Error, doing: &str) -> Self {
        let number = error.raw_os_error().unwrap_or_else(|| Errno::INVAL.raw_os_error());
        let words = match doing {
            "" => errno_message(number),
            doing => format!("{doing}: {}", errno_message(number)),
        };
        Self::Failed(number, words)
    }

    /// Reads all that the launcher sent until it closed the socket.
    pub fn read(answers: &[u8]) -> Self {
        let answers = serde_json::Deserializer::from_slice(answers).into_iter().map_while(Result::ok);
        let none = || Self::Failed(0, "the launcher ended before it started the program".into());
        answers.last().unwrap_or_else(none)
    }
}

/// The operating system's words for an error number.
pub(super) fn errno_message(number: i32) -> String {
    let words = io::Error::from_raw_os_error(number).to_string();
    // The number stands beside the words already.
    words.split(" (os error").next().unwrap_or_default().to_owned()
}
