//! Calls of tools: their start, their end, and what they give. The JSON Schema of the agent's own jsonl has the
//! comments here as descriptions.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

/// The error codes of tools, as the agent-js contract has them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum ToolCode {
    /// The arguments are not what the tool takes.
    #[serde(rename = "TOOL_INVALID_ARGS")]
    InvalidArgs,
    /// The file or folder does not exist.
    #[serde(rename = "TOOL_NOT_FOUND")]
    NotFound,
    /// The pattern is no regular expression.
    #[serde(rename = "TOOL_INVALID_PATTERN")]
    InvalidPattern,
    /// The file is not text.
    #[serde(rename = "TOOL_UNSUPPORTED_FILE_TYPE")]
    UnsupportedFileType,
    /// The text to be replaced is absent, or stands there more than once.
    #[serde(rename = "TOOL_CONFLICT")]
    Conflict,
    /// There is no such tool.
    #[serde(rename = "TOOL_UNKNOWN")]
    Unknown,
    /// All else, such as a path that leaves the workspace.
    #[serde(rename = "TOOL_EXECUTION_ERROR")]
    ExecutionError,
}

/// Why a tool call failed.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "Problem")]
pub struct ToolError {
    /// One of the seven codes.
    #[schemars(with = "String")]
    pub code: ToolCode,
    /// What went wrong.
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

/// A file that a tool wrote.
#[derive(Debug, Clone)]
pub struct FileChange {
    /// Relative to the workspace.
    pub path: String,
    /// Its text before; empty for a new file.
    pub before: String,
    /// Its text now.
    pub after: String,
}

/// What a tool gives: its result, and the file that it wrote.
pub type ToolOutput = Result<(Map<String, Value>, Option<FileChange>), ToolError>;

/// A tool is about to run.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct ToolStart {
    /// The provider's name for the call.
    pub id: String,
    /// The tool.
    pub tool: String,
    /// Its arguments.
    pub input: Map<String, Value>,
    /// The arguments as the model wrote them.
    #[serde(skip)]
    pub raw: String,
    /// In milliseconds since 1970.
    #[serde(skip)]
    pub started: u64,
}

impl ToolStart {
    /// The record of the call, ended after this many milliseconds.
    pub fn finish(self, output: ToolOutput, duration_ms: u64) -> ToolRecord {
        let Self { id, tool, input, started, .. } = self;
        let (result, change, error) = match output {
            Ok((result, change)) => (Some(result), change, None),
            Err(error) => (None, None, Some(error)),
        };
        ToolRecord { id, tool, input, ok: error.is_none(), result, error, started, duration_ms, change }
    }
}

/// The end of a tool call.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "ToolResult")]
pub struct ToolRecord {
    /// The provider's name for the call.
    pub id: String,
    /// The tool.
    pub tool: String,
    /// Its arguments.
    #[serde(skip)]
    pub input: Map<String, Value>,
    /// Whether it succeeded.
    pub ok: bool,
    /// Its result; null if it failed.
    pub result: Option<Map<String, Value>>,
    /// Why it failed; null if it did not.
    pub error: Option<ToolError>,
    /// When it started, in milliseconds since 1970.
    #[serde(skip)]
    pub started: u64,
    /// How long it took, in milliseconds.
    pub duration_ms: u64,
    /// The file that it wrote.
    #[serde(skip)]
    pub change: Option<FileChange>,
}

impl ToolRecord {
    /// Passes all that the tool gave through `hide`.
    pub fn hide(&mut self, hide: &dyn Fn(&str) -> String) {
        let result = self.result.iter_mut().flat_map(Map::values_mut);
        result.for_each(|value| hide_in(value, hide));
        if let Some(error) = &mut self.error {
            error.message = hide(&error.message);
        }
        if let Some(FileChange { before, after, .. }) = &mut self.change {
            (*before, *after) = (hide(before), hide(after));
        }
    }

    /// The exit code of the command that it ran.
    pub fn exit_code(&self) -> Option<&Value> {
        self.result.as_ref()?.get("exit_code")
    }

    /// What it worked on, for people.
    pub fn title(&self) -> &str {
        let mut keys = ["path", "pattern", "command", "expression"].into_iter();
        keys.find_map(|key| self.input.get(key)?.as_str()).unwrap_or(&self.tool)
    }

    /// The result as text, as models and the Dexter contracts get it.
    pub fn text(&self) -> String {
        match &self.error {
            None => serde_json::to_string(&self.result).unwrap_or_default(),
            Some(error) => format!("Error: {}", error.message),
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
