//! One run in the eyes of a check: its data, its lines, and how it ended.

use super::context::RunView;
use super::lines::{EXCERPT, has_words};
use super::scan::Scan;
use super::traceback;
use super::verdict::Reason;
use crate::kit::exit_check;
use agentnative_core::model::{BlockedBy, CheckId, OutputFormat, Stream, Variant, condition};
use agentnative_core::run::{Bytes, End, FileLock, Isolation, Leftover, Limit, Outcome, Purpose, Starvation};
use serde_json::Value;
use std::io::Read as _;
use std::sync::Arc;
use std::time::Duration;
use strict_json::sanitize;

/// Streams longer than this are judged by their scan alone.
const SMALL: u64 = 8 << 20;

impl<'a> RunView<'a> {
    pub fn format(&self) -> OutputFormat {
        self.observation.key.format
    }

    pub fn variant(&self) -> Variant {
        self.observation.key.variant
    }

    /// Whether stdout is by contract that of the plain run: nothing but its consumer differs. A terminal and an
    /// environment may add to the data.
    pub fn prints_the_same(&self) -> bool {
        matches!(self.variant(), Variant::Plain | Variant::Repeat | Variant::SlowReader | Variant::File)
    }

    /// Whether it makes the call of the plain run again, and is not that itself.
    pub fn is_again(&self) -> bool {
        self.prints_the_same() && self.variant() != Variant::Plain
    }

    /// The exit code, when it ended by itself with one.
    pub fn exit(&self) -> Option<i32> {
        match self.observation.end {
            End::Exited(code) => Some(code),
            _ => None,
        }
    }

    /// Whether it ended as its probe is expected to, with data. Where that is no success, the code may be that
    /// of another end as well, and only what was printed tells.
    pub fn gave_data(&self) -> bool {
        let as_expected = self.exit().is_some() && self.exit() == self.probe.exit;
        let told = self.exit() == Some(0) || !self.bytes(Stream::Stdout).is_empty();
        self.probe.gives_data() && as_expected && told
    }

    /// Whether standard output holds whole values in its format, and at least one.
    pub fn has_values(&self) -> bool {
        let scan = self.scan();
        scan.structural().is_none() && scan.shape.count() > 0
    }

    /// The names of the processes that it left behind; of those that could not be ended, also the number.
    pub fn left_behind(&self) -> String {
        let name = |left: &Leftover| match (sanitize::line(&left.name), left.survives) {
            (name, false) => name,
            (name, true) => format!("{name}, which could not be ended: process {}", left.pid),
        };
        self.observation.left_behind.iter().map(name).collect::<Vec<_>>().join(", ")
    }

    /// The bytes of a stream.
    pub fn bytes(&self, stream: Stream) -> &'a Bytes {
        match stream {
            Stream::Stdout => &self.observation.stdout.bytes,
            Stream::Stderr => &self.observation.stderr.bytes,
        }
    }

    /// The exit code as a shell has it: 128 and the signal, for a run that died of one.
    pub fn shell_code(&self) -> Option<i32> {
        match self.observation.end {
            End::Exited(code) => Some(code),
            End::Signaled(signal) => Some(128 + signal),
            _ => None,
        }
    }

    /// Strict reading of what is on standard output, as one document or as lines by the format.
    pub fn scan(&self) -> Arc<Scan> {
        self.context.scans.of(&self.observation.stdout.bytes, self.format())
    }

    /// Strict reading of a stream as one document.
    pub fn document(&self, stream: Stream) -> Arc<Scan> {
        self.context.scans.of(self.bytes(stream), OutputFormat::Json)
    }

    /// A stream as one JSON value; none when it is none, or too long to be held.
    pub fn value(&self, stream: Stream) -> Option<Value> {
        let bytes = self.bytes(stream);
        if bytes.len() > SMALL || self.document(stream).structural().is_some() {
            return None;
        }
        strict_json::read_value(bytes.reader(), &strict_json::ReadOptions::default(), SMALL).ok()?.value
    }

    /// A stream's lines, invalid UTF-8 replaced; none when it is too long to be held.
    pub fn lines(&self, stream: Stream) -> Option<Vec<String>> {
        let bytes = self.bytes(stream);
        if bytes.len() > SMALL {
            return None;
        }
        let mut text = Vec::new();
        bytes.reader().read_to_end(&mut text).ok()?;
        Some(String::from_utf8_lossy(&text).lines().map(str::to_owned).collect())
    }

    /// Whether standard output holds something to read; what is too long to be held does.
    pub fn prints_words(&self) -> bool {
        self.lines(Stream::Stdout).is_none_or(|lines| lines.iter().any(|line| has_words(line)))
    }

    /// That standard output is too long to be held.
    pub fn too_long(&self) -> Reason {
        format!("stdout of {} is too long to be read", self.label()).into()
    }

    /// Whether a line of either stream holds a word.
    pub fn names(&self, word: &str) -> bool {
        let holds =
            |stream| self.lines(stream).is_some_and(|lines| lines.iter().any(|line| line.contains(word)));
        holds(Stream::Stderr) || holds(Stream::Stdout)
    }

    /// A stream's lines with all that may change from run to run (words with a digit in them) made the
    /// same; none when it is too long to be held.
    pub fn steady_lines(&self, stream: Stream) -> Option<Vec<String>> {
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

    /// Whether a run that failed was refused for its format: it ended with the code of usage errors, or its message is
    /// about its arguments. A crash refuses nothing.
    pub fn refuses_format(&self) -> bool {
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
        let Some(option) = self.probe.asking(self.format(), profile).first() else { return false };
        let Some(exit) = self.exit() else { return false };
        let lines = self.lines(Stream::Stderr).unwrap_or_default();
        if traceback::find(&lines).is_some() {
            return false;
        }
        let is_about = |line: &String| {
            let line = line.to_lowercase();
            ABOUT_ARGUMENTS.iter().any(|word| line.contains(word))
        };
        exit == profile.conventions.usage || self.names(option) || lines.iter().any(is_about)
    }

    /// Why this run says nothing about data: it did not end by itself with the code that its probe
    /// is expected to have, and which check says so.
    pub fn unusable(&self) -> Option<Reason> {
        let label = self.label();
        match (&self.observation.end, self.probe.exit) {
            (End::Exited(code), Some(expected)) if *code != expected => {
                if self.context.rejects(self.probe, self.format()) {
                    return Some(self.refused_format());
                }
                let what = format!("{label} exited with {code} instead of {expected}");
                let check = match self.plain() {
                    Ok(plain) if plain.exit() == Some(expected) => CheckId::P2ExitConsistent,
                    _ => exit_check(self.context.profile, self.probe),
                };
                if self.context.replaced_by_contract(check).is_some() {
                    return Some(format!("{what}: correct the program, or `exit` of the probe").into());
                }
                Some(self.blocked_by(check, what))
            }
            (End::Exited(_), _) => {
                let error = self.format().is_json().then(|| self.scan().unreadable.clone()).flatten()?;
                Some(format!("the output of {label} could not be read: {error}").into())
            }
            (End::Signaled(signal), _) => {
                let what = format!("{label} was killed by {}", signal_words(*signal));
                Some(self.blocked_by(CheckId::P2ExitConsistent, what))
            }
            (End::TimedOut | End::Waited, _) if self.ends_otherwise() => {
                Some(format!("{label} did not end").into())
            }
            (End::TimedOut | End::Waited, _) => {
                Some(self.blocked_by(self.tells_of_hang(), format!("{label} did not end")))
            }
            (End::TooMuch(limit), _) => Some(format!("{label} {limit}{}", more(*limit)).into()),
            (End::NotStarted(_, words), _) => {
                let refused = self.probe.effect.is_some() && words.starts_with(Isolation::UNAVAILABLE);
                let hint = if refused { "; --allow-unconfined runs it all the same" } else { "" };
                Some(format!("{label} could not be started: {words}{hint}").into())
            }
            (End::Interrupted, _) => Some(format!("{label} was interrupted").into()),
        }
    }

    /// That it was not ended for a limit of ours, or of the machine: a target may fail in any way where it meets one.
    pub fn undisturbed(&self) -> Result<(), Reason> {
        match self.observation.end {
            End::TooMuch(_) => self.ended(),
            End::TimedOut => self.had_its_time(),
            _ => Ok(()),
        }
    }

    /// That it had the time that it was measured by: the machine gave it processors, and no other run was in its way.
    pub fn had_its_time(&self) -> Result<(), Reason> {
        let Outcome { in_parallel, starvation, lock, .. } = &self.observation.outcome;
        let label = self.label();
        let message = if let Some(FileLock { path, holder }) = lock {
            let path = path.as_deref().map_or("a file".into(), |path| format!("`{}`", sanitize::line(path)));
            let holder = holder.as_deref().map(|name| format!("`{}`", sanitize::line(name)));
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
            format!(
                "the machine gave {label} {given} s of {elapsed} s: check again while less is running on it"
            )
        } else {
            return Ok(());
        };
        Err(Reason { message, of_machine: true, ..Reason::default() })
    }

    /// For how long the machine withheld processors from it.
    pub fn withheld(&self) -> Duration {
        self.observation.starvation.map_or(Duration::ZERO, |starvation| starvation.withheld)
    }

    /// Whether it was ended since it did not end by itself.
    pub fn did_not_end(&self) -> bool {
        matches!(self.observation.end, End::TimedOut | End::Waited)
    }

    /// The first call that it made of a program for this purpose, as a command line; or that this is not known.
    pub fn trip(&self, purpose: Purpose) -> Result<Option<String>, Reason> {
        let Some(trips) = &self.observation.trips else {
            if let End::NotStarted(..) = self.observation.end {
                return Err(self.unusable().unwrap_or_default());
            }
            return Err(format!("the recording does not say which programs {} called", self.label()).into());
        };
        let call = trips.iter().find(|trip| trip.purpose() == Some(purpose));
        Ok(call.map(|trip| {
            let words = std::iter::once(trip.program.as_str()).chain(trip.args.iter().map(String::as_str));
            sanitize::capped(words.collect::<Vec<_>>().join(" "), EXCERPT)
        }))
    }

    /// Whether it did not end by itself because it was reading standard input or a terminal.
    pub fn waits_for_input(&self) -> bool {
        self.observation.waits_for_input()
    }

    /// That it ended by itself, with whatever code or signal, or why that says nothing.
    pub fn ended(&self) -> Result<(), Reason> {
        match self.observation.end {
            End::Exited(_) | End::Signaled(_) => Ok(()),
            _ => Err(self.unusable().unwrap_or_default()),
        }
    }

    /// That it ended by itself with the code that its probe is expected to have, or why that says nothing.
    pub fn usable(&self) -> Result<(), Reason> {
        self.unusable().map_or(Ok(()), Err)
    }

    /// The check that tells why it did not end by itself.
    pub fn tells_of_hang(&self) -> CheckId {
        if self.waits_for_input() { self.context.tells_of_waiting() } else { CheckId::P2Completes }
    }

    /// Whether it is under a special condition, and the plain run ended by itself.
    fn ends_otherwise(&self) -> bool {
        self.variant().is_special() && self.plain().is_ok_and(|plain| !plain.did_not_end())
    }

    /// The exit code, or why there is none.
    pub fn exited(&self) -> Result<i32, Reason> {
        self.exit().ok_or_else(|| self.unusable().unwrap_or_default())
    }

    /// The plain run of the same call.
    pub fn plain(&self) -> Result<Self, Reason> {
        let plain = self.context.plain(self.probe, self.format());
        plain.ok_or_else(|| format!("{} has no plain run to compare with", self.label()).into())
    }

    /// Why a check that needs parsed data can't use this run, and which check says so.
    pub fn not_parsed(&self) -> Reason {
        let check = match self.format() {
            _ if self.scan().control().is_some() => CheckId::P2OutputPure,
            OutputFormat::Jsonl => CheckId::P2OutputJsonl,
            OutputFormat::Json | OutputFormat::Text => CheckId::P2OutputJson,
        };
        self.blocked_by(check, format!("stdout of {} could not be parsed", self.label()))
    }

    /// The data on standard output, or why this run says nothing about it.
    pub fn parsed(&self) -> Result<Arc<Scan>, Reason> {
        self.usable()?;
        let scan = self.scan();
        if scan.structural().is_some() { Err(self.not_parsed()) } else { Ok(scan) }
    }

    /// That a part of the output is missing.
    pub fn cut(&self) -> Reason {
        self.blocked_by(CheckId::P2OutputComplete, format!("{} is truncated", self.label()))
    }

    /// That the target does not take the format at all.
    pub fn refused_format(&self) -> Reason {
        let what = format!("the target does not accept the format {}", self.format().name());
        self.blocked_by(CheckId::P2OutputFormat, what)
    }

    /// That another check tells what is wrong with this run.
    pub fn blocked_by(&self, check: CheckId, what: String) -> Reason {
        Reason {
            message: format!("{what}: see {check}"),
            blocked_by: Some(self.cause(check)),
            ..Reason::default()
        }
    }

    /// What is wrong with this run in the eyes of another check. A probe that is made from a declared one has
    /// the faults of that.
    pub fn cause(&self, check: CheckId) -> BlockedBy {
        let probe = self.probe.of().unwrap_or(&self.probe.name);
        BlockedBy { id: check, probe: Some(probe.to_owned()), format: Some(self.format()) }
    }

    /// Names the run for people.
    pub fn label(&self) -> String {
        let key = &self.observation.key;
        let mut label = format!("{} · {}", self.probe.name, key.format.name());
        if key.variant != Variant::Plain {
            label.push_str(" · ");
            label.push_str(&self.condition());
        }
        label
    }

    /// Names the condition.
    pub fn condition(&self) -> String {
        condition(self.variant(), self.observation.key.nth)
    }
}

/// What to do where a run needs more than a limit.
fn more(limit: Limit) -> &'static str {
    match limit {
        Limit::Memory(_) => ": if it needs more, raise `limits.memory`",
        Limit::Processes(_) => ": if it needs more, raise `limits.processes`",
        Limit::Written(_) => ": if it needs more, raise `limits.written`",
        Limit::Machine => ": free some, or run fewer commands in parallel with --jobs",
        Limit::File(_) | Limit::Output(_) => ", the most that is allowed",
    }
}

/// A signal by its number, and by its name if it is one that ends programs.
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
