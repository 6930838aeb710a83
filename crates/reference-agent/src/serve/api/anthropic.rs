//! Responses in the form of Anthropic's messages API.

use super::super::turn::{MockTurn, MockUsage};
use super::interface::Api;
use serde_json::{Value, json};

pub(super) struct Anthropic;

impl Api for Anthropic {
    fn document(&self, model: &str, turn: &MockTurn) -> Value {
        let mut message = message(model, turn.usage);
        message["content"] = json!(blocks(turn));
        message["stop_reason"] = json!(stop_reason(turn));
        message["usage"]["output_tokens"] = json!(turn.usage.output);
        message
    }

    fn events(&self, model: &str, turn: &MockTurn) -> Vec<(Option<String>, String)> {
        let mut events = vec![json!({ "type": "message_start", "message": message(model, turn.usage) })];
        for (index, block) in blocks(turn).into_iter().enumerate() {
            let mut empty = block.clone();
            let deltas: Vec<Value> = match block["type"].as_str() {
                Some("text") => {
                    empty["text"] = json!("");
                    turn.text.iter().map(|text| json!({ "type": "text_delta", "text": text })).collect()
                }
                Some("thinking") => {
                    (empty["thinking"], empty["signature"]) = (json!(""), json!(""));
                    vec![
                        json!({ "type": "thinking_delta", "thinking": block["thinking"] }),
                        json!({ "type": "signature_delta", "signature": block["signature"] }),
                    ]
                }
                _ => {
                    empty["input"] = json!({});
                    vec![json!({ "type": "input_json_delta", "partial_json": block["input"].to_string() })]
                }
            };
            events.push(json!({ "type": "content_block_start", "index": index, "content_block": empty }));
            let delta = |delta| json!({ "type": "content_block_delta", "index": index, "delta": delta });
            events.extend(deltas.into_iter().map(delta));
            events.push(json!({ "type": "content_block_stop", "index": index }));
        }
        events.push(json!({
            "type": "message_delta", "usage": { "output_tokens": turn.usage.output },
            "delta": { "stop_reason": stop_reason(turn), "stop_sequence": null },
        }));
        events.push(json!({ "type": "message_stop" }));
        let named = |event: Value| (event["type"].as_str().map(str::to_owned), event.to_string());
        events.into_iter().map(named).collect()
    }

    fn error(&self, status: u16, message: &str) -> Value {
        let kind = match status {
            401 => "authentication_error",
            403 => "permission_error",
            404 => "not_found_error",
            429 => "rate_limit_error",
            529 => "overloaded_error",
            500.. => "api_error",
            _ => "invalid_request_error",
        };
        json!({ "type": "error", "error": { "type": kind, "message": message } })
    }
}

fn blocks(turn: &MockTurn) -> Vec<Value> {
    let text = turn.text.concat();
    let text = (!text.is_empty()).then(|| json!({ "type": "text", "text": text }));
    let calls = turn
        .calls
        .iter()
        .map(|call| json!({ "type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments }));
    let thinking = |text| json!({ "type": "thinking", "thinking": text, "signature": "mock" });
    turn.reasoning.map(thinking).into_iter().chain(text).chain(calls).collect()
}

fn stop_reason(turn: &MockTurn) -> &'static str {
    if turn.calls.is_empty() { "end_turn" } else { "tool_use" }
}

fn message(model: &str, usage: MockUsage) -> Value {
    json!({
        "id": "msg_mock", "type": "message", "role": "assistant", "model": model, "content": [],
        "stop_reason": null, "stop_sequence": null,
        "usage": {
            "input_tokens": usage.input - usage.cached, "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": usage.cached, "output_tokens": usage.output.min(1),
        },
    })
}
