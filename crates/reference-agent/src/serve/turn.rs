//! Decides the next turn of the mock model.

use super::behavior::Behavior;
use super::prompt::{OfferedTool, Prompt};
use serde_json::{Map, Value, json};

/// Final answer of the mock model, in two parts.
pub(super) const ANSWER_PARTS: [&str; 2] = ["Mock answer: ", "forty-two."];
/// Reasoning of the mock model.
const REASONING: &str = "Mock reasoning.";
/// Prompt of the mock model for a subagent.
const SUBAGENT_PROMPT: &str = "call a [[tool]]";
/// Text that the shell commands of the mock model print.
const COMMAND_OUTPUT: &str = "hello-from-tool";
/// Path of the file that the mock model writes.
const WRITTEN_FILE: &str = "hello.txt";
/// Keys for the content of a file.
const CONTENT_KEYS: [&str; 5] = ["content", "contents", "text", "file_text", "new_text"];
/// Words in the keys for a file or a folder.
const PATH_WORDS: [&str; 3] = ["path", "file", "dir"];

/// A tool call of the mock model.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct MockCall {
    pub id: String,
    pub name: String,
    pub arguments: Value,
}

/// Token counts of a turn.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct MockUsage {
    /// Number of input tokens, including `cached`.
    pub input: u64,
    pub cached: u64,
    /// Number of output tokens, including `reasoning`.
    pub output: u64,
    pub reasoning: u64,
}

/// Token counts of most turns.
pub(super) const USAGE: MockUsage = MockUsage { input: 100, cached: 20, output: 10, reasoning: 0 };

/// A turn of the mock model: text or tool calls.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct MockTurn {
    /// Reasoning that precedes the text.
    pub reasoning: Option<&'static str>,
    /// Text of the turn, in the parts in which it is streamed.
    pub text: Vec<String>,
    pub calls: Vec<MockCall>,
    pub usage: MockUsage,
}

/// Returns the next turn of the mock model, according to the behaviour that the prompt selects.
pub(super) fn next_turn(prompt: &Prompt) -> MockTurn {
    let Prompt { behavior, result_count, tools, answer_schema, folder } = prompt;
    let call_count = match behavior {
        Behavior::ToolLoop => 1,
        Behavior::Tool | Behavior::Write | Behavior::Subagent | Behavior::UnknownTool
            if *result_count == 0 =>
        {
            1
        }
        Behavior::TwoTools if *result_count == 0 => 2,
        _ => 0,
    };
    let (tool, path) = match behavior {
        Behavior::UnknownTool => (None, "."),
        Behavior::Write => (writing_tool(tools).or_else(|| harmless_tool(tools)), WRITTEN_FILE),
        Behavior::Subagent => (subagent_tool(tools).or_else(|| harmless_tool(tools)), "."),
        _ => (harmless_tool(tools), "."),
    };
    let values = Values { path, folder: folder.as_deref() };
    if call_count == 0 || tools.is_empty() {
        let text = match (behavior, answer_schema) {
            (Behavior::Empty, _) => Vec::new(),
            (_, Some(schema)) => vec![values.object(schema).to_string()],
            (_, None) => ANSWER_PARTS.map(str::to_owned).to_vec(),
        };
        let (reasoning, usage) = match behavior {
            Behavior::Reasoning => (Some(REASONING), MockUsage { reasoning: 4, ..USAGE }),
            Behavior::NoUsage => (None, MockUsage::default()),
            _ => (None, USAGE),
        };
        return MockTurn { reasoning, text, calls: Vec::new(), usage };
    }
    let call = |nth| MockCall {
        id: format!("call_{}", result_count + nth),
        name: tool.map_or_else(|| "no_such_tool".to_owned(), |tool| tool.name.clone()),
        arguments: tool.map_or_else(|| json!({}), |tool| values.object(&tool.parameters)),
    };
    MockTurn { calls: (0..call_count).map(call).collect(), usage: USAGE, ..MockTurn::default() }
}

/// Returns the tool that writes a file: it requires a path and a content, and as little else as possible.
fn writing_tool(tools: &[OfferedTool]) -> Option<&OfferedTool> {
    let requires = |tool: &OfferedTool, is_wanted: fn(&str) -> bool| {
        required_keys(&tool.parameters).any(|key| is_wanted(&key.to_ascii_lowercase()))
    };
    let writes = |tool: &&OfferedTool| requires(tool, is_path) && requires(tool, is_content);
    tools.iter().filter(writes).min_by_key(|tool| required_keys(&tool.parameters).count())
}

/// Returns the tool that starts a subagent: it requires a prompt and a description.
fn subagent_tool(tools: &[OfferedTool]) -> Option<&OfferedTool> {
    let requires = |tool: &OfferedTool, key| required_keys(&tool.parameters).any(|required| required == key);
    tools.iter().find(|tool| requires(tool, "prompt") && requires(tool, "description"))
}

/// Returns a tool that runs a command, or else a tool that reads, or else the first tool.
fn harmless_tool(tools: &[OfferedTool]) -> Option<&OfferedTool> {
    const WORDS: [&str; 8] = ["bash", "shell", "exec", "run_command", "command", "read", "list", "glob"];
    let with_word = |word: &&str| tools.iter().find(|tool| tool.name.to_ascii_lowercase().contains(*word));
    WORDS.iter().find_map(with_word).or(tools.first())
}

fn required_keys(schema: &Value) -> impl Iterator<Item = &str> {
    schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str)
}

fn is_content(key: &str) -> bool {
    CONTENT_KEYS.contains(&key)
}

fn is_path(key: &str) -> bool {
    !is_content(key) && PATH_WORDS.iter().any(|word| key.contains(word))
}

/// The harmless values that generated data consists of.
struct Values<'a> {
    /// Value of keys for a file or a folder.
    path: &'a str,
    /// Working directory of the agent, in front of `path` if a schema describes an absolute path.
    folder: Option<&'a str>,
}

impl Values<'_> {
    /// Creates an object with all keys that a JSON Schema requires.
    fn object(&self, schema: &Value) -> Value {
        let members: Map<String, Value> = required_keys(schema)
            .map(|key| (key.to_owned(), self.member(key, &schema["properties"][key])))
            .collect();
        Value::Object(members)
    }

    fn member(&self, key: &str, schema: &Value) -> Value {
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
            "object" => self.object(schema),
            "integer" => json!(number(schema, 1.0) as i64),
            "number" => json!(number(schema, 0.001)),
            "boolean" => json!(false),
            _ if key == "script" || key_contains(&["command", "cmd"]) => {
                json!(format!("echo {COMMAND_OUTPUT}"))
            }
            _ if key == "prompt" => json!(SUBAGENT_PROMPT),
            _ if key_contains(&["agent_type"]) => json!("general-purpose"),
            _ if is_path(&key) => json!(self.path(schema)),
            _ => json!("say hello"),
        }
    }

    fn path(&self, schema: &Value) -> String {
        let description = schema["description"].as_str().unwrap_or_default().to_ascii_lowercase();
        match self.folder.filter(|_| description.contains("absolute")) {
            Some(folder) => format!("{folder}/{}", self.path),
            None => self.path.to_owned(),
        }
    }
}

/// Returns the number within the bounds of a schema that is nearest to 1000. An exclusive bound is missed by `step`.
fn number(schema: &Value, step: f64) -> f64 {
    let bound = |key: &str| schema[key].as_f64();
    let exclusive = |key: &str, step: f64| bound(key).map(|bound| bound + step);
    let least = bound("minimum").into_iter().chain(exclusive("exclusiveMinimum", step));
    let most = bound("maximum").into_iter().chain(exclusive("exclusiveMaximum", -step));
    let (least, most) = (least.fold(f64::NEG_INFINITY, f64::max), most.fold(f64::INFINITY, f64::min));
    let number = 1000f64.min(most).max(least);
    let factor = bound("multipleOf").or((step == 1.0).then_some(1.0));
    let Some(factor) = factor else { return number };
    let multiple = (number / factor).floor() * factor;
    if multiple < least { multiple + factor } else { multiple }
}
