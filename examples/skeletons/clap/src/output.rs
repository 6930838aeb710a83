//! All output: data on stdout, everything else on stderr.

use std::error::Error;
use std::io::{self, ErrorKind, Write as _};

use clap::ValueEnum;
use serde::Serialize;
use serde_json::{Value, json};

#[derive(Clone, Copy, PartialEq, ValueEnum)]
pub enum Format {
    Text,
    Json,
    Jsonl,
}

/// An error with its kind, which sets the exit code.
pub struct Failure {
    kind: ExitCode,
    error: &'static str,
    message: String,
    retryable: bool,
}

#[derive(Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ExitCode {
    General = 1,
    Usage = 2,
    Auth = 77,
    Config = 78,
}

impl<E: Error> From<E> for Failure {
    fn from(error: E) -> Self {
        failure(ExitCode::General, "failed", error.to_string())
    }
}

pub fn failure(kind: ExitCode, error: &'static str, message: impl Into<String>) -> Failure {
    let retryable = ["locked", "unreachable"].contains(&error);
    Failure { kind, error, message: message.into(), retryable }
}

/// All output: data on stdout, everything else on stderr.
pub struct Output {
    pub format: Format,
    pub quiet: bool,
    pub verbose: bool,
}

impl Output {
    pub fn data<T: Serialize>(&self, data: &Value, text: &str, records: &[T]) -> Result<(), Failure> {
        match self.format {
            Format::Text => self.raw(text),
            Format::Json => self.raw(&json!({ "ok": true, "data": data }).to_string()),
            Format::Jsonl => {
                let lines: Result<Vec<_>, _> = records.iter().map(serde_json::to_string).collect();
                self.raw(&lines?.join("\n"))
            }
        }
    }

    pub fn one(&self, data: Value, text: &str) -> Result<(), Failure> {
        self.data(&data, text, &[&data])
    }

    pub fn raw(&self, text: &str) -> Result<(), Failure> {
        let newline = if text.is_empty() { "" } else { "\n" };
        let written = write!(io::stdout(), "{}{newline}", text.trim_end()).and_then(|()| io::stdout().flush());
        match written {
            Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(error.into()),
            _ => Ok(()),
        }
    }

    pub fn note(&self, text: &str) {
        if self.format == Format::Text && !self.quiet {
            eprintln!("{text}");
        }
    }

    /// Prints an error, and returns its exit code.
    pub fn fail(&self, failure: Failure) -> i32 {
        let Failure { kind, error, message, retryable } = failure;
        match self.format {
            Format::Text => eprintln!("todo: {message}"),
            _ => eprintln!(
                "{}",
                json!({ "error": error, "kind": kind, "message": message, "retryable": retryable })
            ),
        }
        kind as i32
    }

    /// Prints the result of a change: the same fields with and without a dry run.
    pub fn change(&self, name: &str, changed: bool, dry_run: bool, verb: [&str; 2]) -> Result<(), Failure> {
        let done = if !changed { "nothing to do" } else { verb[usize::from(dry_run)] };
        self.one(json!({ "name": name, "changed": changed, "dry_run": dry_run }), &format!("{done}: {name}"))
    }
}
