//! Decides the next turn of the mock model.

use super::behavior::Behavior;
use super::prompt::{OfferedTool, Prompt};
use serde_json::{Map, Value, json};

/// Final answer of the mock model, in two parts.
pub(super) const ANSWER_PARTS: [&str; 2] = ["Mock answer: ", "forty-two."];
/// Text that the shell commands of the mock model print.
const COMMAND_OUTPUT: &str = "hello-from-tool";
/// Words in the names of tools that write a file.
const WRITE_WORDS: [&str; 2] = ["write", "edit"];
/// Path of the file that the mock model writes with such a tool.
const WRITTEN_FILE: &str = "hello.txt";

/// A tool call of the mock model.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct MockCall {
    pub id: String,
    pub name: String,
    pub arguments: Value,
}

/// A turn of the mock model: text or tool calls.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct MockTurn {
    /// Text of the turn, in the parts in which it is streamed.
    pub text: Vec<String>,
    pub calls: Vec<MockCall>,
}

/// Returns the next turn of the mock model, according to the behaviour that the prompt selects.
pub(super) fn next_turn(prompt: &Prompt) -> MockTurn {
    let Prompt { behavior, result_count, tools, answer_schema } = prompt;
    let call_count = match behavior {
        Behavior::ToolLoop => 1,
        Behavior::Tool | Behavior::Write | Behavior::UnknownTool if *result_count == 0 => 1,
        Behavior::TwoTools if *result_count == 0 => 2,
        _ => 0,
    };
    let (tool, path) = match behavior {
        Behavior::UnknownTool => (None, "."),
        Behavior::Write => (preferred_tool(tools, &WRITE_WORDS), WRITTEN_FILE),
        _ => (preferred_tool(tools, &[]), "."),
    };
    if call_count == 0 || tools.is_empty() {
        let text = match (behavior, answer_schema) {
            (Behavior::Empty, _) => Vec::new(),
            (_, Some(schema)) => vec![generate_arguments(schema, ".").to_string()],
            (_, None) => ANSWER_PARTS.map(str::to_owned).to_vec(),
        };
        return MockTurn { text, calls: Vec::new() };
    }
    let call = |nth| MockCall {
        id: format!("call_{}", result_count + nth),
        name: tool.map_or_else(|| "no_such_tool".to_owned(), |tool| tool.name.clone()),
        arguments: tool.map_or_else(|| json!({}), |tool| generate_arguments(&tool.parameters, path)),
    };
    MockTurn { text: Vec::new(), calls: (0..call_count).map(call).collect() }
}

/// Chooses the tool to call. Tools whose name contains one of `words` come first, then tools that run a command, then
/// tools that read, then the first tool. `None` without tools.
fn preferred_tool<'t>(tools: &'t [OfferedTool], words: &[&str]) -> Option<&'t OfferedTool> {
    const DEFAULT_WORDS: [&str; 8] =
        ["bash", "shell", "exec", "run_command", "command", "read", "list", "glob"];
    let with_word = |word: &&str| tools.iter().find(|tool| tool.name.to_ascii_lowercase().contains(*word));
    words.iter().chain(&DEFAULT_WORDS).find_map(with_word).or(tools.first())
}

/// Creates arguments that fit a JSON Schema of an object. They have all required keys, with harmless values. Keys for a
/// file have the value `path`.
fn generate_arguments(schema: &Value, path: &str) -> Value {
    let keys = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let members: Map<String, Value> =
        keys.map(|key| (key.to_owned(), argument(key, &schema["properties"][key], path))).collect();
    Value::Object(members)
}

fn argument(key: &str, schema: &Value, path: &str) -> Value {
    if let Some(first) = schema["enum"].as_array().and_then(|values| values.first()) {
        return first.clone();
    }
    let kind = schema["type"].as_str().or_else(|| schema["type"][0].as_str()).unwrap_or("string");
    let key = key.to_ascii_lowercase();
    let key_contains = |words: &[&str]| words.iter().any(|word| key.contains(word));
    // Gemini writes the names of types in upper case.
    match kind.to_ascii_lowercase().as_str() {
        "array" if key_contains(&["command", "cmd"]) => json!(["echo", COMMAND_OUTPUT]),
        "array" => json!([]),
        "object" => generate_arguments(schema, path),
        "integer" | "number" => json!(1000),
        "boolean" => json!(false),
        _ if key_contains(&["command", "cmd", "script"]) => json!(format!("echo {COMMAND_OUTPUT}")),
        _ if key_contains(&["path", "file", "dir"]) => json!(path),
        _ => json!("say hello"),
    }
}
