//! dexter-flat (seed 000): one document on standard output, for success and for failure.

use super::Speaker;
use crate::event::{Ending, Event};
use crate::failure::Failure;
use crate::ledger::Ledger;
use agentnative_contract::error::{ErrorKind, Result};
use agentnative_output::Output;
use serde::Serialize;
use serde_json::{Map, Value};

pub(super) struct DexterFlat;

/// The document of a success. Names, types and order are the seed's.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Success<'a> {
    success: bool,
    query: &'a str,
    answer: &'a str,
    model: &'a str,
    tool_calls: Vec<ToolCall<'a>>,
    iterations: u64,
    duration: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    token_usage: Option<TokenUsage>,
}

#[derive(Serialize)]
struct ToolCall<'a> {
    tool: &'a str,
    args: &'a Map<String, Value>,
    result: String,
}

/// Tokens as both Dexter contracts have them.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct TokenUsage {
    input_tokens: u64,
    output_tokens: u64,
    total_tokens: u64,
}

/// The document of a failure.
#[derive(Serialize)]
pub(super) struct Failed<'a> {
    success: bool,
    query: &'a str,
    error: &'a str,
}

impl Speaker for DexterFlat {
    fn event(&mut self, _event: &Event, _ledger: &Ledger, _output: &mut Output) -> Result<()> {
        Ok(())
    }

    fn end(&mut self, ending: &Ending, ledger: &Ledger, output: &mut Output) -> Result<u8> {
        match ending {
            Ending::Answer(answer) => output.record(&success(answer, ledger)).map(|()| 0),
            Ending::Failed(failure) if failure.signal.is_some() => Ok(failure.exit_code()),
            Ending::Failed(failure) => output.record(&error(&ledger.query, failure)).map(|()| exit(failure)),
        }
    }
}

fn success<'a>(answer: &'a str, ledger: &'a Ledger) -> Success<'a> {
    let calls = ledger.calls.iter();
    Success {
        success: true,
        query: &ledger.query,
        answer,
        model: &ledger.model,
        tool_calls: calls
            .map(|call| ToolCall { tool: &call.tool, args: &call.input, result: call.text() })
            .collect(),
        iterations: ledger.turns,
        duration: ledger.elapsed_ms(),
        token_usage: token_usage(ledger),
    }
}

/// None when the provider gave none.
pub(super) fn token_usage(ledger: &Ledger) -> Option<TokenUsage> {
    ledger.usage.map(|usage| TokenUsage {
        input_tokens: usage.input,
        output_tokens: usage.output,
        total_tokens: usage.total(),
    })
}

/// The error document; the query is empty when it is not known.
pub(super) fn error<'a>(query: &'a str, failure: &'a Failure) -> Failed<'a> {
    Failed { success: false, query, error: &failure.message }
}

/// 2 for invalid arguments and for no query, else 1.
pub(super) fn exit(failure: &Failure) -> u8 {
    if failure.code.kind() == ErrorKind::Usage { 2 } else { 1 }
}
