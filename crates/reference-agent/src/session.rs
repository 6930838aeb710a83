//! One run from the outside: a thread works, this one listens to it, to signals and to the clock, and
//! has the protocol write what happens. So whatever the work waits for, the run ends in time.

use super::clock::now_ms;
use super::engine;
use super::event::{Event, Outcome};
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

/// What this thread receives.
enum Notification {
    Event(Event),
    Ended(Outcome),
    Signal(i32),
    /// May this tool run? The answer goes to the sender.
    Ask(String, Sender<bool>),
}

/// 128 + SIGPIPE: the reader of standard output has gone.
const READER_GONE: u8 = 141;

/// Runs the query, has it written, and gives the exit code.
pub fn run(options: Options, output: &mut Output) -> u8 {
    let deadline = Instant::now() + Duration::from_secs_f64(options.timeout);
    let (sender, receiver) = channel();
    let running = RunningCommand::default();
    if let Err(error) = listen_for_signals(sender.clone()) {
        output.error(&Error::general(format!("cannot listen for signals: {error}")));
        return 1;
    }
    let mut run = Run::new(options.clone());
    let outcome = match spawn_engine(options, running.clone(), sender) {
        Ok(()) => run.listen(&receiver, deadline, output),
        Err(error) => Some(Err(Failure::new(Code::RuntimeError, format!("cannot start a thread: {error}")))),
    };
    running.end();
    match outcome {
        Some(outcome) => run.end(&outcome, output),
        None => READER_GONE,
    }
}

/// Writes the failure of a run that cannot begin, and gives the exit code.
pub fn refuse(protocol: &'static Protocol, failure: Failure, output: &mut Output) -> u8 {
    Run::new(Options::unknown(protocol)).end(&Err(failure), output)
}

fn spawn_engine(
    options: Options,
    running: RunningCommand,
    sender: Sender<Notification>,
) -> std::io::Result<()> {
    let work = move || {
        // A message that nobody receives any more is for a run that is over.
        let mut emit = |event| {
            let _ = sender.send(Notification::Event(event));
        };
        let asking = sender.clone();
        let mut approve: Approve = Box::new(move |tool, arguments| {
            let (reply, answer) = channel();
            let question = format!("{tool} {}", serde_json::Value::Object(arguments.clone()));
            asking.send(Notification::Ask(question, reply)).is_ok() && answer.recv().unwrap_or(false)
        });
        let run = || engine::run(&options, running, &mut approve, &mut emit);
        let outcome = catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|_| Err(defect()));
        let _ = sender.send(Notification::Ended(outcome));
    };
    Builder::new().spawn(work).map(drop)
}

/// A defect of the agent itself still ends as the contract says.
fn defect() -> Failure {
    Failure::new(Code::RuntimeError, "internal error: this is a bug in the agent")
}

fn listen_for_signals(sender: Sender<Notification>) -> std::io::Result<()> {
    let mut signals = signal_hook::iterator::Signals::new([SIGINT, SIGTERM, SIGHUP])?;
    let listen = move || {
        let mut repeated = false;
        for signal in signals.forever() {
            // Whoever sends it twice is not made to wait for the end to be written.
            if repeated {
                let _ = signal_hook::low_level::emulate_default_handler(signal);
            }
            repeated = true;
            let _ = sender.send(Notification::Signal(signal));
        }
    };
    Builder::new().spawn(listen).map(drop)
}

struct Run {
    encoder: Box<dyn Encoder>,
    summary: RunSummary,
    scratchpad: Option<Scratchpad>,
    options: Options,
    began: Instant,
}

impl Run {
    fn new(options: Options) -> Self {
        Self {
            encoder: (options.protocol.encoder)(&options.encoder_settings()),
            summary: RunSummary::new(&options),
            scratchpad: None,
            options,
            began: Instant::now(),
        }
    }

    /// Passes events on until the end; none when the reader of the output has gone.
    fn listen(
        &mut self,
        receiver: &Receiver<Notification>,
        deadline: Instant,
        output: &mut Output,
    ) -> Option<Outcome> {
        loop {
            let failure = match receiver.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok(Notification::Event(event)) => match self.event(&event, output) {
                    Ok(()) if output.is_closed() => return None,
                    Ok(()) => continue,
                    Err(failure) => failure,
                },
                Ok(Notification::Ended(outcome)) => {
                    return Some(outcome.and_then(|answer| self.accept(answer)));
                }
                Ok(Notification::Ask(question, reply)) => {
                    ask(&question, reply, output);
                    continue;
                }
                Ok(Notification::Signal(signal)) => Failure::signal(signal),
                Err(RecvTimeoutError::Timeout) => self.timed_out(),
                Err(RecvTimeoutError::Disconnected) => defect(),
            };
            return Some(Err(failure));
        }
    }

    fn event(&mut self, event: &Event, output: &mut Output) -> Result<(), Failure> {
        self.summary.add(event);
        if let Event::Start { .. } = event {
            self.open_scratchpad()?;
        }
        if let Some(scratchpad) = &mut self.scratchpad {
            scratchpad.event(event);
        }
        // What could not be written ends the run.
        let written = self.encoder.event(event, &self.summary, output);
        written.map_err(|error| Failure::new(Code::RuntimeError, error.message))
    }

    /// The scratchpad is best effort, except where the contract promises it.
    fn open_scratchpad(&mut self) -> Result<(), Failure> {
        match Scratchpad::create(&self.options) {
            Ok(scratchpad) => {
                self.summary.scratchpad = Some(scratchpad.name.clone());
                self.scratchpad = Some(scratchpad);
                Ok(())
            }
            Err(error) if self.options.protocol.scratchpad.is_some() => {
                Err(Failure::new(Code::RuntimeError, format!("cannot write the scratchpad: {error}")))
            }
            Err(_) => Ok(()),
        }
    }

    /// An answer without a word is a failure where the contract has no place for it.
    fn accept(&self, answer: String) -> Outcome {
        if answer.is_empty() && !self.options.protocol.takes_empty_answer {
            return Err(Failure::new(Code::EmptyAnswer, "the model returned no answer"));
        }
        Ok(answer)
    }

    fn timed_out(&self) -> Failure {
        let seconds = Duration::from_secs_f64(self.options.timeout).as_secs_f64();
        let (code, what) = match self.summary.phase {
            Phase::Model => (Code::FetchTimeout, "the model has not answered"),
            Phase::Preparing => (Code::TimedOut, "the query was not read"),
            Phase::Tools => (Code::TimedOut, "the tools have not ended"),
        };
        Failure::new(code, format!("{what} within {seconds} s")).hint("raise --timeout")
    }

    fn end(mut self, outcome: &Outcome, output: &mut Output) -> u8 {
        let failure = outcome.as_ref().err();
        let reported = self.options.protocol.reported_signals;
        let silent = failure.filter(|it| it.signal.is_some_and(|signal| !reported.contains(&signal)));
        // A tool that was cut off ends before the run does.
        if let (Some(_), None, Some(call)) = (failure, silent, self.summary.open.clone()) {
            let duration = now_ms().saturating_sub(call.started);
            let record = call.finish(Err(ToolError::execution("the run was interrupted")), duration);
            let _ = self.event(&Event::ToolResult(record), output);
        }
        if let Some(scratchpad) = &mut self.scratchpad {
            scratchpad.end(outcome);
        }
        if let Some(failure) = silent {
            return failure.exit_code();
        }
        self.summary.finish(outcome, self.began.elapsed());
        let code = self.encoder.end(outcome, &self.summary, output);
        exit_code(code, output)
    }
}

/// Asks the person at the terminal. A thread reads the answer, so that signals and the clock are heard.
fn ask(question: &str, reply: Sender<bool>, output: &mut Output) {
    output.question(&format!("run {question}? [y/N] "));
    let read = move || {
        let mut line = String::new();
        let read = std::io::stdin().read_line(&mut line);
        let yes = read.is_ok() && matches!(line.trim(), "y" | "Y" | "yes");
        // Nobody waits any more when the run has ended meanwhile.
        let _ = reply.send(yes);
    };
    // An answer that nobody reads is no.
    let _ = Builder::new().spawn(read);
}
