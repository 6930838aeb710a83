//! Writes the output of agentnative's programs to stdout and stderr.
#![doc = include_str!("../README.md")]
//!
//! All output is sanitised: text in [`Output`], JSON in [`json::to_string`].

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
pub use arguments::{clap_error, option_values, requested_format, whole_number};
pub use config::{ColorChoice, ColorEnv, DEFAULT_WIDTH, OutputConfig, use_color};
pub use emit::Row;
pub use envelope::{Envelope, ErrorIssue, ErrorObject};
pub use json::{pretty, to_string};
pub use pace::time_left;
pub use page::{Page, StyledText, Tone, char_width, expand_tabs};
#[cfg(feature = "startup")]
pub use startup::close_stdout_on_exec;

use agentnative_contract::error::{Error, ErrorKind as Kind, Result};
use serde::Serialize;
use std::io::{self, ErrorKind, IsTerminal as _, Stderr, Stdout, Write};
use std::time::Duration;
use strict_json::sanitize;

/// Elapsed time before the first progress message, if stderr is a log and not a terminal. Commands that end earlier
/// write none.
const FIRST_LOG_DELAY: Duration = Duration::from_secs(10);
/// Time between two progress messages, if stderr is a log and not a terminal.
const LOG_INTERVAL: Duration = Duration::from_secs(30);

/// Writes results to stdout, and errors, diagnostics and progress to stderr.
///
/// If the consumer closes stdout, that is not an error: later output is discarded, and [`Output::is_closed`] returns
/// true. Any other failed write to stdout is reported once, as a write error. Failed writes to stderr are ignored.
#[derive(Debug)]
pub struct Output<O: Write = Stdout, E: Write = Stderr> {
    config: OutputConfig,
    out: O,
    err: E,
    closed: bool,
    progress_shown: bool,
    /// Time of the last progress message in a log, measured from the start of the work. `None` before the first
    /// message.
    last_logged: Option<Duration>,
    /// Returns the current width of stdout in columns, which can change while a command runs. `None` if it is unknown.
    measure: fn() -> Option<usize>,
    /// Returns the current width of stderr in columns. `None` if it is unknown.
    measure_err: fn() -> Option<usize>,
    /// Fails if output would be lost because stdout was closed when the process started.
    check: fn() -> io::Result<()>,
}

impl Output {
    /// Creates an output to stdout and stderr of this process. The streams are not locked, so that another thread can
    /// still print a panic message.
    #[expect(clippy::disallowed_methods, reason = "the one place that writes to the streams")]
    pub fn new(config: OutputConfig) -> Self {
        Self {
            measure: config::page_width,
            measure_err: config::progress_width,
            #[cfg(feature = "startup")]
            check: startup::check_stdout,
            ..Self::with_streams(config, std::io::stdout(), std::io::stderr())
        }
    }

    /// Writes text that is input for other tools. If stdout is not a terminal, the text is not sanitised, and a missing
    /// final line feed is added. On a terminal, writes the text like [`Output::text`].
    pub fn write_for_tools(&mut self, text: &str) -> Result<()> {
        if self.out.is_terminal() {
            return self.text(text);
        }
        self.write_unchanged(text.as_bytes())?;
        if text.ends_with('\n') { Ok(()) } else { self.write_unchanged(b"\n") }
    }
}

impl Output {
    /// Returns whether the program can ask the user a question: the format is text, and stdin and stderr are terminals.
    pub fn can_ask(&self) -> bool {
        self.config.format == OutputFormat::Text && std::io::stdin().is_terminal() && self.err.is_terminal()
    }
}

impl<O: Write, E: Write> Output<O, E> {
    /// Creates an output that writes to `out` and `err` instead of stdout and stderr.
    pub const fn with_streams(config: OutputConfig, out: O, err: E) -> Self {
        let (measure, measure_err): (fn() -> _, fn() -> _) = (|| None, || None);
        let check = || Ok(());
        Self {
            config,
            out,
            err,
            closed: false,
            progress_shown: false,
            last_logged: None,
            measure,
            measure_err,
            check,
        }
    }

    /// Sets the line width to the current width of the terminal, and returns the configuration.
    pub fn current_config(&mut self) -> &OutputConfig {
        self.config.width = (self.measure)().unwrap_or(self.config.width);
        &self.config
    }

    /// Returns the configuration without measuring the terminal again.
    pub const fn config(&self) -> &OutputConfig {
        &self.config
    }

    /// Returns true if the consumer has closed stdout or a write to it has failed. Further output is then discarded.
    pub const fn is_closed(&self) -> bool {
        self.closed
    }

    /// Writes the only document of `--output json`: an [`Envelope`] with `data`, and a line feed.
    pub fn document<T: Serialize + ?Sized>(&mut self, command: &str, ok: bool, data: &T) -> Result<()> {
        let line = to_string(&Envelope { ok, command: command.to_owned(), data })? + "\n";
        self.write_unchanged(line.as_bytes())
    }

    /// Writes one record of `--output jsonl` as a line, and flushes stdout.
    pub fn record<T: Serialize + ?Sized>(&mut self, record: &T) -> Result<()> {
        let line = to_string(record)? + "\n";
        self.write_unchanged(line.as_bytes())
    }

    /// Writes rendered text, such as a finished [`Page`]. Escapes CI commands, and all terminal sequences except
    /// colours. Adds a final line feed if it is missing.
    pub fn text(&mut self, text: &str) -> Result<()> {
        let mut safe = sanitize_output(text, self.config.color_stdout);
        if !safe.is_empty() && !safe.ends_with('\n') {
            safe.push('\n');
        }
        self.write_unchanged(safe.as_bytes())
    }

    /// Writes an error to stderr: as text, or in the JSON formats as one line of JSON. Does not end the process.
    pub fn error(&mut self, error: &Error) {
        if self.config.format.is_json() {
            // Cannot fail, as the object has strings and numbers only.
            if let Ok(line) = to_string(&ErrorObject::from(error)) {
                self.write_err(&(line + "\n"));
            }
            return;
        }
        self.write_err(&error_text(error, self.config.color_stderr));
    }

    /// Writes a line to stderr. Writes nothing in the JSON formats, or if the output is quiet.
    pub fn diagnostic(&mut self, line: &str) {
        if self.config.format == OutputFormat::Text && !self.config.quiet {
            self.write_err(&(sanitize_output(line, false) + "\n"));
        }
    }

    /// Writes a question for the user to stderr, without a line feed after it.
    pub fn question(&mut self, question: &str) {
        self.write_err(&sanitize_output(question, false));
    }

    /// Shows the progress of work that began `elapsed` ago. On a terminal, `line` replaces the previous progress line,
    /// is cut to the width of the terminal, and is cleared before other output. Otherwise `line` is written as a
    /// diagnostic: first after ten seconds, then every 30 seconds.
    pub fn progress(&mut self, elapsed: Duration, line: &str) {
        if self.config.progress {
            let width = (self.measure_err)().unwrap_or(self.config.width);
            let line = sanitize::sanitize_capped(line, width.saturating_sub(1));
            self.progress_shown = true;
            self.raw_err(&format!("\r\x1b[K{line}"));
        } else if elapsed >= self.last_log(elapsed).map_or(FIRST_LOG_DELAY, |last| last + LOG_INTERVAL) {
            self.last_logged = Some(elapsed);
            self.diagnostic(line);
        }
    }

    /// Returns the time of the last progress message in a log. `None` if there is none, or if its time is after
    /// `elapsed`: then it belongs to earlier work.
    fn last_log(&self, elapsed: Duration) -> Option<Duration> {
        self.last_logged.filter(|last| *last <= elapsed)
    }

    /// Erases the progress line from the terminal, if one is shown.
    pub fn clear_progress(&mut self) {
        if std::mem::take(&mut self.progress_shown) {
            self.raw_err("\r\x1b[K");
        }
    }

    /// Writes trusted bytes, such as a schema or a completion script, to stdout without sanitising them.
    pub fn write_unchanged(&mut self, bytes: &[u8]) -> Result<()> {
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
        // A failed write to stderr cannot be reported.
        let _ = self.err.write_all(text.as_bytes()).and_then(|()| self.err.flush());
    }
}

/// Formats an error as sanitised text: its message, its issues with their positions, and its hint.
pub fn error_text(error: &Error, color: bool) -> String {
    let mut lines =
        format!("{} {}\n", Tone::Error.paint("error:", color), sanitize::sanitize_line(&error.message));
    for issue in &error.issues {
        let place = issue.place.as_ref().map_or_else(String::new, |place| {
            let file = sanitize::sanitize_line(place.file.as_os_str().as_encoded_bytes());
            match place.line {
                0 => format!("{file}: "),
                line => format!("{file}:{line}:{}: ", place.column),
            }
        });
        let message = sanitize::sanitize_line(&issue.message);
        lines.push_str(&format!("  {}{message}\n", Tone::Strong.paint(&place, color)));
    }
    if let Some(hint) = &error.hint {
        lines.push_str(&format!("{} {}\n", Tone::Hint.paint("hint:", color), sanitize::sanitize_line(hint)));
    }
    sanitize_output(&lines, color)
}

/// Makes rendered text safe to print: escapes control characters ([`sanitize::sanitize_rendered`]) and CI commands
/// ([`sanitize::escape_commands`]). Colours are kept if `color` is true.
pub fn sanitize_output(text: &str, color: bool) -> String {
    sanitize::escape_commands(&sanitize::sanitize_rendered(text, color)).into_owned()
}
