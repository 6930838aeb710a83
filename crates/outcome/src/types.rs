//! The outcome of a run, as the contract `run-outcome` describes it.

use schemars::{JsonSchema, Schema, transform};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;

/// The outcome of a run of an agent: the final message, a summary of the tool calls, metrics and IDs; never the
/// conversation. Unknown data is absent, never null.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(transform = never_null)]
pub struct RunOutcome {
    /// The run succeeded: it is complete, and it reports no failure.
    pub success: bool,
    /// True if the beginning of the stream is missing. What it contained is missing from the outcome.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub incomplete: bool,
    /// The session of the run; of several sessions, the one without a parent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// The final answer: the text of the last assistant message. Absent if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The files that the run created, modified or deleted, in the order in which they occur.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub artifacts: Vec<Artifact>,
    /// The reason why the run failed: one line, or the last lines of stderr.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Details of the error that the agent reported.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_details: Option<ErrorDetails>,
    /// The tool calls, each once, in the order of their start.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<ToolCall>,
    /// Retries, requested permissions, and lines that could not be read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// Present if permissions were requested: true if one was rejected or is still unanswered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requires_approval: Option<bool>,
    /// Times, tokens, cost and counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metrics: Option<Metrics>,
    /// Tracking data of the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Metadata>,
}

/// A file or directory that a run changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(transform = never_null)]
pub struct Artifact {
    /// Path, as in the stream.
    pub path: String,
    /// How the run changed the file; absent if the stream does not show it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operation: Option<Operation>,
    /// Size in bytes after the last edit whose complete content is in the stream.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    /// Whether it is a file or a directory.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<ArtifactKind>,
    /// Source of the file's content, if the stream names it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<ArtifactSource>,
}

/// Source of the content of a file part.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(transform = never_null)]
pub struct ArtifactSource {
    /// Type, such as `file` or `symbol`.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// File that contains the source.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Text of the source, with its position.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<SourceText>,
}

/// The text of a source, with its position.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(transform = never_null)]
pub struct SourceText {
    /// The text; absent if it is longer than 4 KiB, unless inputs and outputs were requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// Start position.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start: Option<u64>,
    /// End position.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end: Option<u64>,
}

/// The overall change of a file in the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Operation {
    /// The run created the file.
    Created,
    /// The run changed the file.
    Modified,
    /// The run deleted the file.
    Deleted,
}

/// The type of an artifact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ArtifactKind {
    /// A file.
    File,
    /// A directory.
    Directory,
}

/// The error that the agent reported.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(transform = never_null)]
pub struct ErrorDetails {
    /// Name of the error, such as `APIError`.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// Message of the error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Stack trace of the error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stack_trace: Option<String>,
    /// File that the error or the first frame of its stack trace names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file_path: Option<String>,
    /// The line in that file, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line_number: Option<u64>,
    /// HTTP status of the response of the provider.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status_code: Option<u64>,
    /// Whether the request may be retried.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_retryable: Option<bool>,
}

/// A tool call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(transform = never_null)]
pub struct ToolCall {
    /// Name of the tool.
    pub name: String,
    /// Input; null unless inputs and outputs were requested.
    #[schemars(required)]
    pub inputs: Value,
    /// Result or error; absent unless inputs and outputs were requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outputs: Option<String>,
    /// Duration, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<Quantity>,
    /// Status at the end.
    pub status: CallStatus,
}

/// The status of a tool call at its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CallStatus {
    /// The call returned a result.
    Completed,
    /// The call returned an error.
    Error,
    /// The stream ended before the call did.
    Cancelled,
}

/// Times, tokens, cost and counts of a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(transform = never_null)]
pub struct Metrics {
    /// Time at which the first message of the run began, in milliseconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_time_ms: Option<Quantity>,
    /// Time at which the last message of the run ended, in milliseconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end_time_ms: Option<Quantity>,
    /// Duration, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<Quantity>,
    /// Sum of `input_tokens` and `output_tokens`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens_used: Option<Quantity>,
    /// Sum of input, output, reasoning and cached tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_tokens: Option<Quantity>,
    /// Input tokens of all requests, without those that came from the cache or went to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_tokens: Option<Quantity>,
    /// Output tokens of all requests, without reasoning tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_tokens: Option<Quantity>,
    /// Reasoning tokens of all requests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning_tokens: Option<Quantity>,
    /// Input tokens of all requests that came from the cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_read_tokens: Option<Quantity>,
    /// Input tokens of all requests that went to the cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_write_tokens: Option<Quantity>,
    /// The number of requests to the model, as the agent shows or counts them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steps: Option<Quantity>,
    /// Cost of all requests, in dollars.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<Quantity>,
    /// The number of tool calls, each counted once, as in `tool_calls_count`. Absent if the stream does not show them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub api_calls_count: Option<Quantity>,
    /// The number of tool calls. Absent if the stream does not show them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_calls_count: Option<Quantity>,
    /// The model, as `provider/model`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = "^[^/]+/.+"))]
    pub model_name: Option<String>,
}

/// What was recognised, and tracking data of a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(transform = never_null)]
pub struct Metadata {
    /// The agent that wrote the stream.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The format of the stream, as the agent calls it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<String>,
    /// The session, as in [`RunOutcome::session_id`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// Time spent in the session, in milliseconds: the time from the first to the last event of each file, summed over
    /// the files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phase_total_duration_ms: Option<Quantity>,
    /// The attempt, from 1, if it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempt_number: Option<Quantity>,
    /// The number of earlier attempts, if the attempt is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_count: Option<Quantity>,
    /// The prompt of the agent, if it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial_prompt: Option<String>,
}

/// A finite number, written without a fraction if it is an integer.
#[derive(Debug, Clone, Copy, Default, PartialEq, PartialOrd, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Quantity(pub f64);

impl Serialize for Quantity {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // An f64 represents every integer up to 2^53 exactly, so the conversion loses nothing.
        #[expect(clippy::cast_possible_truncation, reason = "the range is checked")]
        if self.0.fract() == 0.0 && self.0.abs() < 9_007_199_254_740_992.0 {
            serializer.serialize_i64(self.0 as i64)
        } else {
            serializer.serialize_f64(self.0)
        }
    }
}

/// Removes null from the types of an object's members, as unknown members are absent.
fn never_null(schema: &mut Schema) {
    let mut never_null = |schema: &mut Schema| {
        let Some(object) = schema.as_object_mut() else { return };
        if let Some(Value::Array(types)) = object.get_mut("type") {
            types.retain(|name| name != "null");
            if let [only] = &types[..] {
                let only = only.clone();
                object.insert("type".to_owned(), only);
            }
        }
        if let Some(Value::Array(branches)) = object.get_mut("anyOf") {
            branches.retain(|branch| branch.get("type").is_none_or(|name| name != "null"));
            if let [Value::Object(only)] = &branches[..] {
                let only = only.clone();
                object.remove("anyOf");
                object.extend(only);
            }
        }
    };
    transform::transform_subschemas(&mut never_null, schema);
}
