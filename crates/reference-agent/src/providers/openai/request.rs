//! Builds the JSON body of a request for a chat completion.

use crate::model::{Message, ToolCall, ToolSpec};
use serde_json::{Value, json};

pub(super) fn body(model: &str, messages: &[Message], tools: &[ToolSpec], stream: bool) -> Value {
    let mut body = json!({
        "model": model,
        "messages": messages.iter().map(message).collect::<Vec<_>>(),
        "stream": stream,
    });
    if stream {
        body["stream_options"] = json!({"include_usage": true});
    }
    // Some servers reject an empty list.
    if !tools.is_empty() {
        body["tools"] = tools.iter().map(tool).collect();
    }
    body
}

fn tool(tool: &ToolSpec) -> Value {
    json!({"type": "function", "function": {
        "name": tool.name, "description": tool.description, "parameters": tool.parameters,
    }})
}

fn message(message: &Message) -> Value {
    match message {
        Message::System(text) => json!({"role": "system", "content": text}),
        Message::User { text, images } if images.is_empty() => json!({"role": "user", "content": text}),
        Message::User { text, images } => {
            let mut parts = vec![json!({"type": "text", "text": text})];
            parts.extend(images.iter().map(|image| {
                let url = format!("data:{};base64,{}", image.mime, image.base64);
                json!({"type": "image_url", "image_url": {"url": url}})
            }));
            json!({"role": "user", "content": parts})
        }
        Message::Assistant(turn) => {
            let call = |call: &ToolCall| {
                let function = json!({"name": call.name, "arguments": call.arguments});
                json!({"id": call.id, "type": "function", "function": function})
            };
            let calls: Vec<Value> = turn.calls.iter().map(call).collect();
            json!({"role": "assistant", "content": turn.text, "tool_calls": calls})
        }
        Message::Tool(record) => {
            json!({"role": "tool", "tool_call_id": record.id, "content": record.text()})
        }
    }
}
