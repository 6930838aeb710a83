//! Everything that this program writes to standard output and standard error.
#![doc = include_str!("../README.md")]
//!
//! Whatever is written passes the sanitiser on the way: text in [`Output`] itself, JSON in
//! [`json::to_string`].

#![cfg_attr(not(test), warn(clippy::unwrap_used, clippy::disallowed_macros, clippy::disallowed_methods))]

#[cfg(feature = "clap")]
mod arguments;
mod config;
mod emit;
mod envelope;
mod json;
mod pace;
mod page;
#[cfg(feature = "startup")]
mod startup;

pub use agentnative_contract::OutputFormat;
#[cfg(feature = "clap")]
pub use arguments::{asked_format, asked_values, clap_error, whole_number};
pub use config::{ColorChoice, ColorEnv, DEFAULT_WIDTH, OutputConfig, use_color};
pub use emit::Row;
pub use envelope::{Envelope, ErrorIssue, ErrorObject};
pub use json::{pretty, to_string};
pub use pace::time_left;
pub use page::{Cell, Page, Tone, columns, expand_tabs};
#[cfg(feature = "startup")]
pub use startup::close_stdout_on_exec;

use agentnative_contract::error::{Error, ErrorKind as Kind, Result};
use serde::Serialize;
use std::io::{self, ErrorKind, IsTerminal as _, Stderr, Stdout, Write};
use std::time::Duration;
use strict_json::sanitize;

/// When a log gets the first line of progress: a command that is quick writes none.
const FIRST_LOG: Duration = Duration::from_secs(10);
/// How long after a line of progress a log gets the next.
const NEXT_LOG: Duration = Duration::from_secs(30);

/// The two streams of this process.
///
/// A closed standard output is no error: what is written afterwards goes nowhere, and
/// [`Output::is_closed`] says so. Where it cannot be written for another reason, that is a general error
/// of whatever writes to it. Standard error is best effort.
#[derive(Debug)]
pub struct Output<O: Write = Stdout, E: Write = Stderr> {
    config: OutputConfig,
    out: O,
    err: E,
    closed: bool,
    progress_shown: bool,
    /// When the last line of progress was written to a log, since the work began.
    logged: Option<Duration>,
    /// Tells how wide the terminal of stdout is now: people change that while a command works.
    measure: fn() -> Option<usize>,
    /// The same of stderr, where progress is drawn.
    measure_err: fn() -> Option<usize>,
    /// Fails where what is written to stdout would be lost.
    check: fn() -> io::Result<()>,
}

impl Output {
    /// The real streams. They are not held locked, so a panic in another thread can still speak.
    #[expect(clippy::disallowed_methods, reason = "the one place that writes to the streams")]
    pub fn new(config: OutputConfig) -> Self {
        Self {
            measure: config::page_width,
            measure_err: config::progress_width,
            #[cfg(feature = "startup")]
            check: startup::check_stdout,
            ..Self::with(config, std::io::stdout(), std::io::stderr())
        }
    }

    /// Writes text for other tools just as it is, with a last line feed; a terminal gets it as
    /// [`Output::text`] would write it.
    pub fn raw(&mut self, text: &str) -> Result<()> {
        if self.out.is_terminal() {
            return self.text(text);
        }
        self.verbatim(text.as_bytes())?;
        if text.ends_with('\n') { Ok(()) } else { self.verbatim(b"\n") }
    }
}

impl Output {
    /// Whether somebody can be asked: in text mode, where standard input and standard error are terminals.
    pub fn can_ask(&self) -> bool {
        self.config.format == OutputFormat::Text && std::io::stdin().is_terminal() && self.err.is_terminal()
    }
}

impl<O: Write, E: Write> Output<O, E> {
    /// Other sinks in the place of standard output and standard error.
    pub const fn with(config: OutputConfig, out: O, err: E) -> Self {
        let (measure, measure_err): (fn() -> _, fn() -> _) = (|| None, || None);
        let check = || Ok(());
        Self {
            config,
            out,
            err,
            closed: false,
            progress_shown: false,
            logged: None,
            measure,
            measure_err,
            check,
        }
    }

    /// How output looks now: as wide as the terminal is at this moment.
    pub fn current_config(&mut self) -> &OutputConfig {
        self.config.width = (self.measure)().unwrap_or(self.config.width);
        &self.config
    }

    /// How output looks.
    pub const fn config(&self) -> &OutputConfig {
        &self.config
    }

    /// Whether the reader of standard output has gone, so that further work for it is in vain.
    pub const fn is_closed(&self) -> bool {
        self.closed
    }

    /// Writes the one document of `--output json`: envelope and line feed.
    pub fn document<T: Serialize + ?Sized>(&mut self, command: &str, ok: bool, data: &T) -> Result<()> {
        let line = to_string(&Envelope { ok, command: command.to_owned(), data })? + "\n";
        self.verbatim(line.as_bytes())
    }

    /// Writes one line of `--output jsonl`, at once.
    pub fn record<T: Serialize + ?Sized>(&mut self, record: &T) -> Result<()> {
        let line = to_string(record)? + "\n";
        self.verbatim(line.as_bytes())
    }

    /// Writes rendered text, such as a finished [`Page`]. Only colours of ours get through, and no
    /// line is a command to a CI log reader. A last line feed is added where there is none.
    pub fn text(&mut self, text: &str) -> Result<()> {
        let mut safe = gate(text, self.config.use_color);
        if !safe.is_empty() && !safe.ends_with('\n') {
            safe.push('\n');
        }
        self.verbatim(safe.as_bytes())
    }

    /// Writes an error to standard error: plain lines in text mode, one JSON line else. Exiting is
    /// the caller's.
    pub fn error(&mut self, error: &Error) {
        if self.config.format.is_json() {
            // Strings and numbers only, which cannot fail to serialise.
            if let Ok(line) = to_string(&ErrorObject::from(error)) {
                self.write_err(&(line + "\n"));
            }
            return;
        }
        self.write_err(&error_text(error, self.config.color_err));
    }

    /// Writes a plain line to standard error, in text mode and unless quiet.
    pub fn diagnostic(&mut self, line: &str) {
        if self.config.format == OutputFormat::Text && !self.config.quiet {
            self.write_err(&(gate(line, false) + "\n"));
        }
    }

    /// Asks a person at the terminal: no line feed follows.
    pub fn question(&mut self, question: &str) {
        self.write_err(&gate(question, false));
    }

    /// Tells how far the work is that began `elapsed` ago. On a terminal `line` takes the place of the last
    /// one; it is cut to the width, and gone before anything else is written. A log gets a diagnostic now and
    /// then: the first after ten seconds, the next after half a minute each.
    pub fn progress(&mut self, elapsed: Duration, line: &str) {
        if self.config.progress {
            let width = (self.measure_err)().unwrap_or(self.config.width);
            let line = sanitize::capped(line, width.saturating_sub(1));
            self.progress_shown = true;
            self.raw_err(&format!("\r\x1b[K{line}"));
        } else if elapsed >= self.last_log(elapsed).map_or(FIRST_LOG, |last| last + NEXT_LOG) {
            self.logged = Some(elapsed);
            self.diagnostic(line);
        }
    }

    /// When the last line of progress of this work was written to a log; a clock that went back is that of
    /// other work.
    fn last_log(&self, elapsed: Duration) -> Option<Duration> {
        self.logged.filter(|last| *last <= elapsed)
    }

    /// Takes the progress line away.
    pub fn clear_progress(&mut self) {
        if std::mem::take(&mut self.progress_shown) {
            self.raw_err("\r\x1b[K");
        }
    }

    /// Writes bytes of our own making just as they are: a schema, a completion script.
    pub fn verbatim(&mut self, bytes: &[u8]) -> Result<()> {
        self.clear_progress();
        if self.closed || bytes.is_empty() {
            return Ok(());
        }
        match (self.check)().and_then(|()| self.out.write_all(bytes)).and_then(|()| self.out.flush()) {
            Ok(()) => Ok(()),
            Err(error) if error.kind() == ErrorKind::BrokenPipe => {
                self.closed = true;
                Ok(())
            }
            Err(error) => {
                self.closed = true;
                Err(Error::new(Kind::Write, format!("cannot write to stdout: {error}")))
            }
        }
    }

    fn write_err(&mut self, text: &str) {
        self.clear_progress();
        self.raw_err(text);
    }

    fn raw_err(&mut self, text: &str) {
        // Where standard error is gone there is nobody left to tell.
        let _ = self.err.write_all(text.as_bytes()).and_then(|()| self.err.flush());
    }
}

/// An error as people read it: its message, its issues with their places, and its hint, sanitised.
pub fn error_text(error: &Error, color: bool) -> String {
    let mut lines = format!("{} {}\n", Tone::Bad.paint("error:", color), sanitize::line(&error.message));
    for issue in &error.issues {
        let place = issue.place.as_ref().map_or_else(String::new, |place| {
            let file = sanitize::line(place.file.as_os_str().as_encoded_bytes());
            match place.line {
                0 => format!("{file}: "),
                line => format!("{file}:{line}:{}: ", place.column),
            }
        });
        let message = sanitize::line(&issue.message);
        lines.push_str(&format!("  {}{message}\n", Tone::Strong.paint(&place, color)));
    }
    if let Some(hint) = &error.hint {
        lines.push_str(&format!("{} {}\n", Tone::Open.paint("hint:", color), sanitize::line(hint)));
    }
    gate(&lines, color)
}

/// The last thing that text passes: see [`sanitize::rendered`] and [`sanitize::break_commands`].
pub fn gate(text: &str, color: bool) -> String {
    sanitize::break_commands(&sanitize::rendered(text, color)).into_owned()
}
