//! What happens in a run as a table: CSV after RFC 4180, with a row for each event.

use crate::event::Event;
use crate::run_summary::Status;
use crate::tool_record::ToolRecord;

/// The columns; what an event has none of is empty.
const HEADER: [&str; 7] = ["type", "turn", "tool", "id", "ok", "duration_ms", "text"];

/// The row of an event; before the first one stands the header. Empty for what is not printed.
pub(super) fn rows(event: &Event) -> String {
    let json = |value| serde_json::to_string(value).unwrap_or_default();
    match event {
        Event::Query { .. } | Event::TurnEnded(_) => String::new(),
        Event::Start { query, .. } => {
            let row = ["start", "", "", "", "", "", query];
            line(HEADER) + &line(row)
        }
        Event::ToolsRefused => line(["tools-refused", "", "", "", "", "", ""]),
        Event::Turn { turn } => line(["turn", &turn.to_string(), "", "", "", "", ""]),
        Event::Retry { turn, message, wait_ms, .. } => {
            line(["retry", &turn.to_string(), "", "", "", &wait_ms.to_string(), message])
        }
        Event::Text { turn, text } => line(["text", &turn.to_string(), "", "", "", "", text]),
        Event::ToolCall(call) => line(["tool-call", "", &call.tool, &call.id, "", "", &json(&call.input)]),
        Event::Permission { id, tool, granted } => {
            line(["permission", "", tool, id, &granted.to_string(), "", ""])
        }
        Event::ToolResult(ToolRecord { id, tool, ok, result, error, duration_ms, .. }) => {
            let text = match error {
                Some(error) => error.message.clone(),
                None => result.as_ref().map(json).unwrap_or_default(),
            };
            line(["tool-result", "", tool, id, &ok.to_string(), &duration_ms.to_string(), &text])
        }
        Event::End(summary) => {
            let ok = matches!(summary.status, Status::Completed).to_string();
            let (turns, time) = (summary.turns.used.to_string(), summary.timing_ms.to_string());
            let text = summary.answer.as_deref().or(summary.code).unwrap_or_default();
            line(["end", &turns, "", "", &ok, &time, text])
        }
    }
}

fn line(fields: [&str; HEADER.len()]) -> String {
    fields.map(field).join(",") + "\n"
}

/// A field, quoted where it has to be.
fn field(text: &str) -> String {
    if text.contains(['"', ',', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}
