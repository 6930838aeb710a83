//! What the server plays: chosen by a marker in the prompt, such as `[[tool]]`.

use super::prompt::Prompt;
use serde_json::{Map, Value, json};

/// What the model says in the end, in two parts.
pub(super) const ANSWER: [&str; 2] = ["Mock answer: ", "forty-two."];
/// What a command prints that the model calls.
const WORD: &str = "hello-from-tool";
/// The names of tools that write a file have one of these words.
const WRITING: [&str; 2] = ["write", "edit"];
/// The file that they write, in the working directory.
const FILE: &str = "hello.txt";

/// A scene.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scene {
    Text,
    Empty,
    Tool,
    Two,
    Write,
    Loop,
    UnknownTool,
    Slow,
    Cut,
    /// The provider fails with this status.
    Error(u16),
}

/// The scenes by their markers, and what they are.
const SCENES: [(&str, Scene, &str); 9] = [
    ("text", Scene::Text, "an answer"),
    ("empty", Scene::Empty, "an answer without text"),
    ("tool", Scene::Tool, "a tool call, then an answer"),
    ("two", Scene::Two, "two tool calls at once, then an answer"),
    ("write", Scene::Write, "a call of a tool that writes a file, then an answer"),
    ("loop", Scene::Loop, "tool calls without end"),
    ("unknown-tool", Scene::UnknownTool, "a call of a tool that does not exist, then an answer"),
    ("slow", Scene::Slow, "an answer of which the second half takes 30 seconds"),
    ("cut", Scene::Cut, "an answer of which the second half never comes"),
];

/// The scenes, for the help.
pub(super) fn help() -> String {
    let scenes = SCENES.iter().map(|(marker, _, what)| format!("  {:16} {what}\n", format!("[[{marker}]]")));
    let error =
        format!("  {:16} an error of the provider with this HTTP status, from 400 to 599", "[[error-429]]");
    scenes.chain([error]).collect()
}

impl Scene {
    /// The scene of the last marker in a text.
    pub fn of(text: &str) -> Option<Self> {
        let markers = text.split("[[").skip(1).filter_map(|rest| Some(rest.split_once("]]")?.0));
        markers.filter_map(Self::named).last()
    }

    fn named(marker: &str) -> Option<Self> {
        let status = marker.strip_prefix("error-").and_then(|status| status.parse().ok());
        let error = status.filter(|status| (400..600).contains(status)).map(Self::Error);
        error.or_else(|| SCENES.iter().find(|(name, ..)| *name == marker).map(|(_, scene, _)| *scene))
    }

    /// Its marker.
    pub fn name(self) -> String {
        let named = SCENES.iter().find(|(_, scene, _)| *scene == self);
        match (self, named) {
            (Self::Error(status), _) => format!("error-{status}"),
            (_, named) => named.map_or("text", |(name, ..)| name).to_owned(),
        }
    }
}

/// A tool that the model is offered.
#[derive(Debug, Clone)]
pub(super) struct Tool {
    pub name: String,
    /// The JSON Schema of its arguments.
    pub parameters: Value,
}

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
