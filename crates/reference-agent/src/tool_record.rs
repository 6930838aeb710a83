//! Tool calls: their start, result and errors. The doc comments of the serialized types are the descriptions in the
//! JSON Schema of the native jsonl.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

/// The error codes of tools in the agent-js contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum ToolCode {
    /// The arguments are invalid.
    #[serde(rename = "TOOL_INVALID_ARGS")]
    InvalidArgs,
    /// The file or folder does not exist.
    #[serde(rename = "TOOL_NOT_FOUND")]
    NotFound,
    /// The pattern is not a valid regular expression.
    #[serde(rename = "TOOL_INVALID_PATTERN")]
    InvalidPattern,
    /// The file is not text.
    #[serde(rename = "TOOL_UNSUPPORTED_FILE_TYPE")]
    UnsupportedFileType,
    /// The text to replace is missing or occurs more than once.
    #[serde(rename = "TOOL_CONFLICT")]
    Conflict,
    /// The tool does not exist.
    #[serde(rename = "TOOL_UNKNOWN")]
    Unknown,
    /// Any other error, such as a path outside the workspace.
    #[serde(rename = "TOOL_EXECUTION_ERROR")]
    ExecutionError,
}

/// Why a tool call failed.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "Problem")]
pub struct ToolError {
    /// Error code, one of seven.
    #[schemars(with = "String")]
    pub code: ToolCode,
    /// Error message.
    pub message: String,
}

impl ToolError {
    pub fn new(code: ToolCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }
    /// Creates an error with the general code [`ToolCode::ExecutionError`].
    pub fn execution_error(message: impl Into<String>) -> Self {
        Self::new(ToolCode::ExecutionError, message)
    }
    /// Creates an error for invalid arguments.
    pub fn invalid_arguments(message: impl Into<String>) -> Self {
        Self::new(ToolCode::InvalidArgs, message)
    }
}

/// A change of a file by a tool.
#[derive(Debug, Clone)]
pub struct RecordedFileChange {
    /// Path in the arguments of the call.
    pub path: String,
    /// Content before the change; empty for a new file.
    pub before: String,
    /// Content after the change.
    pub after: String,
}

/// The output of a tool: its result with the file that it changed, if any, or an error.
pub type ToolOutput = Result<(Map<String, Value>, Option<RecordedFileChange>), ToolError>;

/// A tool is about to run.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct ToolStart {
    /// ID of the call, as the provider assigned it.
    pub id: String,
    /// Name of the tool.
    pub tool: String,
    /// Arguments of the call.
    pub input: Map<String, Value>,
    /// Arguments as the model wrote them.
    #[serde(skip)]
    pub raw: String,
    /// Start time, in milliseconds since the Unix epoch.
    #[serde(skip)]
    pub started: u64,
}

impl ToolStart {
    /// Creates the record of the finished call from its output and its duration in milliseconds.
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
    /// ID of the call, as the provider assigned it.
    pub id: String,
    /// Name of the tool.
    pub tool: String,
    #[serde(skip)]
    pub input: Map<String, Value>,
    /// Whether the call succeeded.
    pub ok: bool,
    /// Result of the call; null if the call failed.
    pub result: Option<Map<String, Value>>,
    /// Why the call failed; null if it succeeded.
    pub error: Option<ToolError>,
    /// Start time, in milliseconds since the Unix epoch.
    #[serde(skip)]
    pub started: u64,
    /// Duration in milliseconds.
    pub duration_ms: u64,
    /// The file that the tool changed.
    #[serde(skip)]
    pub change: Option<RecordedFileChange>,
}

impl ToolRecord {
    /// Applies `redact` to every string in the result, the error and the file change.
    pub fn redact(&mut self, redact: &dyn Fn(&str) -> String) {
        let result = self.result.iter_mut().flat_map(Map::values_mut);
        result.for_each(|value| redact_value(value, redact));
        if let Some(error) = &mut self.error {
            error.message = redact(&error.message);
        }
        if let Some(RecordedFileChange { before, after, .. }) = &mut self.change {
            (*before, *after) = (redact(before), redact(after));
        }
    }

    /// Returns the exit code of the command that the tool ran; `None` for any other tool.
    pub fn exit_code(&self) -> Option<&Value> {
        self.result.as_ref()?.get("exit_code")
    }

    /// Returns a title of the call for display: its path, pattern, command or expression, otherwise the name of the
    /// tool.
    pub fn title(&self) -> &str {
        let mut keys = ["path", "pattern", "command", "expression"].into_iter();
        keys.find_map(|key| self.input.get(key)?.as_str()).unwrap_or(&self.tool)
    }

    /// Returns the result or the error as text. Models and the Dexter contracts receive this text.
    pub fn text(&self) -> String {
        match &self.error {
            None => serde_json::to_string(&self.result).unwrap_or_default(),
            Some(error) => format!("Error: {}", error.message),
        }
    }
}

fn redact_value(value: &mut Value, redact: &dyn Fn(&str) -> String) {
    match value {
        Value::String(text) => *text = redact(text),
        Value::Array(items) => items.iter_mut().for_each(|item| redact_value(item, redact)),
        Value::Object(members) => members.values_mut().for_each(|member| redact_value(member, redact)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
