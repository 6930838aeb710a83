//! Mapper of Claude Code: messages of the API with their blocks, then a result. Qwen Code has the same format.

use super::Dialect;
use super::arithmetic::sum;
use super::artifacts::file_changes;
use super::calls::Update;
use super::json::{
    as_time, at, is_true, items, nonempty, number, only_key, string, sum_members, text, texts,
};
use super::session::{Activity, Session};
use super::state::{MapFn, MapResult, Mapper, State, failure_reason};
use super::types::{CallStatus, Operation};
use super::usage::Usage;
use strict_json::TapeNode;

pub(super) const MAPPER: Mapper = Mapper {
    dialect: Dialect::Claude,
    program: "claude",
    agent: "claude-code",
    formats: ["stream-json", "json"],
    map: MapFn::Values {
        is_head: |kind| matches!(kind, "system" | "result"),
        detects: |event| match text(event, "/type") {
            Some("system") => detects(event, "/claude_code_version") || is_hook(event),
            Some("result") => at(event, "/total_cost_usd").is_some() && is_result(event),
            // Of Qwen Code, the event and its message have the same ID.
            Some("assistant") => {
                nonempty(event, "/message/id").is_some_and(|id| text(event, "/uuid") != Some(id))
            }
            _ => false,
        },
        // The usage of a message is measured at its beginning, and not final.
        map_event: |state, event| {
            map_event(
                state,
                event,
                &ClaudeVariant {
                    version: "/claude_code_version",
                    provider: Some("anthropic"),
                    has_final_usage: false,
                    has_cached_input: false,
                },
            )
        },
    },
    failure_reason,
};

/// Differences between the agents whose events have the format of Claude Code.
pub(super) struct ClaudeVariant {
    /// JSON pointer to the version of the agent in the first event.
    pub(super) version: &'static str,
    pub(super) provider: Option<&'static str>,
    /// True if the token counts in a message are final, and not measured at its beginning.
    pub(super) has_final_usage: bool,
    /// True if the input tokens contain those from the cache.
    pub(super) has_cached_input: bool,
}

/// True if the event is the first one of a stream and has the agent's version at the JSON pointer `version`.
pub(super) fn detects(event: TapeNode<'_>, version: &str) -> bool {
    text(event, "/subtype") == Some("init") && at(event, version).is_some()
}

/// True if the event is about a hook, which can run before the first event.
fn is_hook(event: TapeNode<'_>) -> bool {
    text(event, "/subtype").is_some_and(|subtype| subtype.starts_with("hook_"))
        && at(event, "/session_id").is_some()
}

fn is_result(event: TapeNode<'_>) -> bool {
    text(event, "/type") == Some("result") && at(event, "/subtype").is_some()
}

pub(super) fn map_event(state: &mut State, event: TapeNode<'_>, variant: &ClaudeVariant) -> MapResult {
    let kind = text(event, "/type").unwrap_or_default();
    if !(matches!(kind, "system" | "assistant" | "user") || is_result(event)) {
        return MapResult::Unknown;
    }
    let is_alone = state.events == 1;
    let Some(session) = state.session(nonempty(event, "/session_id")) else { return MapResult::Ignored };
    session.record_message_time(at(event, "/timestamp").and_then(as_time));
    match (kind, text(event, "/subtype")) {
        ("system", Some("init")) => {
            session.version = string(event, variant.version);
            session.assistant.model = string(event, "/model");
            session.assistant.provider = variant.provider.map(str::to_owned);
            session.steps = session.steps.or(Some(0.0));
            session.activity = Activity::Busy;
            // The next part of a run begins another message, even if its ID is the same.
            session.last_finish = None;
        }
        ("system", Some("api_retry")) => {
            session.add_retry(nonempty(event, "/error"), number(event, "/attempt"));
        }
        ("system", _) => return MapResult::Ignored,
        ("assistant", _) => assistant(session, event, variant),
        ("user", _) => user(session, event),
        _ => {
            result(session, event, variant);
            state.is_document |= is_alone;
        }
    }
    MapResult::Understood
}

fn assistant(session: &mut Session, event: TapeNode<'_>, variant: &ClaudeVariant) {
    let is_main_agent = nonempty(event, "/parent_tool_use_id").is_none();
    let id = nonempty(event, "/message/id").unwrap_or_default();
    if is_main_agent {
        session.activity = Activity::Busy;
        // A message has one event for each block.
        if session.last_finish.as_deref() != Some(id) {
            session.last_finish = Some(id.to_owned());
            session.begin_step(id, None);
            session.steps = Some(session.steps.unwrap_or(0.0) + 1.0);
        }
        if variant.has_final_usage {
            session.set_step_usage(variant.usage(event, "/message/usage"));
        }
    }
    for block in items(event, "/message/content") {
        match text(block, "/type") {
            Some("text") if is_main_agent => session.add_text(text(block, "/text").unwrap_or_default()),
            Some("thinking") if is_main_agent => {
                session.add_reasoning(text(block, "/thinking").unwrap_or_default())
            }
            Some("tool_use" | "server_tool_use" | "mcp_tool_use") => {
                let (tool, input) = (nonempty(block, "/name"), at(block, "/input"));
                session.update_call(Update {
                    id: nonempty(block, "/id").unwrap_or_default(),
                    is_new_call: true,
                    name: tool,
                    input: input.map(TapeNode::to_value),
                    file_changes: file_changes(tool, input),
                    ..Update::default()
                });
            }
            _ => {}
        }
    }
}

fn user(session: &mut Session, event: TapeNode<'_>) {
    let is_main_agent = nonempty(event, "/parent_tool_use_id").is_none();
    // The result reports whether a written file was created or modified.
    let operation = match text(event, "/tool_use_result/type") {
        Some("create") => Some(Operation::Created),
        Some("update") => Some(Operation::Modified),
        _ => None,
    };
    let written = operation.zip(string(event, "/tool_use_result/filePath"));
    if let Some(text) = text(event, "/message/content").filter(|_| is_main_agent) {
        session.add_user_message(&session.event.to_string(), text, None);
    }
    for block in items(event, "/message/content") {
        match (text(block, "/type"), nonempty(block, "/tool_use_id")) {
            (Some("tool_result"), Some(id)) => {
                let failed = is_true(block, "/is_error");
                // The next text of the model begins another message, even if its id is the same.
                session.last_finish = session.last_finish.take().filter(|_| !is_main_agent);
                session.update_call(Update {
                    id,
                    status: Some(if failed { CallStatus::Error } else { CallStatus::Completed }),
                    output: texts(block, "/content"),
                    ..Update::default()
                });
                if let Some((operation, path)) = &written {
                    session.artifacts.refine(path, *operation);
                }
            }
            (Some("text"), _) if is_main_agent => {
                let text = text(block, "/text").unwrap_or_default();
                session.add_user_message(&session.event.to_string(), text, None);
            }
            _ => {}
        }
    }
}

fn result(session: &mut Session, event: TapeNode<'_>, variant: &ClaudeVariant) {
    if session.steps.is_none() {
        // Without earlier events, the result is a single document, which does not show the calls.
        session.hidden_call_count = Some(None);
        session.steps = number(event, "/num_turns");
    }
    session.activity = Activity::Idle;
    // A run has a result for each prompt, and for each report of a task in the background.
    session.duration = sum(session.duration, number(event, "/duration_ms"));
    session.usage = model_usage(event).unwrap_or_else(|| session.usage.plus(&variant.usage(event, "/usage")));
    session.usage.cost = number(event, "/total_cost_usd");
    if session.assistant.model.is_none() {
        session.assistant.model = at(event, "/modelUsage").and_then(only_key).map(str::to_owned);
        session.assistant.provider = variant.provider.map(str::to_owned);
    }
    for denial in items(event, "/permission_denials") {
        let tool = nonempty(denial, "/tool_name").unwrap_or("unknown");
        session.warnings.add(&format!("Permission required: {tool}"));
        session.permissions.reject();
    }
    let (answer, subtype) =
        (text(event, "/result"), text(event, "/subtype").filter(|kind| *kind != "success"));
    let failed = subtype.is_some() || is_true(event, "/is_error");
    // Qwen Code reports success after an error of the provider.
    if failed || variant.has_final_usage && answer.is_some_and(|answer| answer.starts_with("[API Error")) {
        let status = number(event, "/api_error_status").map(|status| status.to_string());
        let aborted = text(event, "/terminal_reason").filter(|reason| reason.starts_with("aborted"));
        let aborted = aborted.map(|reason| format!("the agent stopped with reason \"{reason}\""));
        let message = aborted.as_deref().or(answer).or(text(event, "/errors/0"));
        let message = message.or(text(event, "/error/message")).or(subtype);
        session.fail(status.or(subtype.map(str::to_owned)), message.unwrap_or("the result is an error"));
    } else {
        session.error = None;
    }
    session.answer = answer.map(|answer| answer.trim().to_owned()).filter(|answer| !answer.is_empty());
}

/// Returns the usage of the whole run, including that of subagents; `None` if the result does not have it.
fn model_usage(event: TapeNode<'_>) -> Option<Usage> {
    let tokens = |key: &str| sum_members(event, "/modelUsage", key);
    let usage = Usage {
        input: tokens("/inputTokens"),
        output: tokens("/outputTokens"),
        reasoning: tokens("/thinkingTokens"),
        cache_read: tokens("/cacheReadInputTokens"),
        cache_write: tokens("/cacheCreationInputTokens"),
        cost: None,
    };
    usage.total().map(|_| usage.without_reasoning_output())
}

impl ClaudeVariant {
    fn usage(&self, event: TapeNode<'_>, pointer: &str) -> Usage {
        let tokens = |key: &str| number(event, &format!("{pointer}/{key}"));
        let reasoning = tokens("output_tokens_details/thinking_tokens");
        let usage = Usage {
            input: tokens("input_tokens"),
            output: tokens("output_tokens"),
            reasoning: reasoning.or(sum_members(event, "/stats/models", "/tokens/thoughts")),
            cache_read: tokens("cache_read_input_tokens"),
            cache_write: tokens("cache_creation_input_tokens"),
            cost: None,
        };
        let usage = usage.without_reasoning_output();
        if self.has_cached_input { usage.without_cached_input() } else { usage }
    }
}
