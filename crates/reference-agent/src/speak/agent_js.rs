//! agent-js (seed 001): one document on standard output, for success and for failure. Nothing after
//! a signal.

use super::Speaker;
use crate::attach::Attached;
use crate::clock::iso;
use crate::event::{Ending, Event, ToolRecord};
use crate::failure::{Code, Failure};
use crate::ledger::Ledger;
use crate::options::{ApprovalMode, Options, Profile, ToolsMode, word};
use agentnative_contract::error::Result;
use agentnative_output::Output;
use serde::Serialize;
use serde_json::{Map, Value};

pub(super) struct AgentJs {
    profile: Profile,
    approval: ApprovalMode,
    tools_mode: ToolsMode,
    max_tool_turns: u32,
}

/// The document of a success, and the long form of a failure. Names and types are those of the
/// contract's version 1.5.8.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Document<'a> {
    ok: bool,
    provider: &'a str,
    model: String,
    profile: String,
    status: &'static str,
    mode: String,
    approval_mode: String,
    tools_mode: String,
    tools_enabled: bool,
    tools_fallback_used: bool,
    health: Health,
    termination: Termination,
    attachments: Attachments<'a>,
    usage: Usage,
    message: &'a str,
    tool_calls: Vec<ToolCall<'a>>,
    timing_ms: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<&'static str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Health {
    retries_used: u64,
    tool_calls_total: usize,
    tool_calls_failed: usize,
    tool_call_failure_rate: f64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Termination {
    reason: &'static str,
    max_tool_turns: u32,
    turns_used: u64,
}

#[derive(Serialize)]
struct Attachments<'a> {
    files: Vec<&'a Attached>,
    images: Vec<&'a Attached>,
}

#[derive(Serialize)]
struct Usage {
    turns: u64,
    turns_with_usage: u64,
    has_usage: bool,
    input_tokens: u64,
    output_tokens: u64,
    total_tokens: u64,
}

#[derive(Serialize)]
struct ToolCall<'a> {
    tool: &'a str,
    input: &'a Map<String, Value>,
    ok: bool,
    result: Option<&'a Map<String, Value>>,
    error: Option<Problem<'a>>,
    meta: Meta,
}

#[derive(Serialize)]
struct Problem<'a> {
    message: &'a str,
    code: &'static str,
}

#[derive(Serialize)]
struct Meta {
    duration_ms: u64,
    ts: String,
}

/// The short form of a failure.
#[derive(Serialize)]
pub(super) struct Short<'a> {
    ok: bool,
    error: &'a str,
    code: &'static str,
}

impl AgentJs {
    pub(super) fn new(options: &Options) -> Self {
        Self {
            profile: options.profile,
            approval: options.approval,
            tools_mode: options.tools_mode,
            max_tool_turns: options.max_tool_turns,
        }
    }

    /// The seventeen keys that are always there once the loop has begun.
    fn document<'a>(
        &self,
        ledger: &'a Ledger,
        reason: &'static str,
        message: &'a str,
        failure: Option<&'a Failure>,
    ) -> Document<'a> {
        let usage = ledger.usage.unwrap_or_default();
        let attached = |images: bool| -> Vec<&Attached> {
            ledger.attached.iter().filter(|attached| attached.is_image() == images).collect()
        };
        let profile = word(self.profile);
        Document {
            ok: failure.is_none(),
            provider: &ledger.provider,
            model: format!("{}/{}", ledger.provider, ledger.model),
            profile: profile.clone(),
            status: if failure.is_none() { "completed" } else { "failed" },
            mode: profile,
            approval_mode: word(self.approval),
            tools_mode: word(self.tools_mode),
            tools_enabled: ledger.tools,
            tools_fallback_used: ledger.fallback,
            health: Health {
                retries_used: ledger.retries,
                tool_calls_total: ledger.calls.len(),
                tool_calls_failed: ledger.failed_calls(),
                tool_call_failure_rate: ledger.failure_rate(),
            },
            termination: Termination {
                reason,
                max_tool_turns: self.max_tool_turns,
                turns_used: ledger.turns,
            },
            attachments: Attachments { files: attached(false), images: attached(true) },
            usage: Usage {
                turns: ledger.turns,
                turns_with_usage: ledger.turns_with_usage,
                has_usage: ledger.usage.is_some(),
                input_tokens: usage.input,
                output_tokens: usage.output,
                total_tokens: usage.total(),
            },
            message,
            tool_calls: ledger.calls.iter().map(tool_call).collect(),
            timing_ms: ledger.elapsed_ms(),
            error: failure.map(|failure| failure.message.as_str()),
            code: failure.map(|failure| failure.code.agent_js()),
        }
    }
}

impl Speaker for AgentJs {
    fn event(&mut self, _event: &Event, _ledger: &Ledger, _output: &mut Output) -> Result<()> {
        Ok(())
    }

    fn end(&mut self, ending: &Ending, ledger: &Ledger, output: &mut Output) -> Result<u8> {
        let failure = match ending {
            Ending::Answer(answer) => {
                return output.record(&self.document(ledger, "completed", answer, None)).map(|()| 0);
            }
            Ending::Failed(failure) if failure.signal.is_some() => return Ok(failure.exit_code()),
            Ending::Failed(failure) => failure,
        };
        let reason = match failure.code {
            Code::MaxToolTurnsNoFinal => Some("max_tool_turns_no_final"),
            code if code.is_provider() => Some("provider_error"),
            // The contract has no word for these ends, so they are told in the short form.
            _ => None,
        };
        match reason.filter(|_| ledger.started) {
            Some(reason) => output.record(&self.document(ledger, reason, "", Some(failure))),
            None => output.record(&error(failure)),
        }?;
        Ok(failure.code.agent_js_exit())
    }

    fn takes_empty_answer(&self) -> bool {
        true
    }
}

fn tool_call(call: &ToolRecord) -> ToolCall<'_> {
    let (result, error) = match &call.outcome {
        Ok(result) => (Some(result), None),
        Err(error) => (None, Some(Problem { message: &error.message, code: error.code.name() })),
    };
    ToolCall {
        tool: &call.tool,
        input: &call.input,
        ok: error.is_none(),
        result,
        error,
        meta: Meta { duration_ms: call.duration, ts: iso(call.started) },
    }
}

/// The short form of a failure.
pub(super) fn error(failure: &Failure) -> Short<'_> {
    Short { ok: false, error: &failure.message, code: failure.code.agent_js() }
}
