//! Accessors of one run for the checks: its data, its lines and its outcome.

use super::context::RunView;
use super::lines::{MAX_EXCERPT, has_words};
use super::scan::Scan;
use super::traceback;
use super::verdict::Reason;
use crate::kit::exit_check;
use agentnative_core::model::{BlockedBy, CheckId, OutputFormat, Stream, Variant, condition_name};
use agentnative_core::run::{
    Bytes, FileLock, Leftover, Limit, Outcome, RequestedConfinement, RunEnd, Starvation, TripwirePurpose,
};
use serde_json::Value;
use std::io::Read as _;
use std::sync::Arc;
use std::time::Duration;
use strict_json::sanitize;

/// Maximum length of a stream that is held in memory, in bytes. A longer stream is only scanned, in constant memory.
const MAX_HELD: u64 = 8 << 20;

impl<'a> RunView<'a> {
    pub fn format(&self) -> OutputFormat {
        self.observation.key.format
    }

    pub fn variant(&self) -> Variant {
        self.observation.key.variant
    }

    /// True if this run has to print the same stdout as the plain run, because only the consumer of the output differs,
    /// such as a file instead of a pipe. On a terminal or with other environment variables, a program may print more.
    pub fn expects_plain_stdout(&self) -> bool {
        matches!(self.variant(), Variant::Plain | Variant::Repeat | Variant::SlowReader | Variant::File)
    }

    /// True if this run has to print the same stdout as the plain run, but is not the plain run itself.
    pub fn is_repetition(&self) -> bool {
        self.expects_plain_stdout() && self.variant() != Variant::Plain
    }

    /// Returns the exit code; `None` if the run did not exit by itself, such as after a signal.
    pub fn exit(&self) -> Option<i32> {
        match self.observation.end {
            RunEnd::Exited(code) => Some(code),
            _ => None,
        }
    }

    /// True if the run exited with the code that its probe expects, and printed data. A code other than 0 may also
    /// stand for another failure, so stdout must not be empty then.
    pub fn gave_data(&self) -> bool {
        let as_expected = self.exit().is_some() && self.exit() == self.probe.exit;
        let is_shown = self.exit() == Some(0) || !self.bytes(Stream::Stdout).is_empty();
        self.probe.prints_data() && as_expected && is_shown
    }

    /// True if stdout is valid in its format and has at least one value.
    pub fn has_values(&self) -> bool {
        let scan = self.scan();
        scan.first_structural_problem().is_none() && scan.shape.count() > 0
    }

    /// Returns the names of the processes that the run left behind, separated by commas. For a process that could not
    /// be killed, the process ID is added.
    pub fn left_behind(&self) -> String {
        let name = |left: &Leftover| match (sanitize::sanitize_line(&left.name), left.survives) {
            (name, false) => name,
            (name, true) => format!("{name}, which could not be killed: process {}", left.pid),
        };
        self.observation.left_behind.iter().map(name).collect::<Vec<_>>().join(", ")
    }

    pub fn bytes(&self, stream: Stream) -> &'a Bytes {
        match stream {
            Stream::Stdout => &self.observation.stdout.bytes,
            Stream::Stderr => &self.observation.stderr.bytes,
        }
    }

    /// Returns the exit code as a shell reports it: 128 plus the number of the signal if a signal killed the run.
    /// `None` if the run did not end by itself.
    pub fn shell_code(&self) -> Option<i32> {
        match self.observation.end {
            RunEnd::Exited(code) => Some(code),
            RunEnd::Signaled(signal) => Some(128 + signal),
            _ => None,
        }
    }

    /// Parses stdout strictly, and returns its problems and its shape. In the format `jsonl`, stdout is read as JSON
    /// Lines, otherwise as one JSON document.
    pub fn scan(&self) -> Arc<Scan> {
        self.context.scans.scan(&self.observation.stdout.bytes, self.format())
    }

    /// Parses a stream strictly as one JSON document, whatever the format of the run, and returns its problems and its
    /// shape.
    pub fn scan_as_document(&self, stream: Stream) -> Arc<Scan> {
        self.context.scans.scan(self.bytes(stream), OutputFormat::Json)
    }

    /// Returns the content of a stream as a JSON value; `None` if it is not exactly one JSON document or is too long.
    pub fn value(&self, stream: Stream) -> Option<Value> {
        let bytes = self.bytes(stream);
        if bytes.len() > MAX_HELD || self.scan_as_document(stream).first_structural_problem().is_some() {
            return None;
        }
        strict_json::read_value(bytes.reader(), &strict_json::ReadOptions::default(), MAX_HELD).ok()?.value
    }

    /// Returns the lines of a stream, with invalid UTF-8 replaced; `None` if the stream is too long.
    pub fn lines(&self, stream: Stream) -> Option<Vec<String>> {
        let bytes = self.bytes(stream);
        if bytes.len() > MAX_HELD {
            return None;
        }
        let mut text = Vec::new();
        bytes.reader().read_to_end(&mut text).ok()?;
        Some(String::from_utf8_lossy(&text).lines().map(str::to_owned).collect())
    }

    /// True if a line on stdout contains a letter or a digit. Also true if stdout is too long to be searched.
    pub fn prints_words(&self) -> bool {
        self.lines(Stream::Stdout).is_none_or(|lines| lines.iter().any(|line| has_words(line)))
    }

    /// Creates a reason why a check is undecided: stdout is too long to be read.
    pub fn too_long(&self) -> Reason {
        format!("stdout of {} is too long to be read", self.label()).into()
    }

    /// True if a line of stdout or stderr contains `word`.
    pub fn mentions(&self, word: &str) -> bool {
        let holds =
            |stream| self.lines(stream).is_some_and(|lines| lines.iter().any(|line| line.contains(word)));
        holds(Stream::Stderr) || holds(Stream::Stdout)
    }

    /// Returns the lines of a stream, in which each word with a digit is replaced by `#`, because numbers may change
    /// from run to run. `None` if the stream is too long.
    pub fn normalized_lines(&self, stream: Stream) -> Option<Vec<String>> {
        let steady = |word: &str| {
            if word.bytes().any(|byte| byte.is_ascii_digit()) { "#".into() } else { word.to_owned() }
        };
        let lines = self.lines(stream)?;
        Some(
            lines
                .iter()
                .map(|line| line.split_whitespace().map(steady).collect::<Vec<_>>().join(" "))
                .collect(),
        )
    }

    /// True if the target rejected the format flag of this run: it exited with the code for usage errors, or its
    /// message is about its arguments. A crash is not a rejection.
    pub fn rejects_format(&self) -> bool {
        const ABOUT_ARGUMENTS: [&str; 9] = [
            "argument",
            "choice",
            "flag",
            "format",
            "invalid",
            "option",
            "unexpected",
            "unrecognized",
            "usage",
        ];
        let profile = self.context.profile;
        let Some(option) = self.probe.format_args(self.format(), profile).first() else { return false };
        let Some(exit) = self.exit() else { return false };
        let lines = self.lines(Stream::Stderr).unwrap_or_default();
        if traceback::find(&lines).is_some() {
            return false;
        }
        let is_about = |line: &String| {
            let line = line.to_lowercase();
            ABOUT_ARGUMENTS.iter().any(|word| line.contains(word))
        };
        exit == profile.conventions.usage || self.mentions(option) || lines.iter().any(is_about)
    }

    /// Returns why the data of this run cannot be judged, such as an unexpected exit code, and the check that reports
    /// the cause. `None` if the data can be judged.
    pub fn why_unusable(&self) -> Option<Reason> {
        let label = self.label();
        match (&self.observation.end, self.probe.exit) {
            (RunEnd::Exited(code), Some(expected)) if *code != expected => {
                if self.context.rejects(self.probe, self.format()) {
                    return Some(self.format_rejected());
                }
                let what = format!("{label} exited with {code}, expected {expected}");
                let check = match self.plain() {
                    Ok(plain) if plain.exit() == Some(expected) => CheckId::P2ExitConsistent,
                    _ => exit_check(self.context.profile, self.probe),
                };
                if self.context.replaced_by_contract(check).is_some() {
                    return Some(format!("{what}: correct the program, or `exit` of the probe").into());
                }
                Some(self.blocked_by(check, what))
            }
            (RunEnd::Exited(_), _) => {
                let error = self.format().is_json().then(|| self.scan().unreadable.clone()).flatten()?;
                Some(format!("the output of {label} could not be read: {error}").into())
            }
            (RunEnd::Signaled(signal), _) => {
                let what = format!("{label} was killed by {}", signal_words(*signal));
                Some(self.blocked_by(CheckId::P2ExitConsistent, what))
            }
            (RunEnd::TimedOut | RunEnd::Waited, _) if self.hangs_only_here() => {
                Some(format!("{label} did not end").into())
            }
            (RunEnd::TimedOut | RunEnd::Waited, _) => {
                Some(self.blocked_by(self.check_reporting_hang(), format!("{label} did not end")))
            }
            (RunEnd::TooMuch(limit), _) => Some(format!("{label} {limit}{}", limit_hint(*limit)).into()),
            (RunEnd::NotStarted(_, words), _) => {
                let is_unconfined =
                    self.probe.effect.is_some() && words.starts_with(RequestedConfinement::UNAVAILABLE);
                let hint = if is_unconfined { "; to run it anyway, use --allow-unconfined" } else { "" };
                Some(format!("{label} could not be started: {words}{hint}").into())
            }
            (RunEnd::Interrupted, _) => Some(format!("{label} was interrupted").into()),
        }
    }

    /// Returns an error if the run was ended by a limit, of the configuration or of the machine. A target may fail in
    /// any way at a limit, so the run shows nothing about it.
    pub fn not_ended_by_limit(&self) -> Result<(), Reason> {
        match self.observation.end {
            RunEnd::TooMuch(_) => self.ended(),
            RunEnd::TimedOut => self.had_enough_time(),
            _ => Ok(()),
        }
    }

    /// Returns an error if the run did not get its time: the machine withheld processors, or another run was in its
    /// way.
    pub fn had_enough_time(&self) -> Result<(), Reason> {
        let Outcome { in_parallel, starvation, lock, .. } = &self.observation.outcome;
        let label = self.label();
        let message = if let Some(FileLock { path, holder }) = lock {
            let path = path
                .as_deref()
                .map_or("a file".into(), |path| format!("`{}`", sanitize::sanitize_line(path)));
            let holder = holder.as_deref().map(|name| format!("`{}`", sanitize::sanitize_line(name)));
            let holder = holder.as_deref().unwrap_or("another run");
            format!("{label} waited for a lock on {path} that {holder} held")
        } else if *in_parallel {
            format!(
                "{label} did not end while other runs were in progress, and was not repeated alone because other runs \
                 did not end alone either"
            )
        } else if let Some(Starvation { withheld, elapsed }) = starvation.filter(Starvation::is_significant) {
            let tenths = |time: Duration| (time.as_secs_f64() * 10.0).round() / 10.0;
            let (given, elapsed) = (tenths(elapsed.saturating_sub(withheld)), tenths(elapsed));
            format!("the machine ran {label} for {given} s of {elapsed} s: check again with less load")
        } else {
            return Ok(());
        };
        Err(Reason { message, caused_by_machine: true, ..Reason::default() })
    }

    /// Returns how long the run waited for a processor; zero if this is unknown.
    pub fn processor_wait(&self) -> Duration {
        self.observation.starvation.map_or(Duration::ZERO, |starvation| starvation.withheld)
    }

    /// True if the run was killed by agentnative because it did not end by itself.
    pub fn did_not_end(&self) -> bool {
        matches!(self.observation.end, RunEnd::TimedOut | RunEnd::Waited)
    }

    /// Returns the command line of the first program that the run called for `purpose`, such as a browser or a pager;
    /// `None` if it called none or only asked for its version, as bat does. Returns an error if the recording does not
    /// contain the called programs.
    pub fn called_program(&self, purpose: TripwirePurpose) -> Result<Option<String>, Reason> {
        let Some(trips) = &self.observation.trips else {
            if let RunEnd::NotStarted(..) = self.observation.end {
                return Err(self.why_unusable().unwrap_or_default());
            }
            return Err(
                format!("the recording does not contain the programs that {} called", self.label()).into()
            );
        };
        let asks_version = |args: &[String]| matches!(args, [arg] if arg == "--version" || arg == "-V");
        let call = trips.iter().find(|trip| trip.purpose() == Some(purpose) && !asks_version(&trip.args));
        Ok(call.map(|trip| {
            let words = std::iter::once(trip.program.as_str()).chain(trip.args.iter().map(String::as_str));
            sanitize::sanitize_capped(words.collect::<Vec<_>>().join(" "), MAX_EXCERPT)
        }))
    }

    /// True if the run was reading stdin or a terminal, and therefore did not end.
    pub fn waits_for_input(&self) -> bool {
        self.observation.waits_for_input()
    }

    /// Returns an error with the reason if the run did not end by itself. Any exit code or signal is accepted.
    pub fn ended(&self) -> Result<(), Reason> {
        match self.observation.end {
            RunEnd::Exited(_) | RunEnd::Signaled(_) => Ok(()),
            _ => Err(self.why_unusable().unwrap_or_default()),
        }
    }

    /// Returns an error with the reason if the data of the run cannot be judged, such as after an unexpected exit code.
    pub fn usable(&self) -> Result<(), Reason> {
        self.why_unusable().map_or(Ok(()), Err)
    }

    /// Returns the check that reports the hang of this run, depending on whether it waits for input.
    pub fn check_reporting_hang(&self) -> CheckId {
        if self.waits_for_input() { self.context.check_reporting_wait() } else { CheckId::P2Completes }
    }

    /// True if the run is under a special condition without which the same call ends by itself. The condition then
    /// seems to be the cause of a hang.
    fn hangs_only_here(&self) -> bool {
        self.variant().is_special() && self.plain().is_ok_and(|plain| !plain.did_not_end())
    }

    /// Returns the exit code; an error states why there is none, such as a timeout.
    pub fn exited(&self) -> Result<i32, Reason> {
        self.exit().ok_or_else(|| self.why_unusable().unwrap_or_default())
    }

    /// Returns the plain run of the same call, or an error if it was not made.
    pub fn plain(&self) -> Result<Self, Reason> {
        let plain = self.context.plain_run(self.probe, self.format());
        plain.ok_or_else(|| format!("{} has no plain run to compare with", self.label()).into())
    }

    /// Creates a reason why a check is undecided: stdout could not be parsed. The reason refers to the check that
    /// reports the problem.
    pub fn not_parsed(&self) -> Reason {
        let check = match self.format() {
            _ if self.scan().control_byte_problem().is_some() => CheckId::P2OutputPure,
            OutputFormat::Jsonl => CheckId::P2OutputJsonl,
            OutputFormat::Json | OutputFormat::Text => CheckId::P2OutputJson,
        };
        self.blocked_by(check, format!("stdout of {} could not be parsed", self.label()))
    }

    /// Returns the scan of stdout if it is valid in its format; an error states why the data cannot be judged.
    pub fn parsed(&self) -> Result<Arc<Scan>, Reason> {
        self.usable()?;
        let scan = self.scan();
        if scan.first_structural_problem().is_some() { Err(self.not_parsed()) } else { Ok(scan) }
    }

    /// Creates a reason why a check is undecided: the output is truncated, which `p2-output-complete` reports.
    pub fn truncation_reason(&self) -> Reason {
        self.blocked_by(CheckId::P2OutputComplete, format!("{} is truncated", self.label()))
    }

    /// Creates a reason why a check is undecided: the target does not accept the format of this run, which
    /// `p2-output-format` reports.
    pub fn format_rejected(&self) -> Reason {
        let what = format!("the target does not accept the format {}", self.format().name());
        self.blocked_by(CheckId::P2OutputFormat, what)
    }

    /// Creates a reason why a check is undecided. `what` is wrong with this run, and `check` reports it.
    pub fn blocked_by(&self, check: CheckId, what: String) -> Reason {
        Reason {
            message: format!("{what}: see {check}"),
            blocked_by: Some(self.reference_to(check)),
            ..Reason::default()
        }
    }

    /// Returns a reference to the verdict of `check` on this run. For a derived call, it names the declared probe,
    /// because the call has the faults of this probe.
    pub fn reference_to(&self, check: CheckId) -> BlockedBy {
        let probe = self.probe.source().unwrap_or(&self.probe.name);
        BlockedBy { id: check, probe: Some(probe.to_owned()), format: Some(self.format()) }
    }

    /// Returns the name of the run in messages, such as `list · json`.
    pub fn label(&self) -> String {
        let key = &self.observation.key;
        let mut label = format!("{} · {}", self.probe.name, key.format.name());
        if key.variant != Variant::Plain {
            label.push_str(" · ");
            label.push_str(&self.condition());
        }
        label
    }

    pub fn condition(&self) -> String {
        condition_name(self.variant(), self.observation.key.nth)
    }
}

/// Returns the end of a message about a run that exceeded `limit`, such as how to raise the limit.
fn limit_hint(limit: Limit) -> &'static str {
    match limit {
        Limit::Memory(_) => ": if it needs more, raise `limits.memory`",
        Limit::Processes(_) => ": if it needs more, raise `limits.processes`",
        Limit::Written(_) => ": if it needs more, raise `limits.written`",
        Limit::Machine => ": free memory, or run fewer commands in parallel with --jobs",
        Limit::File(_) | Limit::Output(_) => ", the maximum",
    }
}

/// Returns a signal in words, such as `signal 11 (SIGSEGV)`. Signals that rarely kill programs have no name.
pub fn signal_words(signal: i32) -> String {
    let name = match signal {
        1 => "SIGHUP",
        2 => "SIGINT",
        3 => "SIGQUIT",
        4 => "SIGILL",
        5 => "SIGTRAP",
        6 => "SIGABRT",
        7 => "SIGBUS",
        8 => "SIGFPE",
        9 => "SIGKILL",
        11 => "SIGSEGV",
        13 => "SIGPIPE",
        14 => "SIGALRM",
        15 => "SIGTERM",
        31 => "SIGSYS",
        _ => return format!("signal {signal}"),
    };
    format!("signal {signal} ({name})")
}
