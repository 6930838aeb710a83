//! One run from the outside: a thread works, this one listens to it, to signals and to the clock,
//! and lets the contract speak. So whatever the work waits for, the end is told in time and whole.

use super::engine;
use super::event::{Ending, Event};
use super::failure::{Code, Failure};
use super::ledger::{Ledger, Phase};
use super::options::Options;
use super::scratchpad::Scratchpad;
use super::speak::Speaker;
use super::tools::Running;
use agentnative_contract::error::Result;
use agentnative_output::Output;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Instant;

/// What this thread hears.
enum Note {
    Event(Event),
    Ended(Ending),
    Signal(i32),
    /// May this tool run? The answer goes to the sender.
    Ask(String, Sender<bool>),
}

/// 128 + SIGPIPE: the reader of standard output has gone.
const READER_GONE: u8 = 141;

/// Runs the query, tells of it, and gives the exit code.
pub fn run(options: Options, output: &mut Output) -> u8 {
    let deadline = Instant::now() + options.timeout;
    let (notes, heard) = channel();
    let running = Running::default();
    if let Err(error) = listen_for_signals(notes.clone()) {
        output.error(&agentnative_contract::error::Error::general(format!(
            "cannot listen for signals: {error}"
        )));
        return 1;
    }
    let mut run = Run {
        speaker: options.contract.speaker(&options),
        ledger: Ledger::new(&options.provider, &options.model),
        scratchpad: None,
        options: options.clone(),
    };
    work(options, running.clone(), notes);
    let ending = run.listen(&heard, deadline, output);
    running.end();
    run.end(ending, output)
}

fn work(options: Options, running: Running, notes: Sender<Note>) {
    std::thread::spawn(move || {
        // A note that nobody hears any more is for a run that is over.
        let mut tell = |event| {
            let _ = notes.send(Note::Event(event));
        };
        let asking = notes.clone();
        let mut approve: super::tools::Approve = Box::new(move |tool, arguments| {
            let (reply, answer) = channel();
            let question = format!("{tool} {}", serde_json::Value::Object(arguments.clone()));
            asking.send(Note::Ask(question, reply)).is_ok() && answer.recv().unwrap_or(false)
        });
        let run = || engine::run(&options, running, &mut approve, &mut tell);
        let ending = catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|_| Ending::Failed(fell_over()));
        let _ = notes.send(Note::Ended(ending));
    });
}

/// A defect of the agent itself still ends as the contract says.
fn fell_over() -> Failure {
    Failure::new(Code::RuntimeError, "the agent fell over: this is a defect in it")
}

fn listen_for_signals(notes: Sender<Note>) -> std::io::Result<()> {
    let mut signals = signal_hook::iterator::Signals::new([SIGINT, SIGTERM, SIGHUP])?;
    std::thread::spawn(move || {
        let mut told = false;
        for signal in signals.forever() {
            // Whoever says it twice is not made to wait for a last word.
            if told {
                let _ = signal_hook::low_level::emulate_default_handler(signal);
            }
            told = true;
            let _ = notes.send(Note::Signal(signal));
        }
    });
    Ok(())
}

struct Run {
    speaker: Box<dyn Speaker>,
    ledger: Ledger,
    scratchpad: Option<Scratchpad>,
    options: Options,
}

impl Run {
    /// Passes events on until the end; none when there is nobody left to tell it to.
    fn listen(&mut self, heard: &Receiver<Note>, deadline: Instant, output: &mut Output) -> Option<Ending> {
        loop {
            let failure = match heard.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok(Note::Event(event)) => match self.event(&event, output) {
                    Ok(()) if output.is_closed() => return None,
                    Ok(()) => continue,
                    Err(failure) => failure,
                },
                Ok(Note::Ended(ending)) => return Some(self.judge(ending)),
                Ok(Note::Ask(question, reply)) => {
                    ask(&question, reply, output);
                    continue;
                }
                Ok(Note::Signal(signal)) => Failure::signal(signal),
                Err(RecvTimeoutError::Timeout) => self.timed_out(),
                Err(RecvTimeoutError::Disconnected) => fell_over(),
            };
            return Some(Ending::Failed(failure));
        }
    }

    fn event(&mut self, event: &Event, output: &mut Output) -> Result<(), Failure> {
        self.ledger.add(event);
        if let Event::Started { .. } = event {
            self.open_scratchpad()?;
        }
        if let Some(scratchpad) = &mut self.scratchpad {
            scratchpad.event(event);
        }
        told(self.speaker.event(event, &self.ledger, output))
    }

    /// The scratchpad is best effort, except where the contract promises it.
    fn open_scratchpad(&mut self) -> Result<(), Failure> {
        match Scratchpad::create(&self.options) {
            Ok(mut scratchpad) => {
                scratchpad.query(&self.ledger.query);
                self.ledger.scratchpad.clone_from(&scratchpad.name);
                self.scratchpad = Some(scratchpad);
                Ok(())
            }
            Err(error) if self.options.contract.is_dexter() => {
                Err(Failure::new(Code::RuntimeError, format!("cannot write the scratchpad: {error}")))
            }
            Err(_) => Ok(()),
        }
    }

    /// An answer without a word is a failure where the contract has no place for it.
    fn judge(&self, ending: Ending) -> Ending {
        match ending {
            Ending::Answer(answer) if answer.is_empty() && !self.speaker.takes_empty_answer() => {
                Ending::Failed(Failure::new(Code::EmptyAnswer, "the model ended without an answer"))
            }
            ending => ending,
        }
    }

    fn timed_out(&self) -> Failure {
        let seconds = self.options.timeout.as_secs_f64();
        let (code, what) = match self.ledger.phase {
            Phase::Model => (Code::FetchTimeout, "the model has not answered"),
            Phase::Preparing => (Code::TimedOut, "the query was not read"),
            Phase::Tools => (Code::TimedOut, "the tools have not ended"),
        };
        Failure::new(code, format!("{what} within {seconds} s")).hint("raise --timeout")
    }

    fn end(mut self, ending: Option<Ending>, output: &mut Output) -> u8 {
        let Some(ending) = ending else { return READER_GONE };
        // Events of a tool that was cut off are told before the end.
        if let (Ending::Failed(failure), Some(record)) = (&ending, self.ledger.cut_off("the run was cut off"))
        {
            let silent = failure.signal.is_some() && !self.speaker.tells_of_signals();
            if !silent {
                let _ = self.event(&Event::ToolFinished(record), output);
            }
        }
        if let Some(scratchpad) = &mut self.scratchpad {
            scratchpad.end(&ending);
        }
        match self.speaker.end(&ending, &self.ledger, output) {
            Ok(code) => code,
            Err(error) => {
                output.error(&error);
                error.kind.exit_code()
            }
        }
    }
}

/// What could not be written ends the run.
fn told(result: Result<()>) -> Result<(), Failure> {
    result.map_err(|error| Failure::new(Code::RuntimeError, error.message))
}

/// Asks the person at the terminal. The answer is read aside, so that signals and the clock are heard.
fn ask(question: &str, reply: Sender<bool>, output: &mut Output) {
    output.question(&format!("run {question}? [y/N] "));
    std::thread::spawn(move || {
        let mut line = String::new();
        let read = std::io::stdin().read_line(&mut line);
        let yes = read.is_ok() && matches!(line.trim(), "y" | "Y" | "yes");
        // Nobody waits any more when the run has ended meanwhile.
        let _ = reply.send(yes);
    });
}
