//! The protocol dexter-flat: one JSON document on stdout, for success and failure.

use super::protocol::{Encoder, Protocol};
use crate::event::TurnOutcome;
use crate::model::Usage;
use crate::run_summary::RunSummary;
use agentnative_contract::error::{ErrorKind, Result};
use agentnative_output::{Output, OutputFormat};
use serde::Serialize;
use serde_json::{Map, Value, json};

pub(super) const PROTOCOL: Protocol = Protocol {
    contract: Some("dexter-flat"),
    exit_codes: "0, 1, 2",
    format: Some(OutputFormat::Json),
    stderr_is_text: false,
    scratchpad: Some(SCRATCHPAD),
    allows_empty_answer: false,
    reported_signals: &[],
    encoder: |_| Box::new(DexterFlat),
};

/// Folder in the workspace to which both Dexter protocols write the log of a run (the scratchpad).
pub(super) const SCRATCHPAD: &str = ".dexter/scratchpad";

struct DexterFlat;

/// The document that is printed after a success. Its keys, their order and their types are those of the original,
/// Dexter.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Success<'a> {
    success: bool,
    query: &'a str,
    answer: &'a str,
    model: &'a str,
    tool_calls: Vec<ToolEntry<'a>>,
    iterations: u64,
    duration: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    token_usage: Option<Value>,
}

#[derive(Serialize)]
struct ToolEntry<'a> {
    tool: &'a str,
    args: &'a Map<String, Value>,
    result: String,
}

/// The document that is printed after a failure. The query is empty if it could not be read.
#[derive(Serialize)]
struct ErrorDocument<'a> {
    success: bool,
    query: &'a str,
    error: &'a str,
}

impl Encoder for DexterFlat {
    fn write_outcome(
        &mut self,
        outcome: &TurnOutcome,
        summary: &RunSummary,
        output: &mut Output,
    ) -> Result<u8> {
        let query = &summary.query;
        let answer = match outcome {
            Ok(answer) => answer,
            Err(failure) => {
                output.record(&ErrorDocument { success: false, query, error: &failure.message })?;
                // Invalid arguments and a missing query exit with 2.
                return Ok(if failure.code.kind() == ErrorKind::Usage { 2 } else { 1 });
            }
        };
        let calls = summary.calls.iter();
        output.record(&Success {
            success: true,
            query,
            answer,
            model: &summary.model,
            tool_calls: calls
                .map(|call| ToolEntry { tool: &call.tool, args: &call.input, result: call.text() })
                .collect(),
            iterations: summary.turns.used,
            duration: summary.timing_ms,
            token_usage: token_usage(summary),
        })?;
        Ok(0)
    }
}

/// Returns the token counts of a run in the form that both Dexter contracts require. `None` if the provider counts no
/// tokens.
pub(super) fn token_usage(summary: &RunSummary) -> Option<Value> {
    let Usage { input, output, total } = summary.usage?;
    Some(json!({"inputTokens": input, "outputTokens": output, "totalTokens": total}))
}
