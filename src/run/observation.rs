//! What a run gave, and how a recording has it.

use super::{Captured, Confinement, End, Leftover, RunKey, Waiting};
use crate::model::Stream;
use agentnative_helper::{Changes, FileLock, Leak, Outcome, Starvation, Trip};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Everything that was seen of one run. Its streams are bytes, or what a recording has for them.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Observation<C = Captured> {
    /// Which run it was.
    #[serde(rename = "run")]
    pub key: RunKey,
    /// The program and its arguments; empty in a recording that is older than this field.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub argv: Vec<String>,
    /// How it ended.
    pub end: End,
    /// When it started, since the helper did that made the runs; none if it did not, or in a recording that is
    /// older than this field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started: Option<Duration>,
    /// From start to the end of the leader.
    pub duration: Duration,
    /// The exact bytes of standard output (on a terminal: as written, before any line discipline).
    pub stdout: C,
    /// The exact bytes of standard error.
    pub stderr: C,
    /// What it wrote to the terminal on its standard input, where no other stream is that terminal: its first bytes,
    /// with what is no UTF-8 replaced.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub terminal: String,
    /// Processes that were still there when the leader had ended and the drain deadline was over,
    /// and were then killed.
    pub left_behind: Vec<Leftover>,
    /// A descendant held standard output or error open past the drain deadline.
    pub held_open: bool,
    /// What it was waiting for: at the deadline, or when a read of a silent standard input or of the
    /// terminal was seen.
    pub waiting: Option<Waiting>,
    /// The browsers, editors and pagers that it called by their names; none where no tripwires were set, or in a
    /// recording that is older than these.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trips: Option<Vec<Trip>>,
    /// What it changed in its workspace and its home; none where it has no workspace, where there was too much to look
    /// at, or in a recording that is older than these.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changes: Option<Changes>,
    /// How long it went on after it was interrupted; none where it was not, or in a recording that is older than this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signalled: Option<Duration>,
    /// How many connections came to the server that never answers; none where there was no such server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connections: Option<u32>,
    /// Where the secret was seen that it was given; none where it was given none, where not all could be searched, or in
    /// a recording that is older than this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub leaks: Option<Vec<Leak>>,
    /// How it was confined; none where that was not asked for, or in a recording that is older than this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confinement: Option<Confinement>,
    /// It could not write to the folder that it started in, since the system makes no copy-on-write view of that.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub read_only_start: bool,
    /// As it ended otherwise than declared, it should have been repeated in a copy of that folder, which could not be made.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub uncopied: bool,
    /// It tried to reach the network of the machine, from which it was cut off.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub missed_network: bool,
    /// There was something in the empty folder that it started in when it had ended.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub wrote: bool,
    /// It had run out of time beside others, and this is what came of it alone.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub alone: bool,
    /// It ran out of time while other runs were in progress, and was not repeated alone.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub in_parallel: bool,
    /// How much of its time limit the machine withheld, if that decides what its end shows. None if that is unknown, or
    /// in a recording that is older than this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub starvation: Option<Starvation>,
    /// The file lock that it waited for when it ran out of time, if a process outside of the run held it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lock: Option<FileLock>,
}

impl Observation {
    /// What came of the run of this name and command line.
    pub(super) fn new(key: RunKey, argv: Vec<String>, outcome: Outcome) -> Self {
        let Outcome {
            stdout,
            stderr,
            terminal,
            end,
            started,
            duration,
            left_behind,
            held_open,
            waiting,
            trips,
            changes,
            signalled,
            connections,
            leaks,
            confinement,
            missed_network,
            read_only_start,
            wrote,
            alone,
            in_parallel,
            starvation,
            lock,
        } = outcome;
        Self {
            key,
            argv,
            end,
            started,
            duration,
            stdout,
            stderr,
            terminal: String::from_utf8_lossy(&terminal).into_owned(),
            left_behind,
            held_open,
            waiting,
            trips,
            changes,
            signalled,
            connections,
            leaks,
            confinement,
            missed_network,
            read_only_start,
            uncopied: false,
            wrote,
            alone,
            in_parallel,
            starvation,
            lock,
        }
    }

    /// Whether it did not end by itself because it was reading standard input or a terminal.
    pub fn waits_for_input(&self) -> bool {
        let ended = !matches!(self.end, End::TimedOut | End::Waited);
        !ended && self.waiting.is_some_and(Waiting::is_for_input)
    }

    /// The command line, quoted so that a shell takes it as it was run.
    pub fn command_line(&self) -> Option<String> {
        shlex::try_join(self.argv.iter().map(String::as_str)).ok().filter(|line| !line.is_empty())
    }
}

impl<C> Observation<C> {
    /// The same with its streams in another form: standard output first.
    pub(super) fn map_streams<D, E>(
        self,
        mut convert: impl FnMut(Stream, C) -> Result<D, E>,
    ) -> Result<Observation<D>, E> {
        Ok(Observation {
            stdout: convert(Stream::Stdout, self.stdout)?,
            stderr: convert(Stream::Stderr, self.stderr)?,
            key: self.key,
            argv: self.argv,
            end: self.end,
            started: self.started,
            duration: self.duration,
            terminal: self.terminal,
            left_behind: self.left_behind,
            held_open: self.held_open,
            waiting: self.waiting,
            trips: self.trips,
            changes: self.changes,
            signalled: self.signalled,
            connections: self.connections,
            leaks: self.leaks,
            confinement: self.confinement,
            missed_network: self.missed_network,
            read_only_start: self.read_only_start,
            uncopied: self.uncopied,
            wrote: self.wrote,
            alone: self.alone,
            in_parallel: self.in_parallel,
            starvation: self.starvation,
            lock: self.lock,
        })
    }
}
