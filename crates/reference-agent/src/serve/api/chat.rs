//! Responses in the form of OpenAI's chat completions API.

use super::super::turn::{MockCall, MockTurn, MockUsage};
use super::interface::Api;
use serde_json::{Value, json};

pub(super) struct Chat;

impl Api for Chat {
    fn document(&self, model: &str, turn: &MockTurn) -> Value {
        let calls: Vec<Value> = turn.calls.iter().map(tool_call).collect();
        let mut message = json!({ "role": "assistant", "content": turn.text.concat() });
        if !calls.is_empty() {
            message["content"] = Value::Null;
            message["tool_calls"] = json!(calls);
        }
        if let Some(reasoning) = turn.reasoning {
            message["reasoning_content"] = json!(reasoning);
        }
        let mut document = head(model, "chat.completion");
        document["choices"] =
            json!([{ "index": 0, "message": message, "finish_reason": finish_reason(turn) }]);
        document["usage"] = usage(turn.usage);
        document
    }

    fn events(&self, model: &str, turn: &MockTurn) -> Vec<(Option<String>, String)> {
        let chunk = |delta: Value, finish: Option<&str>| {
            let mut chunk = head(model, "chat.completion.chunk");
            chunk["choices"] = json!([{ "index": 0, "delta": delta, "finish_reason": finish }]);
            chunk
        };
        let mut chunks = vec![chunk(json!({ "role": "assistant", "content": "" }), None)];
        let reasoning = turn.reasoning.map(|text| chunk(json!({ "reasoning_content": text }), None));
        chunks.extend(reasoning);
        chunks.extend(turn.text.iter().map(|text| chunk(json!({ "content": text }), None)));
        for (index, one) in turn.calls.iter().enumerate() {
            let mut call = tool_call(one);
            call["index"] = json!(index);
            chunks.push(chunk(json!({ "tool_calls": [call] }), None));
        }
        let mut last = chunk(json!({}), Some(finish_reason(turn)));
        last["usage"] = usage(turn.usage);
        chunks.push(last);
        let data = chunks.into_iter().map(|chunk| chunk.to_string()).chain(["[DONE]".to_owned()]);
        data.map(|data| (None, data)).collect()
    }

    fn error(&self, status: u16, message: &str) -> Value {
        json!({ "error": { "message": message, "type": "mock_error", "code": status.to_string() } })
    }
}

fn head(model: &str, object: &str) -> Value {
    json!({ "id": "chatcmpl-mock", "object": object, "created": 0, "model": model })
}

fn finish_reason(turn: &MockTurn) -> &'static str {
    if turn.calls.is_empty() { "stop" } else { "tool_calls" }
}

fn tool_call(call: &MockCall) -> Value {
    let function = json!({ "name": call.name, "arguments": call.arguments.to_string() });
    json!({ "id": call.id, "type": "function", "function": function })
}

fn usage(usage: MockUsage) -> Value {
    let MockUsage { input, cached, output, reasoning } = usage;
    json!({
        "prompt_tokens": input, "completion_tokens": output, "total_tokens": input + output,
        "prompt_tokens_details": { "cached_tokens": cached },
        "completion_tokens_details": { "reasoning_tokens": reasoning },
    })
}
