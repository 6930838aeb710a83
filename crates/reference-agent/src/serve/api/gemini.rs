//! Responses in the form of Gemini's generateContent API.

use super::super::turn::{MockCall, MockTurn, MockUsage};
use super::interface::Api;
use serde_json::{Value, json};

pub(super) struct Gemini;

impl Api for Gemini {
    fn document(&self, model: &str, turn: &MockTurn) -> Value {
        let text = turn.text.concat();
        let text = (!text.is_empty()).then(|| json!({ "text": text }));
        response(model, turn.usage, reasoning(turn).chain(text).chain(calls(turn)).collect(), true)
    }

    fn events(&self, model: &str, turn: &MockTurn) -> Vec<(Option<String>, String)> {
        let texts = turn.text.iter().map(|text| json!({ "text": text }));
        let parts: Vec<Value> = reasoning(turn).chain(texts).chain(calls(turn)).collect();
        let count = parts.len();
        let each = parts.into_iter().enumerate();
        let mut events: Vec<Value> =
            each.map(|(nth, part)| response(model, turn.usage, vec![part], nth + 1 == count)).collect();
        if events.is_empty() {
            events.push(response(model, turn.usage, Vec::new(), true));
        }
        events.into_iter().map(|event| (None, event.to_string())).collect()
    }

    fn error(&self, status: u16, message: &str) -> Value {
        let name = match status {
            401 => "UNAUTHENTICATED",
            403 => "PERMISSION_DENIED",
            404 => "NOT_FOUND",
            429 => "RESOURCE_EXHAUSTED",
            503 => "UNAVAILABLE",
            500.. => "INTERNAL",
            _ => "INVALID_ARGUMENT",
        };
        json!({ "error": { "code": status, "message": message, "status": name } })
    }
}

fn reasoning(turn: &MockTurn) -> impl Iterator<Item = Value> + use<> {
    turn.reasoning.map(|text| json!({ "text": text, "thought": true })).into_iter()
}

fn calls(turn: &MockTurn) -> impl Iterator<Item = Value> + '_ {
    let call = |call: &MockCall| json!({ "functionCall": { "id": call.id, "name": call.name, "args": call.arguments } });
    turn.calls.iter().map(call)
}

fn response(model: &str, usage: MockUsage, parts: Vec<Value>, is_last: bool) -> Value {
    let MockUsage { input, cached, output, reasoning } = usage;
    let mut candidate = json!({ "index": 0, "content": { "role": "model", "parts": parts } });
    if is_last {
        candidate["finishReason"] = json!("STOP");
    }
    json!({
        "candidates": [candidate], "modelVersion": model, "responseId": "resp_mock",
        "usageMetadata": {
            "promptTokenCount": input, "cachedContentTokenCount": cached,
            "candidatesTokenCount": output - reasoning, "thoughtsTokenCount": reasoning,
            "totalTokenCount": input + output,
        },
    })
}
