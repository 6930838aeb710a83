//! The events of a run as CSV (RFC 4180), with one row per event.

use crate::event::AgentEvent;
use crate::run_summary::SessionStatus;
use crate::tool_record::ToolRecord;

/// Names of the columns. A column is empty if an event lacks the value.
const HEADER: [&str; 7] = ["type", "turn", "tool", "id", "ok", "duration_ms", "text"];

/// Returns the row of an event as text. The row of the start event follows the header. Empty for events that have no
/// row.
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

/// Returns a CSV field, in quotation marks if it contains a comma, a quotation mark or a line break.
fn quote(text: &str) -> String {
    if text.contains(['"', ',', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}
