//! Reads the contents of a request, whatever API it is for.

use super::behavior::Behavior;
use serde_json::Value;

/// The parts of a request that determine the next turn of the mock model.
#[derive(Debug)]
pub(super) struct Prompt {
    pub behavior: Behavior,
    /// Number of tool results after the last prompt with a marker, such as `[[tool]]`.
    pub result_count: usize,
    pub tools: Vec<OfferedTool>,
    /// JSON Schema of the answer, if the request requires an answer in JSON.
    pub answer_schema: Option<Value>,
    /// Working directory of the agent, if a text in the request names it.
    pub folder: Option<String>,
}

/// A tool that a request offers to the model.
#[derive(Debug, Clone)]
pub(super) struct OfferedTool {
    pub name: String,
    /// JSON Schema of the arguments of the tool.
    pub parameters: Value,
}

/// JSON Pointers to the schema of the answer in a request, one for each API.
const SCHEMA_POINTERS: [&str; 5] = [
    "/response_format/json_schema/schema",
    "/text/format/schema",
    "/output_config/format/schema",
    "/generationConfig/responseJsonSchema",
    "/generationConfig/responseSchema",
];

/// A part of the conversation in a request: a prompt of the user, or the result of a tool.
enum Part<'a> {
    Prompt(&'a str),
    ToolResult,
}

impl Prompt {
    /// Parses the body of a request. It relies only on the structure that the APIs have in common.
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
        let folder = working_folder(body);
        Self { behavior, result_count, tools: offered_tools(&body["tools"]), answer_schema, folder }
    }
}

/// Appends the prompts and tool results in a message to `parts`. The content of a message is a text or a list of items.
/// In some APIs, a tool result is a message of its own.
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

/// Returns the tools that a request offers. `list` is the value of its key `tools`.
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

/// Returns the working directory that a request names, outside of its tools.
fn working_folder(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => folder_in(text),
        Value::Array(items) => items.iter().find_map(working_folder),
        Value::Object(members) => {
            let mut texts = members.iter().filter(|(key, _)| *key != "tools");
            texts.find_map(|(_, member)| working_folder(member))
        }
        _ => None,
    }
}

/// Returns the absolute path that follows a mention of the working directory, such as ``working directory is `/x` `` or
/// `<cwd>/x</cwd>`.
fn folder_in(text: &str) -> Option<String> {
    const WORDS: [&str; 4] = ["working directory", "working in the directory", "cwd", "pwd"];
    /// Maximum number of bytes between the mention and the path.
    const MAX_DISTANCE: usize = 8;
    let lower = text.to_ascii_lowercase();
    let mut mentions =
        WORDS.iter().flat_map(|word| lower.match_indices(word).map(|(at, word)| at + word.len()));
    mentions.find_map(|at| {
        let rest = &text[at..];
        let start = rest.find('/').filter(|start| (1..=MAX_DISTANCE).contains(start))?;
        let is_end = |character: char| character.is_whitespace() || "`\"'<>,;)".contains(character);
        let path = rest[start..].split(is_end).next()?.trim_end_matches(['.', '/']);
        (!path.is_empty()).then(|| path.to_owned())
    })
}
