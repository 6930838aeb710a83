//! The agent loop: sends the query to the model and runs the tools that it calls, until it gives a final answer
//! or the turn limit is reached.

use super::attach;
use super::clock::millis;
use super::event::{AgentEvent, TurnOutcome};
use super::failure::{Code, Failure, Result};
use super::model::{Message, Provider, ToolSpec, Turn};
use super::modes::{ApprovalMode, ToolsMode};
use super::options::Options;
use super::providers;
use super::query;
use super::tools::{AgentWorkspace, Approve, RunningCommand, Toolbox};
use std::io::IsTerminal as _;
use std::time::Duration;

/// Longest wait before a retry that a provider may request. A request for a longer wait ends the run.
const MAX_RETRY_AFTER: Duration = Duration::from_secs(60);
/// Longest wait before a retry if the provider requests none.
const MAX_BACKOFF: Duration = Duration::from_secs(8);

const SYSTEM_PROMPT: &str = "You are an agent with tools that work in one folder. Use them to do what the user \
                      asks for, then answer in a few words.";

/// Runs the query of the options to its final answer, which is returned. `emit` receives the events of the run.
pub fn run(
    options: &Options,
    running: RunningCommand,
    approve: &mut Approve,
    emit: &mut dyn FnMut(AgentEvent),
) -> TurnOutcome {
    if options.approval_mode == ApprovalMode::Ask && !std::io::stdin().is_terminal() {
        let message = "--approval-mode ask requires stdin to be a terminal";
        return Err(Failure::new(Code::InteractiveApprovalTty, message).with_hint("use auto or never"));
    }
    let query = query::read(&options.query)?;
    emit(AgentEvent::Query { text: query.clone(), attached: Vec::new() });
    let attached = attach::read(&options.attach, options.attachments)?;
    let workspace = AgentWorkspace::open(options.workspace(), running)?;
    let toolbox = Toolbox::new(workspace, options.profile, options.approval_mode);
    let mut provider = providers::open(options)?;
    let (name, model) = options.provider_and_model();
    if !attached.images.is_empty() && !provider.supports_images() {
        return Err(Failure::new(
            Code::VisionNotSupported,
            format!("{name}/{model} does not support images"),
        ));
    }
    emit(AgentEvent::Query { text: query.clone(), attached: attached.list });
    let mut specs = if options.tools_mode == ToolsMode::Off { Vec::new() } else { toolbox.specs() };
    emit(AgentEvent::Start {
        query: query.clone(),
        provider: name.to_owned(),
        model: model.to_owned(),
        tools: !specs.is_empty(),
    });
    let mut messages = vec![
        Message::System(options.system.clone().unwrap_or_else(|| SYSTEM_PROMPT.to_owned())),
        Message::User { text: query + &attached.text, images: attached.images },
    ];
    for number in 1..=u64::from(options.max_tool_turns) {
        emit(AgentEvent::Turn { turn: number });
        let turn = turn_with_retries(options, number, provider.as_mut(), &messages, &mut specs, emit)?;
        emit(AgentEvent::TurnEnded(turn.usage));
        if turn.calls.is_empty() {
            return Ok(turn.text.trim().to_owned());
        }
        let calls = turn.calls.clone();
        messages.push(Message::Assistant(turn));
        for call in &calls {
            let record = toolbox.call(call, &|text| provider.redact(text), approve, emit);
            messages.push(Message::Tool(record));
        }
    }
    let message = format!("no final answer within {} turns", options.max_tool_turns);
    Err(Failure::new(Code::MaxToolTurnsNoFinal, message).with_hint("raise --max-tool-turns"))
}

/// Requests one turn (one response) from the model, and retries failed requests. If the model does not support tools,
/// clears `specs` and continues without tools.
fn turn_with_retries(
    options: &Options,
    turn: u64,
    provider: &mut dyn Provider,
    messages: &[Message],
    specs: &mut Vec<ToolSpec>,
    emit: &mut dyn FnMut(AgentEvent),
) -> Result<Turn> {
    let mut attempt = 0;
    loop {
        let mut emit_text = |text: &str| emit(AgentEvent::Text { turn, text: text.to_owned() });
        let failure = match provider.turn(messages, specs, &mut emit_text) {
            Ok(turn) => return Ok(turn),
            Err(failure) => failure,
        };
        let may_drop_tools = options.tools_mode == ToolsMode::Auto && !specs.is_empty();
        if may_drop_tools && failure.code == Code::ToolsNotSupported {
            specs.clear();
            emit(AgentEvent::ToolsRefused);
            continue;
        }
        if !failure.retryable {
            return Err(failure);
        }
        let requested = failure.retry_after;
        let too_long = requested.is_some_and(|wait| wait > MAX_RETRY_AFTER);
        if attempt == options.max_retries || too_long {
            return Err(final_failure(failure, attempt, requested.filter(|_| too_long)));
        }
        attempt += 1;
        let wait = requested.unwrap_or_else(|| backoff(options.retry_base_ms, attempt));
        emit(AgentEvent::Retry { turn, attempt, message: failure.message, wait_ms: millis(wait) });
        std::thread::sleep(wait);
    }
}

/// Completes the failure of the last attempt of a turn: adds to its message the number of retries, or the requested
/// wait if it was too long.
fn final_failure(failure: Failure, retries: u32, too_long: Option<Duration>) -> Failure {
    let code = match failure.code {
        Code::ProviderError if retries > 0 || too_long.is_some() => Code::RetryExhausted,
        code => code,
    };
    let message = match (too_long, retries) {
        (Some(wait), _) => format!("{} (retry after {} s)", failure.message, wait.as_secs()),
        (None, 0) => failure.message.clone(),
        (None, retries) => format!("{} (after {retries} retries)", failure.message),
    };
    Failure { code, message, ..failure }
}

/// Returns the wait before a retry: `base_ms`, doubled with each attempt, at most [`MAX_BACKOFF`]. A random part of up
/// to one half is subtracted, so that several agents do not retry at the same time.
fn backoff(base_ms: u64, attempt: u32) -> Duration {
    let base = Duration::from_millis(base_ms.min(60_000));
    let wait = base.saturating_mul(1 << (attempt - 1).min(16)).min(MAX_BACKOFF);
    let jitter = (super::clock::random() % 1000) as f64 / 1000.0;
    wait.mul_f64(0.5 + jitter / 2.0)
}
