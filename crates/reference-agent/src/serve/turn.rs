//! The turn of the model that a prompt asks for.

use super::prompt::{Prompt, Tool};
use super::scene::Scene;
use serde_json::{Map, Value, json};

/// What the model says in the end, in two parts.
pub(super) const ANSWER: [&str; 2] = ["Mock answer: ", "forty-two."];
/// What a command prints that the model calls.
const WORD: &str = "hello-from-tool";
/// The names of tools that write a file have one of these words.
const WRITING: [&str; 2] = ["write", "edit"];
/// The file that they write, in the working directory.
const FILE: &str = "hello.txt";

/// A call of a tool.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Call {
    pub id: String,
    pub name: String,
    pub arguments: Value,
}

/// A turn of the model.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Turn {
    pub text: Vec<String>,
    pub calls: Vec<Call>,
}

/// The turn that a prompt asks for.
pub(super) fn turn(prompt: &Prompt) -> Turn {
    let Prompt { scene, results, tools, schema } = prompt;
    let count = match scene {
        Scene::Loop => 1,
        Scene::Tool | Scene::Write | Scene::UnknownTool if *results == 0 => 1,
        Scene::Two if *results == 0 => 2,
        _ => 0,
    };
    let (wanted, path) = match scene {
        Scene::UnknownTool => (None, "."),
        Scene::Write => (preferred(tools, &WRITING), FILE),
        _ => (preferred(tools, &[]), "."),
    };
    // Without tools there is nothing to call.
    if count == 0 || tools.is_empty() {
        let text = match (scene, schema) {
            (Scene::Empty, _) => Vec::new(),
            (_, Some(schema)) => vec![arguments(schema, ".").to_string()],
            (_, None) => ANSWER.map(str::to_owned).to_vec(),
        };
        return Turn { text, calls: Vec::new() };
    }
    let call = |nth| Call {
        id: format!("call_{}", results + nth),
        name: wanted.map_or_else(|| "no_such_tool".to_owned(), |tool| tool.name.clone()),
        arguments: wanted.map_or_else(|| json!({}), |tool| arguments(&tool.parameters, path)),
    };
    Turn { text: Vec::new(), calls: (0..count).map(call).collect() }
}

/// The tool that is called: one with the first of these words in its name, else one that runs a command, else one
/// that reads, else the first.
fn preferred<'t>(tools: &'t [Tool], words: &[&str]) -> Option<&'t Tool> {
    const WORDS: [&str; 8] = ["bash", "shell", "exec", "run_command", "command", "read", "list", "glob"];
    let has = |word: &&str| tools.iter().find(|tool| tool.name.to_ascii_lowercase().contains(*word));
    words.iter().chain(&WORDS).find_map(has).or(tools.first())
}

/// An object that fits a schema: its required keys, with values that do no harm; where it names a file, this one.
fn arguments(schema: &Value, path: &str) -> Value {
    let keys = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let all: Map<String, Value> =
        keys.map(|key| (key.to_owned(), argument(key, &schema["properties"][key], path))).collect();
    Value::Object(all)
}

fn argument(key: &str, schema: &Value, path: &str) -> Value {
    if let Some(first) = schema["enum"].as_array().and_then(|values| values.first()) {
        return first.clone();
    }
    let kind = schema["type"].as_str().or_else(|| schema["type"][0].as_str()).unwrap_or("string");
    let key = key.to_ascii_lowercase();
    let is = |words: &[&str]| words.iter().any(|word| key.contains(word));
    // Gemini writes the names of types in capital letters.
    match kind.to_ascii_lowercase().as_str() {
        "array" if is(&["command", "cmd"]) => json!(["echo", WORD]),
        "array" => json!([]),
        "object" => arguments(schema, path),
        "integer" | "number" => json!(1000),
        "boolean" => json!(false),
        _ if is(&["command", "cmd", "script"]) => json!(format!("echo {WORD}")),
        _ if is(&["path", "file", "dir"]) => json!(path),
        _ => json!("say hello"),
    }
}
