//! What a request asks for, whichever API it speaks.

use super::scene::Scene;
use serde_json::Value;

/// A request for the next turn of the model.
#[derive(Debug)]
pub(super) struct Prompt {
    pub scene: Scene,
    /// Results of tools since the prompt with the marker.
    pub results: usize,
    pub tools: Vec<Tool>,
    /// The JSON Schema of the answer, if it has to be JSON.
    pub schema: Option<Value>,
}

/// A tool that the model is offered.
#[derive(Debug, Clone)]
pub(super) struct Tool {
    pub name: String,
    /// The JSON Schema of its arguments.
    pub parameters: Value,
}

/// Where the APIs have the schema of an answer.
const SCHEMAS: [&str; 5] = [
    "/response_format/json_schema/schema",
    "/text/format/schema",
    "/output_config/format/schema",
    "/generationConfig/responseJsonSchema",
    "/generationConfig/responseSchema",
];

/// A part of a conversation.
enum Part<'a> {
    Prompt(&'a str),
    Result,
}

impl Prompt {
    /// The prompt of a request; the parts of the conversation are found by what all APIs have in common.
    pub fn of(body: &Value) -> Self {
        let mut parts = Vec::new();
        for key in ["messages", "input", "contents"] {
            match &body[key] {
                Value::String(text) => parts.push(Part::Prompt(text)),
                messages => {
                    messages.as_array().into_iter().flatten().for_each(|one| message(one, &mut parts))
                }
            }
        }
        let (mut scene, mut results) = (None, 0);
        for part in parts {
            match part {
                Part::Result => results += 1,
                Part::Prompt(text) => {
                    if let Some(found) = Scene::of(text) {
                        (scene, results) = (Some(found), 0);
                    }
                }
            }
        }
        let schema = SCHEMAS.into_iter().find_map(|at| body.pointer(at)).cloned();
        Self { scene: scene.unwrap_or(Scene::Text), results, tools: tools(&body["tools"]), schema }
    }
}

/// The parts of a message: of its content, which is a text or a list, or itself.
fn message<'a>(message: &'a Value, parts: &mut Vec<Part<'a>>) {
    let text = |value: &'a Value| value.as_str();
    let kind = text(&message["type"]).unwrap_or_default();
    let role = text(&message["role"]).unwrap_or("user");
    if role == "tool" || kind.ends_with("_call_output") {
        parts.push(Part::Result);
        return;
    }
    for content in [&message["content"], &message["parts"]] {
        match content {
            Value::String(text) if role == "user" => parts.push(Part::Prompt(text)),
            Value::Array(items) => {
                for item in items {
                    if item["type"] == "tool_result" || item["functionResponse"].is_object() {
                        parts.push(Part::Result);
                    } else if let Some(text) = text(&item["text"]).filter(|_| role == "user") {
                        parts.push(Part::Prompt(text));
                    }
                }
            }
            _ => {}
        }
    }
}

/// The tools that a request offers.
fn tools(offered: &Value) -> Vec<Tool> {
    let offered = offered.as_array().into_iter().flatten();
    // Gemini groups them.
    let each = offered.flat_map(|tool| match tool["functionDeclarations"].as_array() {
        Some(declared) => declared.iter().collect(),
        None => vec![tool],
    });
    each.filter_map(|tool| {
        let tool = if tool["function"].is_object() { &tool["function"] } else { tool };
        let parameters =
            ["parameters", "input_schema", "parametersJsonSchema"].into_iter().find_map(|key| tool.get(key));
        Some(Tool { name: tool["name"].as_str()?.to_owned(), parameters: parameters?.clone() })
    })
    .collect()
}
