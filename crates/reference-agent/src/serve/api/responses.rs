//! Responses in the form of OpenAI's responses API.

use super::super::turn::{MockCall, MockTurn};
use super::interface::{Api, CACHED_TOKENS, INPUT_TOKENS, OUTPUT_TOKENS};
use serde_json::{Value, json};

pub(super) struct Responses;

const MESSAGE_ID: &str = "msg_mock";

impl Api for Responses {
    fn document(&self, model: &str, turn: &MockTurn) -> Value {
        response(model, "completed", output_items(turn))
    }

    fn events(&self, model: &str, turn: &MockTurn) -> Vec<(Option<String>, String)> {
        let created = response(model, "in_progress", Vec::new());
        let mut events = vec![json!({ "type": "response.created", "response": created })];
        for (index, item) in output_items(turn).into_iter().enumerate() {
            let mut open = item.clone();
            if item["type"] == "message" {
                open["content"] = json!([]);
            }
            open["status"] = json!("in_progress");
            let item_event =
                |kind: &str, item: &Value| json!({ "type": kind, "output_index": index, "item": item });
            events.push(item_event("response.output_item.added", &open));
            let delta = |text: &String| {
                json!({
                    "type": "response.output_text.delta", "item_id": MESSAGE_ID, "output_index": index,
                    "content_index": 0, "delta": text,
                })
            };
            if item["type"] == "message" {
                events.extend(turn.text.iter().map(delta));
            }
            events.push(item_event("response.output_item.done", &item));
        }
        let completed = response(model, "completed", output_items(turn));
        events.push(json!({ "type": "response.completed", "response": completed }));
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

/// Returns the items of `output` in the response: the tool calls of a turn or, without calls, its message, which may be
/// empty.
fn output_items(turn: &MockTurn) -> Vec<Value> {
    if !turn.calls.is_empty() {
        return turn.calls.iter().map(function_call).collect();
    }
    let text = turn.text.concat();
    let content = json!([{ "type": "output_text", "text": text, "annotations": [] }]);
    let content = if text.is_empty() { json!([]) } else { content };
    vec![json!({
        "id": MESSAGE_ID, "type": "message", "role": "assistant", "status": "completed", "content": content,
    })]
}

fn function_call(call: &MockCall) -> Value {
    json!({
        "id": format!("fc_{}", call.id), "type": "function_call", "status": "completed",
        "call_id": call.id, "name": call.name, "arguments": call.arguments.to_string(),
    })
}

fn response(model: &str, status: &str, output: Vec<Value>) -> Value {
    let usage = json!({
        "input_tokens": INPUT_TOKENS, "input_tokens_details": { "cached_tokens": CACHED_TOKENS },
        "output_tokens": OUTPUT_TOKENS, "output_tokens_details": { "reasoning_tokens": 0 },
        "total_tokens": INPUT_TOKENS + OUTPUT_TOKENS,
    });
    json!({
        "id": "resp_mock", "object": "response", "created_at": 0, "model": model, "status": status,
        "output": output, "usage": if status == "completed" { usage } else { Value::Null },
    })
}
