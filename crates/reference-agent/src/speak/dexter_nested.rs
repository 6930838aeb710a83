//! dexter-nested (seed 002): one document on one line of standard output, for success and for
//! failure. Standard error may hold a line for each tool.

use super::Speaker;
use super::dexter_flat::{TokenUsage, token_usage};
use crate::event::{Ending, Event};
use crate::failure::Failure;
use crate::ledger::Ledger;
use agentnative_contract::error::Result;
use agentnative_output::Output;
use serde::Serialize;
use serde_json::{Map, Value};

pub(super) struct DexterNested;

/// The document. Names, types and order are the seed's.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Document<'a> {
    status: &'static str,
    query: &'a str,
    answer: &'a str,
    tools: Vec<Tool<'a>>,
    scratchpad_file: &'a str,
    metadata: Metadata<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Problem<'a>>,
}

#[derive(Serialize)]
struct Tool<'a> {
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
    token_usage: Option<TokenUsage>,
}

#[derive(Serialize)]
struct Problem<'a> {
    code: &'static str,
    message: &'a str,
}

impl Speaker for DexterNested {
    fn event(&mut self, event: &Event, _ledger: &Ledger, output: &mut Output) -> Result<()> {
        if let Event::ToolStarted { tool, .. } = event {
            output.diagnostic(&format!("[tool] {tool}"));
        }
        Ok(())
    }

    fn end(&mut self, ending: &Ending, ledger: &Ledger, output: &mut Output) -> Result<u8> {
        match ending {
            Ending::Answer(answer) => output.record(&document(ledger, answer, None)).map(|()| 0),
            Ending::Failed(failure) if failure.signal.is_some() => Ok(failure.exit_code()),
            Ending::Failed(failure) => output.record(&document(ledger, "", Some(failure))).map(|()| 1),
        }
    }

    fn takes_empty_answer(&self) -> bool {
        true
    }
}

fn document<'a>(ledger: &'a Ledger, answer: &'a str, failure: Option<&'a Failure>) -> Document<'a> {
    let calls = ledger.calls.iter();
    Document {
        status: if failure.is_none() { "success" } else { "error" },
        query: &ledger.query,
        answer,
        tools: calls.map(|call| Tool { name: &call.tool, args: &call.input, result: call.text() }).collect(),
        scratchpad_file: &ledger.scratchpad,
        metadata: Metadata {
            model: &ledger.model,
            iterations: ledger.turns,
            total_time_ms: ledger.elapsed_ms(),
            token_usage: token_usage(ledger),
        },
        error: failure
            .map(|failure| Problem { code: failure.code.dexter_nested(), message: &failure.message }),
    }
}

/// Writes the document of a failure before anything is known.
///
/// # Errors
/// When it cannot be written.
pub(super) fn refuse(failure: &Failure, output: &mut Output) -> Result<()> {
    output.record(&document(&Ledger::new("", ""), "", Some(failure)))
}
