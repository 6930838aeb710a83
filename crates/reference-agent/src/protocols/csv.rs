//! The events of a run as CSV (RFC 4180), with one row per event.

use crate::event::AgentEvent;
use crate::run_summary::SessionStatus;
use crate::tool_record::ToolRecord;

/// Names of the columns. Values that an event does not have are empty.
const HEADER: [&str; 7] = ["type", "turn", "tool", "id", "ok", "duration_ms", "text"];

/// Returns the row of an event, with the header before the start event. Empty for events that are not printed.
pub(super) fn rows(event: &AgentEvent) -> String {
    let json = |value| serde_json::to_string(value).unwrap_or_default();
    match event {
        AgentEvent::Query { .. } | AgentEvent::TurnEnded(_) => String::new(),
        AgentEvent::Start { query, .. } => {
            let fields = ["start", "", "", "", "", "", query];
            row(HEADER) + &row(fields)
        }
        AgentEvent::ToolsRefused => row(["tools-refused", "", "", "", "", "", ""]),
        AgentEvent::Turn { turn } => row(["turn", &turn.to_string(), "", "", "", "", ""]),
        AgentEvent::Retry { turn, message, wait_ms, .. } => {
            row(["retry", &turn.to_string(), "", "", "", &wait_ms.to_string(), message])
        }
        AgentEvent::Text { turn, text } => row(["text", &turn.to_string(), "", "", "", "", text]),
        AgentEvent::ToolCall(call) => {
            row(["tool-call", "", &call.tool, &call.id, "", "", &json(&call.input)])
        }
        AgentEvent::Permission { id, tool, granted } => {
            row(["permission", "", tool, id, &granted.to_string(), "", ""])
        }
        AgentEvent::ToolResult(ToolRecord { id, tool, ok, result, error, duration_ms, .. }) => {
            let text = match error {
                Some(error) => error.message.clone(),
                None => result.as_ref().map(json).unwrap_or_default(),
            };
            row(["tool-result", "", tool, id, &ok.to_string(), &duration_ms.to_string(), &text])
        }
        AgentEvent::End(summary) => {
            let ok = matches!(summary.status, SessionStatus::Completed).to_string();
            let (turns, time) = (summary.turns.used.to_string(), summary.timing_ms.to_string());
            let text = summary.answer.as_deref().or(summary.code).unwrap_or_default();
            row(["end", &turns, "", "", &ok, &time, text])
        }
    }
}

fn row(fields: [&str; HEADER.len()]) -> String {
    fields.map(quote).join(",") + "\n"
}

/// Quotes a field if necessary.
fn quote(text: &str) -> String {
    if text.contains(['"', ',', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}
