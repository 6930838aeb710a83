//! What happens in a run, as it happens, and how it ends.

use super::attach::Attached;
use super::failure::Failure;
use super::model::Usage;
use serde_json::{Map, Value};
use std::time::Duration;

/// The error codes of tools, as the agent-js contract has them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolCode {
    /// The arguments are not what the tool takes.
    InvalidArgs,
    /// The file or folder does not exist.
    NotFound,
    /// The pattern is no regular expression.
    InvalidPattern,
    /// The file is not text.
    UnsupportedFileType,
    /// The text to be replaced is absent, or stands there more than once.
    Conflict,
    /// There is no such tool.
    Unknown,
    /// All else, such as a path that leaves the workspace.
    ExecutionError,
}

impl ToolCode {
    /// The name in every contract.
    pub const fn name(self) -> &'static str {
        match self {
            Self::InvalidArgs => "TOOL_INVALID_ARGS",
            Self::NotFound => "TOOL_NOT_FOUND",
            Self::InvalidPattern => "TOOL_INVALID_PATTERN",
            Self::UnsupportedFileType => "TOOL_UNSUPPORTED_FILE_TYPE",
            Self::Conflict => "TOOL_CONFLICT",
            Self::Unknown => "TOOL_UNKNOWN",
            Self::ExecutionError => "TOOL_EXECUTION_ERROR",
        }
    }
}

/// Why a tool call failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolError {
    /// Which of the seven.
    pub code: ToolCode,
    /// One line; never empty.
    pub message: String,
}

impl ToolError {
    /// An error with this code.
    pub fn new(code: ToolCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }
    /// One that has no code of its own.
    pub fn execution(message: impl Into<String>) -> Self {
        Self::new(ToolCode::ExecutionError, message)
    }
    /// Arguments that the tool cannot take.
    pub fn args(message: impl Into<String>) -> Self {
        Self::new(ToolCode::InvalidArgs, message)
    }
}

/// What a tool did to the world, beside its result.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// A file was written.
    FileChanged {
        /// Relative to the workspace.
        path: String,
        /// Its text before; empty for a new file.
        before: String,
        /// Its text now.
        after: String,
    },
    /// A command was run to its end.
    CommandRan {
        /// The command line.
        command: String,
        /// Its exit code; 128 + the signal when it died of one.
        exit_code: i32,
        /// What it printed, bounded.
        stdout: String,
        /// What it printed on standard error, bounded.
        stderr: String,
    },
}

/// What a tool gives: its result, and what it did beside.
pub type ToolOutput = Result<(Map<String, Value>, Option<Effect>), ToolError>;

/// A tool call that begins.
#[derive(Debug, Clone)]
pub struct ToolStart {
    /// The provider's name for the call.
    pub id: String,
    /// The tool that was asked for.
    pub tool: String,
    /// The arguments.
    pub input: Map<String, Value>,
    /// The arguments as the model wrote them.
    pub raw: String,
    /// In milliseconds since 1970.
    pub started: u64,
}

impl ToolStart {
    /// The record of the call, ended after this many milliseconds.
    pub fn finish(self, output: ToolOutput, duration: u64) -> ToolRecord {
        let Self { id, tool, input, started, .. } = self;
        let (outcome, effect) = match output {
            Ok((result, effect)) => (Ok(result), effect),
            Err(error) => (Err(error), None),
        };
        ToolRecord { id, tool, input, outcome, started, duration, effect }
    }
}

/// A tool call that has ended.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolRecord {
    /// The provider's name for the call.
    pub id: String,
    /// The tool that was asked for.
    pub tool: String,
    /// The arguments.
    pub input: Map<String, Value>,
    /// The result, or why there is none.
    pub outcome: Result<Map<String, Value>, ToolError>,
    /// When it started, in milliseconds since 1970.
    pub started: u64,
    /// How long it took, in milliseconds.
    pub duration: u64,
    /// What it did beside its result.
    pub effect: Option<Effect>,
}

impl ToolRecord {
    /// Passes all that the tool gave through `hide`.
    pub fn hide(&mut self, hide: &dyn Fn(&str) -> String) {
        match &mut self.outcome {
            Ok(result) => result.values_mut().for_each(|value| hide_in(value, hide)),
            Err(error) => error.message = hide(&error.message),
        }
        let texts = match &mut self.effect {
            Some(Effect::FileChanged { before, after, .. }) => [before, after],
            Some(Effect::CommandRan { stdout, stderr, .. }) => [stdout, stderr],
            None => return,
        };
        for text in texts {
            *text = hide(text);
        }
    }

    /// The result as text, as models and the Dexter contracts get it.
    pub fn text(&self) -> String {
        match &self.outcome {
            Ok(result) => serde_json::to_string(result).unwrap_or_default(),
            Err(error) => format!("Error: {}", error.message),
        }
    }
}

fn hide_in(value: &mut Value, hide: &dyn Fn(&str) -> String) {
    match value {
        Value::String(text) => *text = hide(text),
        Value::Array(items) => items.iter_mut().for_each(|item| hide_in(item, hide)),
        Value::Object(members) => members.values_mut().for_each(|member| hide_in(member, hide)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// What happens, as it happens.
#[derive(Debug, Clone)]
pub enum Event {
    /// The query is known.
    Query {
        /// Its words.
        text: String,
        /// What is attached to it.
        attached: Vec<Attached>,
    },
    /// The provider is ready; the loop begins.
    Started {
        /// The provider's name.
        provider: String,
        /// The model's name.
        model: String,
        /// Whether the model is told of tools.
        tools: bool,
    },
    /// The model takes no tools; it goes on without.
    ToolsRefused,
    /// The model is asked.
    TurnStarted,
    /// The model is asked again after a wait.
    Retry {
        /// How often it was asked again in this turn, from 1.
        attempt: u32,
        /// What went wrong.
        message: String,
        /// How long the wait is.
        wait: Duration,
    },
    /// The model says something: the next words.
    Text(String),
    /// The model's turn has ended.
    TurnEnded {
        /// Tokens, when the provider counts them.
        usage: Option<Usage>,
    },
    /// A tool is about to run.
    ToolStarted(ToolStart),
    /// A tool may only run when this is granted.
    Permission {
        /// The call.
        id: String,
        /// The tool.
        tool: String,
        /// Whether it was.
        granted: bool,
    },
    /// A tool has ended.
    ToolFinished(ToolRecord),
}

/// How a run ends: with these words of the model, which may be none, or without.
pub type Outcome = Result<String, Failure>;
