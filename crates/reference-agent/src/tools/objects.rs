//! Arguments and results of tools: JSON objects.

use crate::tool_record::ToolError;
use serde_json::{Map, Value};

/// The arguments as an object; none at all is an empty one.
pub(super) fn arguments(raw: &str) -> Result<Map<String, Value>, ToolError> {
    if raw.trim().is_empty() {
        return Ok(Map::new());
    }
    match serde_json::from_str(raw) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => Err(ToolError::args("the arguments are not a JSON object")),
        Err(error) => Err(ToolError::args(format!("the arguments are not JSON: {error}"))),
    }
}

/// A string argument, which the schema demands.
pub(super) fn string<'a>(arguments: &'a Map<String, Value>, name: &str) -> &'a str {
    arguments.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// The result of a tool, from a literal object.
pub(super) fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(object) => object,
        other => Map::from_iter([("value".to_owned(), other)]),
    }
}
