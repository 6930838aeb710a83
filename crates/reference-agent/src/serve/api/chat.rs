//! OpenAI's chat completions.

use super::super::turn::{Call, Turn};
use super::interface::{Api, CACHED, INPUT, OUTPUT};
use serde_json::{Value, json};

pub(super) struct Chat;

impl Api for Chat {
    fn document(&self, model: &str, turn: &Turn) -> Value {
        let calls: Vec<Value> = turn.calls.iter().map(call).collect();
        let mut message = json!({ "role": "assistant", "content": turn.text.concat() });
        if !calls.is_empty() {
            message["content"] = Value::Null;
            message["tool_calls"] = json!(calls);
        }
        let mut document = head(model, "chat.completion");
        document["choices"] = json!([{ "index": 0, "message": message, "finish_reason": finish(turn) }]);
        document["usage"] = usage();
        document
    }

    fn events(&self, model: &str, turn: &Turn) -> Vec<(Option<String>, String)> {
        let chunk = |delta: Value, finish: Option<&str>| {
            let mut chunk = head(model, "chat.completion.chunk");
            chunk["choices"] = json!([{ "index": 0, "delta": delta, "finish_reason": finish }]);
            chunk
        };
        let mut chunks = vec![chunk(json!({ "role": "assistant", "content": "" }), None)];
        chunks.extend(turn.text.iter().map(|text| chunk(json!({ "content": text }), None)));
        for (index, one) in turn.calls.iter().enumerate() {
            let mut call = call(one);
            call["index"] = json!(index);
            chunks.push(chunk(json!({ "tool_calls": [call] }), None));
        }
        let mut last = chunk(json!({}), Some(finish(turn)));
        last["usage"] = usage();
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

fn finish(turn: &Turn) -> &'static str {
    if turn.calls.is_empty() { "stop" } else { "tool_calls" }
}

fn call(call: &Call) -> Value {
    let function = json!({ "name": call.name, "arguments": call.arguments.to_string() });
    json!({ "id": call.id, "type": "function", "function": function })
}

fn usage() -> Value {
    json!({
        "prompt_tokens": INPUT, "completion_tokens": OUTPUT, "total_tokens": INPUT + OUTPUT,
        "prompt_tokens_details": { "cached_tokens": CACHED },
    })
}
