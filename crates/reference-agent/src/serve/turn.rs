//! The turns of the mock model.

use super::behavior::Behavior;
use super::prompt::{OfferedTool, Prompt};
use serde_json::{Map, Value, json};

/// Final answer of the model, in two parts.
pub(super) const ANSWER_PARTS: [&str; 2] = ["Mock answer: ", "forty-two."];
/// Output of the commands that the model runs.
const COMMAND_OUTPUT: &str = "hello-from-tool";
/// Words in the names of tools that write a file.
const WRITE_WORDS: [&str; 2] = ["write", "edit"];
/// Path of the file that these tools write.
const WRITTEN_FILE: &str = "hello.txt";

/// A tool call.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct MockCall {
    pub id: String,
    pub name: String,
    pub arguments: Value,
}

/// A turn of the model.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct MockTurn {
    /// Parts of the text.
    pub text: Vec<String>,
    pub calls: Vec<MockCall>,
}

/// Returns the next turn of the model.
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
            (_, Some(schema)) => vec![arguments(schema, ".").to_string()],
            (_, None) => ANSWER_PARTS.map(str::to_owned).to_vec(),
        };
        return MockTurn { text, calls: Vec::new() };
    }
    let call = |nth| MockCall {
        id: format!("call_{}", result_count + nth),
        name: tool.map_or_else(|| "no_such_tool".to_owned(), |tool| tool.name.clone()),
        arguments: tool.map_or_else(|| json!({}), |tool| arguments(&tool.parameters, path)),
    };
    MockTurn { text: Vec::new(), calls: (0..call_count).map(call).collect() }
}

/// Returns the tool to call: one with one of these words in its name, else one that runs a command, else one that
/// reads, else the first.
fn preferred_tool<'t>(tools: &'t [OfferedTool], words: &[&str]) -> Option<&'t OfferedTool> {
    const DEFAULT_WORDS: [&str; 8] =
        ["bash", "shell", "exec", "run_command", "command", "read", "list", "glob"];
    let with_word = |word: &&str| tools.iter().find(|tool| tool.name.to_ascii_lowercase().contains(*word));
    words.iter().chain(&DEFAULT_WORDS).find_map(with_word).or(tools.first())
}

/// Returns an object that fits a schema: its required keys with harmless values. Keys that name a file
/// have the value `path`.
fn arguments(schema: &Value, path: &str) -> Value {
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
        "object" => arguments(schema, path),
        "integer" | "number" => json!(1000),
        "boolean" => json!(false),
        _ if key_contains(&["command", "cmd", "script"]) => json!(format!("echo {COMMAND_OUTPUT}")),
        _ if key_contains(&["path", "file", "dir"]) => json!(path),
        _ => json!("say hello"),
    }
}
