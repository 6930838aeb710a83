//! The content of a request, in any of the APIs.

use super::behavior::Behavior;
use serde_json::Value;

/// A request for the next turn of the model.
#[derive(Debug)]
pub(super) struct Prompt {
    pub behavior: Behavior,
    /// Number of tool results since the prompt with the marker.
    pub result_count: usize,
    pub tools: Vec<OfferedTool>,
    /// JSON Schema of the answer, if it must be JSON.
    pub answer_schema: Option<Value>,
}

/// A tool that the request offers to the model.
#[derive(Debug, Clone)]
pub(super) struct OfferedTool {
    pub name: String,
    /// JSON Schema of the arguments.
    pub parameters: Value,
}

/// JSON Pointers of the schema of the answer in the APIs.
const SCHEMA_POINTERS: [&str; 5] = [
    "/response_format/json_schema/schema",
    "/text/format/schema",
    "/output_config/format/schema",
    "/generationConfig/responseJsonSchema",
    "/generationConfig/responseSchema",
];

/// A part of a conversation.
enum Part<'a> {
    Prompt(&'a str),
    ToolResult,
}

impl Prompt {
    /// Parses the body of a request by the structure that all APIs have in common.
    pub fn from_body(body: &Value) -> Self {
        let mut parts = Vec::new();
        for key in ["messages", "input", "contents"] {
            match &body[key] {
                Value::String(text) => parts.push(Part::Prompt(text)),
                messages => messages
                    .as_array()
                    .into_iter()
                    .flatten()
                    .for_each(|message| collect_parts(message, &mut parts)),
            }
        }
        let (mut behavior, mut result_count) = (None, 0);
        for part in parts {
            match part {
                Part::ToolResult => result_count += 1,
                Part::Prompt(text) => {
                    if let Some(found) = Behavior::from_prompt(text) {
                        (behavior, result_count) = (Some(found), 0);
                    }
                }
            }
        }
        let answer_schema = SCHEMA_POINTERS.into_iter().find_map(|pointer| body.pointer(pointer)).cloned();
        let behavior = behavior.unwrap_or(Behavior::Text);
        Self { behavior, result_count, tools: offered_tools(&body["tools"]), answer_schema }
    }
}

/// Collects the prompts and tool results of a message. Its content is a text or a list; some APIs have tool results as
/// messages.
fn collect_parts<'a>(message: &'a Value, parts: &mut Vec<Part<'a>>) {
    let text = |value: &'a Value| value.as_str();
    let kind = text(&message["type"]).unwrap_or_default();
    let role = text(&message["role"]).unwrap_or("user");
    if role == "tool" || kind.ends_with("_call_output") {
        parts.push(Part::ToolResult);
        return;
    }
    for content in [&message["content"], &message["parts"]] {
        match content {
            Value::String(text) if role == "user" => parts.push(Part::Prompt(text)),
            Value::Array(items) => {
                for item in items {
                    if item["type"] == "tool_result" || item["functionResponse"].is_object() {
                        parts.push(Part::ToolResult);
                    } else if let Some(text) = text(&item["text"]).filter(|_| role == "user") {
                        parts.push(Part::Prompt(text));
                    }
                }
            }
            _ => {}
        }
    }
}

/// Returns the tools in the list of a request.
fn offered_tools(list: &Value) -> Vec<OfferedTool> {
    let items = list.as_array().into_iter().flatten();
    // Gemini has groups of tools.
    let tools = items.flat_map(|tool| match tool["functionDeclarations"].as_array() {
        Some(declared) => declared.iter().collect(),
        None => vec![tool],
    });
    tools
        .filter_map(|tool| {
            let tool = if tool["function"].is_object() { &tool["function"] } else { tool };
            let parameters = ["parameters", "input_schema", "parametersJsonSchema"]
                .into_iter()
                .find_map(|key| tool.get(key));
            Some(OfferedTool { name: tool["name"].as_str()?.to_owned(), parameters: parameters?.clone() })
        })
        .collect()
}
