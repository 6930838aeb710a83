//! The protocol agent-js: one JSON document on stdout, for success and failure. Prints nothing after a signal.

use super::native;
use super::protocol::{Encoder, EncoderSettings, Protocol};
use crate::attach::Attached;
use crate::clock::iso_8601;
use crate::event::TurnOutcome;
use crate::failure::{Code, Failure};
use crate::modes::{ApprovalMode, Profile, ToolsMode};
use crate::run_summary::{RunSummary, SessionStatus};
use crate::tool_record::{ToolCode, ToolRecord};
use agentnative_contract::error::Result;
use agentnative_output::{Output, OutputFormat};
use serde::Serialize;
use serde_json::{Map, Value, json};

pub(super) const PROTOCOL: Protocol = Protocol {
    contract: Some("agent-js"),
    exit_codes: "0  success
                 1  general error, wrong arguments
                 2  bad --config
                 3  key missing
                 4  bad provider or --base-url
                 5  no terminal to ask for approval
                 6  model refuses tools or images
                 7  provider timed out
                 8  not used: the original retries, too, but exits with 1
                 9  unusable attachment",
    format: Some(OutputFormat::Json),
    reported_signals: &[],
    encoder: |settings| Box::new(AgentJs(settings.clone())),
    ..native::PROTOCOL
};

struct AgentJs(EncoderSettings);

/// The document that is printed after a success, a failure of the provider, or a run that reached the turn limit. Its
/// keys are those of version 1.5.8 of the contract.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Document<'a> {
    ok: bool,
    provider: &'a str,
    model: String,
    profile: Profile,
    status: SessionStatus,
    mode: Profile,
    approval_mode: ApprovalMode,
    tools_mode: ToolsMode,
    tools_enabled: bool,
    tools_fallback_used: bool,
    health: HealthEntry,
    termination: Termination,
    attachments: Value,
    usage: UsageEntry,
    message: &'a str,
    tool_calls: Vec<ToolEntry<'a>>,
    timing_ms: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<&'static str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct HealthEntry {
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
struct UsageEntry {
    turns: u64,
    turns_with_usage: u64,
    has_usage: bool,
    input_tokens: u64,
    output_tokens: u64,
    total_tokens: u64,
}

#[derive(Serialize)]
struct ToolEntry<'a> {
    tool: &'a str,
    input: &'a Map<String, Value>,
    ok: bool,
    result: Option<&'a Map<String, Value>>,
    error: Option<ToolEntryError<'a>>,
    meta: Value,
}

#[derive(Serialize)]
struct ToolEntryError<'a> {
    message: &'a str,
    code: ToolCode,
}

/// The document that is printed after any other failure.
#[derive(Serialize)]
struct ErrorDocument<'a> {
    ok: bool,
    error: &'a str,
    code: &'static str,
}

impl AgentJs {
    /// Creates the document with seventeen keys. After a failure, it also has `error` and `code`.
    fn document<'a>(
        &self,
        summary: &'a RunSummary,
        reason: &'static str,
        failure: Option<&'a Failure>,
    ) -> Document<'a> {
        let usage = summary.usage.unwrap_or_default();
        let attached = |images: bool| -> Vec<&Attached> {
            summary.attachments.iter().filter(|attached| attached.is_image() == images).collect()
        };
        let Self(settings) = self;
        Document {
            ok: failure.is_none(),
            provider: &summary.provider,
            model: format!("{}/{}", summary.provider, summary.model),
            profile: settings.profile,
            status: summary.status,
            mode: settings.profile,
            approval_mode: settings.approval_mode,
            tools_mode: settings.tools_mode,
            tools_enabled: summary.tools,
            tools_fallback_used: summary.tools_fallback,
            health: HealthEntry {
                retries_used: summary.health.retries,
                tool_calls_total: summary.health.tool_calls,
                tool_calls_failed: summary.health.tool_calls_failed,
                tool_call_failure_rate: summary.health.tool_call_failure_rate,
            },
            termination: Termination {
                reason,
                max_tool_turns: summary.turns.max,
                turns_used: summary.turns.used,
            },
            attachments: json!({"files": attached(false), "images": attached(true)}),
            usage: UsageEntry {
                turns: summary.turns.used,
                turns_with_usage: summary.turns_with_usage,
                has_usage: summary.usage.is_some(),
                input_tokens: usage.input,
                output_tokens: usage.output,
                total_tokens: usage.total,
            },
            message: summary.answer.as_deref().unwrap_or_default(),
            tool_calls: summary.calls.iter().map(tool_call).collect(),
            timing_ms: summary.timing_ms,
            error: failure.map(|failure| failure.message.as_str()),
            code: failure.map(|failure| contract_code(failure.code)),
        }
    }
}

impl Encoder for AgentJs {
    fn write_outcome(
        &mut self,
        outcome: &TurnOutcome,
        summary: &RunSummary,
        output: &mut Output,
    ) -> Result<u8> {
        let failure = match outcome {
            Ok(_) => return output.record(&self.document(summary, "completed", None)).map(|()| 0),
            Err(failure) => failure,
        };
        let reason = match failure.code {
            Code::MaxToolTurnsNoFinal => Some("max_tool_turns_no_final"),
            code if code.is_provider_failure() => Some("provider_error"),
            // The contract has no reason for other failures, so they have the short document.
            _ => None,
        };
        match reason.filter(|_| summary.started) {
            Some(reason) => output.record(&self.document(summary, reason, Some(failure))),
            None => output.record(&ErrorDocument {
                ok: false,
                error: &failure.message,
                code: contract_code(failure.code),
            }),
        }?;
        Ok(exit_code(failure.code))
    }
}

fn tool_call(call: &ToolRecord) -> ToolEntry<'_> {
    let error = call.error.as_ref();
    ToolEntry {
        tool: &call.tool,
        input: &call.input,
        ok: call.ok,
        result: call.result.as_ref(),
        error: error.map(|error| ToolEntryError { message: &error.message, code: error.code }),
        meta: json!({"duration_ms": call.duration_ms, "ts": iso_8601(call.started)}),
    }
}

/// Returns the name that the contract agent-js has for a failure code.
fn contract_code(code: Code) -> &'static str {
    match code {
        Code::NoQuery => Code::InvalidOption.name(),
        Code::AuthRefused
        | Code::ProviderError
        | Code::RetryExhausted
        | Code::EmptyAnswer
        | Code::TimedOut
        | Code::Interrupted => Code::RuntimeError.name(),
        code => code.name(),
    }
}

fn exit_code(code: Code) -> u8 {
    match code {
        Code::AgentConfigInvalid | Code::AgentConfigError => 2,
        Code::AuthConfigInvalid | Code::AuthConfigError => 3,
        Code::InvalidBaseUrl | Code::InsecureBaseUrl | Code::ProviderNotConfigured => 4,
        Code::InteractiveApprovalJson | Code::InteractiveApprovalTty => 5,
        Code::VisionNotSupported | Code::ToolsNotSupported => 6,
        Code::FetchTimeout => 7,
        Code::AttachmentNotFound
        | Code::AttachmentUnreadable
        | Code::AttachmentTooManyFiles
        | Code::AttachmentTooManyImages
        | Code::AttachmentTooLarge
        | Code::AttachmentLimitInvalid
        | Code::AttachmentTypeUnsupported => 9,
        _ => 1,
    }
}
