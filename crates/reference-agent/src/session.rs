//! Runs the engine in a thread of its own. The main thread receives its events, signals and the timeout, and writes the
//! output in the selected protocol. So the run ends in time, whatever the engine is waiting for.

use super::clock::now_ms;
use super::engine;
use super::event::{AgentEvent, TurnOutcome};
use super::exit_code::exit_code;
use super::failure::{Code, Failure};
use super::options::Options;
use super::protocols::{Encoder, Protocol};
use super::run_summary::{Phase, RunSummary};
use super::scratchpad::Scratchpad;
use super::tool_record::ToolError;
use super::tools::{Approve, RunningCommand};
use agentnative_contract::error::{Error, Result};
use agentnative_output::Output;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::Builder;
use std::time::{Duration, Instant};

/// A message to the main thread.
enum Notification {
    Event(AgentEvent),
    Finished(TurnOutcome),
    Signal(i32),
    /// A request to approve a tool call: its text, and the channel for the reply.
    ApprovalRequest(String, Sender<bool>),
}

/// Exit code if the process that reads stdout has closed it: 128 + SIGPIPE.
const EXIT_BROKEN_PIPE: u8 = 141;

/// Runs the query, writes the output and returns the exit code.
pub fn run(options: Options, output: &mut Output) -> u8 {
    let deadline = Instant::now() + Duration::from_secs_f64(options.timeout);
    let (sender, receiver) = channel();
    let running = RunningCommand::default();
    if let Err(error) = listen_for_signals(sender.clone()) {
        output.error(&Error::general(format!("cannot listen for signals: {error}")));
        return 1;
    }
    let mut run = SessionRun::new(options.clone());
    let outcome = match spawn_engine(options, running.clone(), sender) {
        Ok(()) => run.wait_for_outcome(&receiver, deadline, output),
        Err(error) => Some(Err(Failure::new(Code::RuntimeError, format!("cannot start a thread: {error}")))),
    };
    running.stop();
    match outcome {
        Some(outcome) => run.finish(&outcome, output),
        None => EXIT_BROKEN_PIPE,
    }
}

/// Reports a failure that happened before the run could start, in the given protocol. Returns the exit code.
pub fn report_startup_failure(protocol: &'static Protocol, failure: Failure, output: &mut Output) -> u8 {
    SessionRun::new(Options::with_protocol_only(protocol)).finish(&Err(failure), output)
}

fn spawn_engine(
    options: Options,
    running: RunningCommand,
    sender: Sender<Notification>,
) -> std::io::Result<()> {
    let work = move || {
        // Messages are not received any more once the run has ended, so send errors are ignored.
        let mut emit = |event| {
            let _ = sender.send(Notification::Event(event));
        };
        let approval_sender = sender.clone();
        let mut approve: Approve = Box::new(move |tool, arguments| {
            let (reply, answer) = channel();
            let question = format!("{tool} {}", serde_json::Value::Object(arguments.clone()));
            approval_sender.send(Notification::ApprovalRequest(question, reply)).is_ok()
                && answer.recv().unwrap_or(false)
        });
        let run = || engine::run(&options, running, &mut approve, &mut emit);
        let outcome = catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|_| Err(internal_error()));
        let _ = sender.send(Notification::Finished(outcome));
    };
    Builder::new().spawn(work).map(drop)
}

/// Creates the failure for a panic in the agent, so that even a bug is reported in the selected protocol.
fn internal_error() -> Failure {
    Failure::new(Code::RuntimeError, "internal error: this is a bug in the agent")
}

fn listen_for_signals(sender: Sender<Notification>) -> std::io::Result<()> {
    let mut signals = signal_hook::iterator::Signals::new([SIGINT, SIGTERM, SIGHUP])?;
    let listen = move || {
        let mut repeated = false;
        for signal in signals.forever() {
            // The second signal ends the process at once, without the final output.
            if repeated {
                let _ = signal_hook::low_level::emulate_default_handler(signal);
            }
            repeated = true;
            let _ = sender.send(Notification::Signal(signal));
        }
    };
    Builder::new().spawn(listen).map(drop)
}

struct SessionRun {
    encoder: Box<dyn Encoder>,
    summary: RunSummary,
    scratchpad: Option<Scratchpad>,
    options: Options,
    started_at: Instant,
}

impl SessionRun {
    fn new(options: Options) -> Self {
        Self {
            encoder: (options.protocol.encoder)(&options.encoder_settings()),
            summary: RunSummary::new(&options),
            scratchpad: None,
            options,
            started_at: Instant::now(),
        }
    }

    /// Handles messages until the run ends, and returns its outcome. `None` if the process that reads stdout has closed
    /// it.
    fn wait_for_outcome(
        &mut self,
        receiver: &Receiver<Notification>,
        deadline: Instant,
        output: &mut Output,
    ) -> Option<TurnOutcome> {
        loop {
            let failure = match receiver.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok(Notification::Event(event)) => match self.handle_event(&event, output) {
                    Ok(()) if output.is_closed() => return None,
                    Ok(()) => continue,
                    Err(failure) => failure,
                },
                Ok(Notification::Finished(outcome)) => {
                    return Some(outcome.and_then(|answer| self.check_answer(answer)));
                }
                Ok(Notification::ApprovalRequest(question, reply)) => {
                    ask_user(&question, reply, output);
                    continue;
                }
                Ok(Notification::Signal(signal)) => Failure::from_signal(signal),
                Err(RecvTimeoutError::Timeout) => self.timeout_failure(),
                Err(RecvTimeoutError::Disconnected) => internal_error(),
            };
            return Some(Err(failure));
        }
    }

    fn handle_event(&mut self, event: &AgentEvent, output: &mut Output) -> Result<(), Failure> {
        self.summary.add_event(event);
        if let AgentEvent::Start { .. } = event {
            self.open_scratchpad()?;
        }
        if let Some(scratchpad) = &mut self.scratchpad {
            scratchpad.log_event(event);
        }
        // A write error ends the run.
        let written = self.encoder.write_event(event, &self.summary, output);
        written.map_err(|error| Failure::new(Code::RuntimeError, error.message))
    }

    /// Opens the log file of the run (the scratchpad). An error is ignored unless the protocol requires the file.
    fn open_scratchpad(&mut self) -> Result<(), Failure> {
        match Scratchpad::create(&self.options) {
            Ok(scratchpad) => {
                self.summary.scratchpad = Some(scratchpad.path.clone());
                self.scratchpad = Some(scratchpad);
                Ok(())
            }
            Err(error) if self.options.protocol.scratchpad.is_some() => {
                Err(Failure::new(Code::RuntimeError, format!("cannot write the scratchpad: {error}")))
            }
            Err(_) => Ok(()),
        }
    }

    /// Returns the answer as the outcome of the run. If the answer is empty and the protocol does not allow that,
    /// returns a failure.
    fn check_answer(&self, answer: String) -> TurnOutcome {
        if answer.is_empty() && !self.options.protocol.allows_empty_answer {
            return Err(Failure::new(Code::EmptyAnswer, "the model returned no answer"));
        }
        Ok(answer)
    }

    fn timeout_failure(&self) -> Failure {
        let seconds = Duration::from_secs_f64(self.options.timeout).as_secs_f64();
        let (code, what) = match self.summary.phase {
            Phase::Model => (Code::FetchTimeout, "the model has not answered"),
            Phase::Preparing => (Code::TimedOut, "the query was not read"),
            Phase::Tools => (Code::TimedOut, "the tools have not ended"),
        };
        Failure::new(code, format!("{what} within {seconds} s")).with_hint("raise --timeout")
    }

    fn finish(mut self, outcome: &TurnOutcome, output: &mut Output) -> u8 {
        let failure = outcome.as_ref().err();
        let reported = self.options.protocol.reported_signals;
        let unreported = failure.filter(|it| it.signal.is_some_and(|signal| !reported.contains(&signal)));
        // An interrupted tool call gets a result before the run ends.
        if let (Some(_), None, Some(call)) = (failure, unreported, self.summary.open_call.clone()) {
            let duration = now_ms().saturating_sub(call.started);
            let record = call.finish(Err(ToolError::execution_error("the run was interrupted")), duration);
            let _ = self.handle_event(&AgentEvent::ToolResult(record), output);
        }
        if let Some(scratchpad) = &mut self.scratchpad {
            scratchpad.log_outcome(outcome);
        }
        if let Some(failure) = unreported {
            return failure.exit_code();
        }
        self.summary.finish(outcome, self.started_at.elapsed());
        let code = self.encoder.write_outcome(outcome, &self.summary, output);
        exit_code(code, output)
    }
}

/// Asks the user at the terminal whether to run a tool, and sends the answer to `reply`. A thread reads the answer, so
/// that signals and the timeout are still handled.
fn ask_user(question: &str, reply: Sender<bool>, output: &mut Output) {
    output.question(&format!("run {question}? [y/N] "));
    let read_answer = move || {
        let mut line = String::new();
        let result = std::io::stdin().read_line(&mut line);
        let approved = result.is_ok() && matches!(line.trim(), "y" | "Y" | "yes");
        // The reply is not needed any more if the run has ended meanwhile.
        let _ = reply.send(approved);
    };
    // Without the thread, `reply` is dropped, which denies the call.
    let _ = Builder::new().spawn(read_answer);
}
