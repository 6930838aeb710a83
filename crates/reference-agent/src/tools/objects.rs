//! Helpers for JSON objects, which are the arguments and the results of tools.

use crate::tool_record::ToolError;
use serde_json::{Map, Value};

/// Parses the arguments of a tool call, a JSON object as text. An empty text is an empty object.
pub(super) fn parse_arguments(raw: &str) -> Result<Map<String, Value>, ToolError> {
    if raw.trim().is_empty() {
        return Ok(Map::new());
    }
    match serde_json::from_str(raw) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => Err(ToolError::invalid_arguments("the arguments are not a JSON object")),
        Err(error) => Err(ToolError::invalid_arguments(format!("the arguments are not JSON: {error}"))),
    }
}

/// Returns the argument `name`, which the schema of the tool requires to be a string. Empty if it is missing.
pub(super) fn required_string<'a>(arguments: &'a Map<String, Value>, name: &str) -> &'a str {
    arguments.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// Returns the members of a JSON object, as the result of a tool.
pub(super) fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(object) => object,
        other => Map::from_iter([("value".to_owned(), other)]),
    }
}
