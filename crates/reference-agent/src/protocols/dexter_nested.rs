//! The protocol dexter-nested: one JSON document on one line of stdout, for success and failure. Stderr has one line
//! per tool call.

use super::dexter_flat::{SCRATCHPAD, token_usage};
use super::protocol::{Encoder, Protocol};
use crate::event::{AgentEvent, TurnOutcome};
use crate::failure::Code;
use crate::run_summary::RunSummary;
use agentnative_contract::error::{ErrorKind, Result};
use agentnative_output::{Output, OutputFormat};
use serde::Serialize;
use serde_json::{Map, Value, json};

pub(super) const PROTOCOL: Protocol = Protocol {
    contract: Some("dexter-nested"),
    exit_codes: "0, 1",
    format: Some(OutputFormat::Json),
    stderr_is_text: true,
    scratchpad: Some(SCRATCHPAD),
    allows_empty_answer: true,
    reported_signals: &[],
    encoder: |_| Box::new(DexterNested),
};

struct DexterNested;

/// The document that is printed after a run. Its keys, their order and their types are those of the original, Dexter.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Document<'a> {
    status: &'static str,
    query: &'a str,
    answer: &'a str,
    tools: Vec<ToolEntry<'a>>,
    scratchpad_file: &'a str,
    metadata: Metadata<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Value>,
}

#[derive(Serialize)]
struct ToolEntry<'a> {
    name: &'a str,
    args: &'a Map<String, Value>,
    result: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Metadata<'a> {
    model: &'a str,
    iterations: u64,
    total_time_ms: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    token_usage: Option<Value>,
}

impl Encoder for DexterNested {
    fn write_event(&mut self, event: &AgentEvent, _summary: &RunSummary, output: &mut Output) -> Result<()> {
        if let AgentEvent::ToolCall(call) = event {
            output.diagnostic(&format!("[tool] {}", call.tool));
        }
        Ok(())
    }

    fn write_outcome(
        &mut self,
        outcome: &TurnOutcome,
        summary: &RunSummary,
        output: &mut Output,
    ) -> Result<u8> {
        let calls = summary.calls.iter();
        let error = outcome.as_ref().err().map(|failure| {
            let code = contract_code(failure.code);
            json!({"code": code, "message": failure.message})
        });
        output.record(&Document {
            status: if outcome.is_ok() { "success" } else { "error" },
            query: &summary.query,
            answer: summary.answer.as_deref().unwrap_or_default(),
            tools: calls
                .map(|call| ToolEntry { name: &call.tool, args: &call.input, result: call.text() })
                .collect(),
            scratchpad_file: summary.scratchpad.as_deref().unwrap_or_default(),
            metadata: Metadata {
                model: &summary.model,
                iterations: summary.turns.used,
                total_time_ms: summary.timing_ms,
                token_usage: token_usage(summary),
            },
            error,
        })?;
        Ok(u8::from(outcome.is_err()))
    }
}

/// Returns the name that the contract dexter-nested has for a failure code.
fn contract_code(code: Code) -> &'static str {
    match code {
        Code::NoQuery => "NO_QUERY",
        code if code.is_provider_failure() => "PROVIDER_ERROR",
        Code::AuthConfigError
        | Code::InteractiveApprovalJson
        | Code::InteractiveApprovalTty
        | Code::InvalidOption => "CONFIG_ERROR",
        code if code.kind() == ErrorKind::Config => "CONFIG_ERROR",
        _ => "AGENT_ERROR",
    }
}
