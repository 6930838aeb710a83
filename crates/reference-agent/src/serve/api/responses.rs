//! Responses in the form of OpenAI's responses API.

use super::super::turn::{MockCall, MockTurn, MockUsage};
use super::interface::Api;
use serde_json::{Value, json};

pub(super) struct Responses;

const MESSAGE_ID: &str = "msg_mock";
const REASONING_ID: &str = "rs_mock";

impl Api for Responses {
    fn document(&self, model: &str, turn: &MockTurn) -> Value {
        response(model, "completed", turn)
    }

    fn events(&self, model: &str, turn: &MockTurn) -> Vec<(Option<String>, String)> {
        let created = response(model, "in_progress", turn);
        let mut events = vec![json!({ "type": "response.created", "response": created })];
        for (index, item) in output_items(turn).into_iter().enumerate() {
            let mut open = item.clone();
            let (is_message, is_reasoning) = (item["type"] == "message", item["type"] == "reasoning");
            if is_message {
                open["content"] = json!([]);
            } else if is_reasoning {
                open["summary"] = json!([]);
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
            if is_message {
                events.extend(turn.text.iter().map(delta));
            } else if is_reasoning {
                let summary_event = |kind: &str, key: &str, value: Value| {
                    json!({
                        "type": kind, "item_id": REASONING_ID, "output_index": index, "summary_index": 0,
                        key: value,
                    })
                };
                let part = json!({ "type": "summary_text", "text": "" });
                events.push(summary_event("response.reasoning_summary_part.added", "part", part));
                let text = json!(turn.reasoning);
                events.push(summary_event("response.reasoning_summary_text.delta", "delta", text));
            }
            events.push(item_event("response.output_item.done", &item));
        }
        let completed = response(model, "completed", turn);
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
    let message = json!({
        "id": MESSAGE_ID, "type": "message", "role": "assistant", "status": "completed", "content": content,
    });
    let summary = |text| json!([{ "type": "summary_text", "text": text }]);
    let reasoning = turn
        .reasoning
        .map(|text| json!({ "id": REASONING_ID, "type": "reasoning", "summary": summary(text) }));
    reasoning.into_iter().chain([message]).collect()
}

fn function_call(call: &MockCall) -> Value {
    json!({
        "id": format!("fc_{}", call.id), "type": "function_call", "status": "completed",
        "call_id": call.id, "name": call.name, "arguments": call.arguments.to_string(),
    })
}

fn response(model: &str, status: &str, turn: &MockTurn) -> Value {
    let MockUsage { input, cached, output, reasoning } = turn.usage;
    let is_completed = status == "completed";
    let items = if is_completed { output_items(turn) } else { Vec::new() };
    let usage = json!({
        "input_tokens": input, "input_tokens_details": { "cached_tokens": cached },
        "output_tokens": output, "output_tokens_details": { "reasoning_tokens": reasoning },
        "total_tokens": input + output,
    });
    json!({
        "id": "resp_mock", "object": "response", "created_at": 0, "model": model, "status": status,
        "output": items, "usage": if is_completed { usage } else { Value::Null },
    })
}
