//! Exports a run in ATIF, harbor's Agent Trajectory Interchange Format.

use super::RunOutcome;
use super::arithmetic::{round_cost, sum};
use super::session::Session;
use super::state::Mapper;
use super::times::format_rfc3339;
use super::trace::{StepSource, TraceStep};
use super::types::Quantity;
use super::usage::Usage;
use serde::Serialize;
use serde_json::{Map, Value, json};

const VERSION: &str = "ATIF-v1.8";

/// A run with its steps, as a document in ATIF.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Trajectory {
    schema_version: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    session_id: Option<String>,
    agent: Agent,
    steps: Vec<AtifStep>,
    final_metrics: FinalMetrics,
    extra: Extra,
}

/// Success and error of the run, for which ATIF has no members.
#[derive(Debug, Clone, PartialEq, Serialize)]
struct Extra {
    success: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
struct Agent {
    name: &'static str,
    version: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    model_name: Option<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize)]
struct AtifStep {
    step_id: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    timestamp: Option<String>,
    source: &'static str,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_content: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<Call>,
    #[serde(skip_serializing_if = "Option::is_none")]
    observation: Option<AtifObservation>,
    #[serde(skip_serializing_if = "Option::is_none")]
    metrics: Option<Metrics>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
struct Call {
    tool_call_id: String,
    function_name: String,
    arguments: Map<String, Value>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
struct AtifObservation {
    results: Vec<ObservationResult>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
struct ObservationResult {
    source_call_id: String,
    content: String,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
struct Metrics {
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt_tokens: Option<Quantity>,
    #[serde(skip_serializing_if = "Option::is_none")]
    completion_tokens: Option<Quantity>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cached_tokens: Option<Quantity>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cost_usd: Option<Quantity>,
    #[serde(skip_serializing_if = "Map::is_empty")]
    extra: Map<String, Value>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
struct FinalMetrics {
    #[serde(skip_serializing_if = "Option::is_none")]
    total_prompt_tokens: Option<Quantity>,
    #[serde(skip_serializing_if = "Option::is_none")]
    total_completion_tokens: Option<Quantity>,
    #[serde(skip_serializing_if = "Option::is_none")]
    total_cached_tokens: Option<Quantity>,
    #[serde(skip_serializing_if = "Option::is_none")]
    total_cost_usd: Option<Quantity>,
    total_steps: usize,
    #[serde(skip_serializing_if = "Map::is_empty")]
    extra: Map<String, Value>,
}

/// Creates the trajectory from the steps of a session and the outcome of the run.
pub(super) fn trajectory(
    mapper: Option<&Mapper>,
    session: Option<&Session>,
    outcome: RunOutcome,
) -> Trajectory {
    let trace_step = session.and_then(|session| Some((session, session.trace.as_ref()?)));
    let trace_step = trace_step
        .into_iter()
        .flat_map(|(session, trace)| trace.steps.iter().map(move |step| (session, step)));
    let mut steps: Vec<AtifStep> =
        trace_step.map(|(session, trace_step)| step(session, trace_step)).collect();
    let prompt = outcome.metadata.as_ref().and_then(|metadata| metadata.initial_prompt.clone());
    if let Some(message) = prompt.filter(|_| steps.iter().all(|step| step.source != "user")) {
        steps.insert(0, AtifStep { source: "user", message, ..AtifStep::default() });
    }
    if steps.is_empty() {
        // ATIF requires at least one step.
        let message = outcome.error.clone().unwrap_or_else(|| "no steps".to_owned());
        steps.push(AtifStep { source: "system", message, ..AtifStep::default() });
    }
    for (index, step) in steps.iter_mut().enumerate() {
        step.step_id = index + 1;
    }
    let used = metrics(&session.map(Session::total_usage).unwrap_or_default());
    Trajectory {
        schema_version: VERSION,
        session_id: outcome.session_id,
        agent: Agent {
            name: mapper.map_or("unknown", |mapper| mapper.agent),
            version: session
                .and_then(|session| session.version.clone())
                .unwrap_or_else(|| "unknown".to_owned()),
            model_name: outcome.metrics.and_then(|metrics| metrics.model_name),
        },
        final_metrics: FinalMetrics {
            total_prompt_tokens: used.prompt_tokens,
            total_completion_tokens: used.completion_tokens,
            total_cached_tokens: used.cached_tokens,
            total_cost_usd: used.cost_usd,
            total_steps: steps.len(),
            extra: used.extra,
        },
        steps,
        extra: Extra { success: outcome.success, error: outcome.error },
    }
}

fn step(session: &Session, trace_step: &TraceStep) -> AtifStep {
    let (mut tool_calls, mut results) = (Vec::new(), Vec::new());
    for index in &trace_step.calls {
        let (id, name, input, output) = session.calls.details(*index);
        let arguments = match input {
            Some(Value::Object(members)) => members.clone(),
            Some(Value::Null) | None => Map::new(),
            Some(other) => Map::from_iter([("value".to_owned(), other.clone())]),
        };
        tool_calls.push(Call { tool_call_id: id.to_owned(), function_name: name.to_owned(), arguments });
        let content = output.map(str::to_owned);
        results.extend(content.map(|content| ObservationResult { source_call_id: id.to_owned(), content }));
    }
    AtifStep {
        step_id: 0,
        timestamp: trace_step.time.and_then(format_rfc3339),
        source: if trace_step.source == StepSource::User { "user" } else { "agent" },
        message: trace_step.message(),
        reasoning_content: trace_step.reasoning(),
        tool_calls,
        observation: Some(AtifObservation { results }).filter(|observation| !observation.results.is_empty()),
        metrics: trace_step.usage.as_ref().map(metrics),
    }
}

fn metrics(usage: &Usage) -> Metrics {
    let cached = sum(usage.cache_read, usage.cache_write);
    let others = [("reasoning_tokens", usage.reasoning), ("cache_write_tokens", usage.cache_write)];
    let others =
        others.into_iter().filter_map(|(key, tokens)| Some((key, tokens.filter(|tokens| *tokens > 0.0)?)));
    Metrics {
        prompt_tokens: sum(usage.input, cached).map(Quantity),
        completion_tokens: sum(usage.output, usage.reasoning).map(Quantity),
        cached_tokens: usage.cache_read.map(Quantity),
        cost_usd: usage.cost.map(round_cost).map(Quantity),
        extra: others.map(|(key, tokens)| (key.to_owned(), json!(Quantity(tokens)))).collect(),
    }
}
