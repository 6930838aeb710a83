//! The loop: query, model, tools, model, until the model has its final word or the turns are used up.

use super::attach;
use super::clock::millis;
use super::event::{Event, Outcome};
use super::failure::{Code, Failure, Result};
use super::model::{Message, Provider, ToolSpec, Turn};
use super::modes::{ApprovalMode, ToolsMode};
use super::options::Options;
use super::providers;
use super::query;
use super::tools::{Approve, RunningCommand, Toolbox, Workspace};
use std::io::IsTerminal as _;
use std::time::Duration;

/// Longest wait that a provider may ask for.
const MAX_WAIT: Duration = Duration::from_secs(60);
/// Longest wait of our own.
const MAX_BACKOFF: Duration = Duration::from_secs(8);

const SYSTEM: &str = "You are an agent with tools that work in one folder. Use them to do what the user \
                      asks for, then answer in a few words.";

/// Runs a query to its final answer, and emits all events on the way.
pub fn run(
    options: &Options,
    running: RunningCommand,
    approve: &mut Approve,
    emit: &mut dyn FnMut(Event),
) -> Outcome {
    if options.approval_mode == ApprovalMode::Ask && !std::io::stdin().is_terminal() {
        let message = "--approval-mode ask requires stdin to be a terminal";
        return Err(Failure::new(Code::InteractiveApprovalTty, message).hint("use auto or never"));
    }
    let query = query::read(&options.query)?;
    emit(Event::Query { text: query.clone(), attached: Vec::new() });
    let attached = attach::read(&options.attach, options.attachments)?;
    let workspace = Workspace::open(options.workspace(), running)?;
    let toolbox = Toolbox::new(workspace, options.profile, options.approval_mode);
    let mut provider = providers::open(options)?;
    let (name, model) = options.provider_and_model();
    if !attached.images.is_empty() && !provider.sees_images() {
        return Err(Failure::new(
            Code::VisionNotSupported,
            format!("{name}/{model} does not support images"),
        ));
    }
    emit(Event::Query { text: query.clone(), attached: attached.list });
    let mut specs = if options.tools_mode == ToolsMode::Off { Vec::new() } else { toolbox.specs() };
    emit(Event::Start {
        query: query.clone(),
        provider: name.to_owned(),
        model: model.to_owned(),
        tools: !specs.is_empty(),
    });
    let mut messages = vec![
        Message::System(options.system.clone().unwrap_or_else(|| SYSTEM.to_owned())),
        Message::User { text: query + &attached.text, images: attached.images },
    ];
    for number in 1..=u64::from(options.max_tool_turns) {
        emit(Event::Turn { turn: number });
        let turn = take_turn(options, number, provider.as_mut(), &messages, &mut specs, emit)?;
        emit(Event::TurnEnded(turn.usage));
        if turn.calls.is_empty() {
            return Ok(turn.text.trim().to_owned());
        }
        let calls = turn.calls.clone();
        messages.push(Message::Assistant(turn));
        for call in &calls {
            let record = toolbox.call(call, &|text| provider.hide(text), approve, emit);
            messages.push(Message::Tool(record));
        }
    }
    let message = format!("no final answer within {} turns", options.max_tool_turns);
    Err(Failure::new(Code::MaxToolTurnsNoFinal, message).hint("raise --max-tool-turns"))
}

/// One turn, asked for again while that may help.
fn take_turn(
    options: &Options,
    turn: u64,
    provider: &mut dyn Provider,
    messages: &[Message],
    specs: &mut Vec<ToolSpec>,
    emit: &mut dyn FnMut(Event),
) -> Result<Turn> {
    let mut attempt = 0;
    loop {
        let mut words = |text: &str| emit(Event::Text { turn, text: text.to_owned() });
        let failure = match provider.turn(messages, specs, &mut words) {
            Ok(turn) => return Ok(turn),
            Err(failure) => failure,
        };
        let auto = options.tools_mode == ToolsMode::Auto && !specs.is_empty();
        if auto && failure.code == Code::ToolsNotSupported {
            specs.clear();
            emit(Event::ToolsRefused);
            continue;
        }
        if !failure.retryable {
            return Err(failure);
        }
        let after = failure.retry_after;
        let too_long = after.is_some_and(|after| after > MAX_WAIT);
        if attempt == options.max_retries || too_long {
            return Err(exhausted(failure, attempt, after.filter(|_| too_long)));
        }
        attempt += 1;
        let wait = after.unwrap_or_else(|| backoff(options.retry_base_ms, attempt));
        emit(Event::Retry { turn, attempt, message: failure.message, wait_ms: millis(wait) });
        std::thread::sleep(wait);
    }
}

/// The last failure, told as the end of all attempts when there were several.
fn exhausted(failure: Failure, retries: u32, requested: Option<Duration>) -> Failure {
    let code = match failure.code {
        Code::ProviderError if retries > 0 || requested.is_some() => Code::RetryExhausted,
        code => code,
    };
    let message = match (requested, retries) {
        (Some(wait), _) => format!("{} (retry after {} s)", failure.message, wait.as_secs()),
        (None, 0) => failure.message.clone(),
        (None, retries) => format!("{} (after {retries} retries)", failure.message),
    };
    Failure { code, message, ..failure }
}

/// The base, doubled with each attempt, up to a limit; of that, a half to the whole by chance, so
/// that many agents do not come back at once.
fn backoff(base_ms: u64, attempt: u32) -> Duration {
    let base = Duration::from_millis(base_ms.min(60_000));
    let wait = base.saturating_mul(1 << (attempt - 1).min(16)).min(MAX_BACKOFF);
    let chance = (super::clock::fresh() % 1000) as f64 / 1000.0;
    wait.mul_f64(0.5 + chance / 2.0)
}
