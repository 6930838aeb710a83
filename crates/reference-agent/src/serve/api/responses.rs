//! OpenAI's responses.

use super::super::turn::{Call, Turn};
use super::interface::{Api, CACHED, INPUT, OUTPUT};
use serde_json::{Value, json};

pub(super) struct Responses;

/// The ID of a message.
const MESSAGE: &str = "msg_mock";

impl Api for Responses {
    fn document(&self, model: &str, turn: &Turn) -> Value {
        response(model, "completed", items(turn))
    }

    fn events(&self, model: &str, turn: &Turn) -> Vec<(Option<String>, String)> {
        let begun = response(model, "in_progress", Vec::new());
        let mut events = vec![json!({ "type": "response.created", "response": begun })];
        for (index, item) in items(turn).into_iter().enumerate() {
            let mut open = item.clone();
            if item["type"] == "message" {
                open["content"] = json!([]);
            }
            open["status"] = json!("in_progress");
            let at = |kind: &str, item: &Value| json!({ "type": kind, "output_index": index, "item": item });
            events.push(at("response.output_item.added", &open));
            let delta = |text: &String| {
                json!({
                    "type": "response.output_text.delta", "item_id": MESSAGE, "output_index": index,
                    "content_index": 0, "delta": text,
                })
            };
            if item["type"] == "message" {
                events.extend(turn.text.iter().map(delta));
            }
            events.push(at("response.output_item.done", &item));
        }
        let over = response(model, "completed", items(turn));
        events.push(json!({ "type": "response.completed", "response": over }));
        let numbered = (0..).zip(events).map(|(number, mut event): (u64, Value)| {
            event["sequence_number"] = json!(number);
            (event["type"].as_str().map(str::to_owned), event.to_string())
        });
        numbered.collect()
    }

    fn error(&self, status: u16, message: &str) -> Value {
        super::chat::Chat.error(status, message)
    }
}

/// What the model gives: calls, or a message, which may have no text.
fn items(turn: &Turn) -> Vec<Value> {
    if !turn.calls.is_empty() {
        return turn.calls.iter().map(call).collect();
    }
    let text = turn.text.concat();
    let content = json!([{ "type": "output_text", "text": text, "annotations": [] }]);
    let content = if text.is_empty() { json!([]) } else { content };
    vec![json!({
        "id": MESSAGE, "type": "message", "role": "assistant", "status": "completed", "content": content,
    })]
}

fn call(call: &Call) -> Value {
    json!({
        "id": format!("fc_{}", call.id), "type": "function_call", "status": "completed",
        "call_id": call.id, "name": call.name, "arguments": call.arguments.to_string(),
    })
}

fn response(model: &str, status: &str, output: Vec<Value>) -> Value {
    let usage = json!({
        "input_tokens": INPUT, "input_tokens_details": { "cached_tokens": CACHED },
        "output_tokens": OUTPUT, "output_tokens_details": { "reasoning_tokens": 0 },
        "total_tokens": INPUT + OUTPUT,
    });
    json!({
        "id": "resp_mock", "object": "response", "created_at": 0, "model": model, "status": status,
        "output": output, "usage": if status == "completed" { usage } else { Value::Null },
    })
}
