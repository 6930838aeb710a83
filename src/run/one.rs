//! One run, from its start until nobody of it is left.

use super::capture::TooMuch;
use super::channel::{Channels, Feed, Places, open_channels};
use super::env::{HOSTILE, TERMINAL, of_folder};
use super::family::Family;
use super::folder::Folder;
use super::launch::{Leader, Status, instruct};
use super::look::{Look, Silence};
use super::mark::Mark;
use super::plan::{Answer, Plan, words};
use super::runner::Common;
use super::stream::{Step, Stream};
use super::{Bytes, Captured, End, Observation, RunSpec, Waiting};
use crate::report::Variant;
use rustix::process::{Signal, getpid};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

/// How often a run is looked at that may wait for input, or that writes a file.
const LOOK: Duration = Duration::from_millis(50);
/// How often any other is: orphans have to be reaped.
const TICK: Duration = Duration::from_millis(250);
/// How often is looked whether somebody is left, once that is all there is to wait for.
const LEFT: Duration = Duration::from_millis(4);
/// A look so long before the deadline tells afterwards whether the processor was in use.
const BEFORE_DEADLINE: Duration = Duration::from_millis(100);
/// A killed leader that takes longer than this is in an uninterruptible wait.
const KILLED: Duration = Duration::from_millis(500);

/// How urgently a run is told to stop.
pub(super) type Stop = watch::Receiver<u8>;
/// End all processes as at a deadline.
pub(super) const STOP: u8 = 1;
/// Kill them now.
pub(super) const STOP_NOW: u8 = 2;

/// One run to make.
#[derive(Debug, Clone)]
pub(super) struct Job {
    pub spec: RunSpec,
    /// It is a tool that we ourselves need: it has the caller's environment.
    pub trusted: bool,
}

/// Makes a run. What keeps it from starting is part of the observation.
pub(super) async fn execute(common: &Common, job: Job, stop: Stop) -> Observation {
    let key = job.spec.key.clone();
    let run = async {
        let folder = common.root.fresh()?;
        let seen = run_in(common, &job, &folder, stop).await;
        // A target may have left a great many files: other runs go on meanwhile.
        tokio::task::spawn_blocking(move || drop(folder)).await.map_err(io::Error::other)?;
        seen
    };
    run.await.unwrap_or_else(|error: io::Error| {
        let number = error.raw_os_error().unwrap_or(0);
        let words = if number == 0 { error.to_string() } else { words(number) };
        Observation {
            key,
            stdout: nothing(),
            stderr: nothing(),
            end: End::NotStarted(number, format!("the checker cannot make the run: {words}")),
            duration: Duration::ZERO,
            left_behind: Vec::new(),
            held_open: false,
            waiting: None,
        }
    })
}

fn nothing() -> Captured {
    Captured { bytes: Bytes::from(Vec::new()), chunks: Vec::new() }
}

async fn run_in(common: &Common, job: &Job, folder: &Folder, stop: Stop) -> io::Result<Observation> {
    let spec = &job.spec;
    let start = Instant::now();
    let mark = Mark::new();
    let plan = plan(common, job, folder, &mark);
    let channels = open_channels(spec, common.root.spool(), folder.path(), common.options.max_output, start)?;
    let (ours, theirs) = UnixStream::pair()?;
    let leader = Leader::spawn(&common.options.launcher, theirs)?;
    let family = Family::new(leader.pid(), mark);
    let Channels { target, stdout, stderr, feed, places } = channels;
    let mut live = Live {
        leader,
        family,
        stdout,
        stderr,
        feed,
        places,
        start,
        deadline: start + spec.deadline,
        ended: None,
        stop,
        drain: common.options.drain,
        grace: common.options.grace,
    };
    let why = match live.launch(ours, &plan, target).await? {
        Some(Answer::Failed(number, words)) => Why::NotStarted(number, words),
        Some(Answer::Started(enforced)) => {
            common.note(enforced);
            live.watch().await
        }
        None => live.out_of_time(None),
    };
    live.finish(common, spec, why).await
}

/// What the launcher has to do for a run.
fn plan(common: &Common, job: &Job, folder: &Folder, mark: &Mark) -> Plan {
    let spec = &job.spec;
    let mut env: BTreeMap<OsString, OsString> = match job.trusted {
        true => common.caller.clone(),
        false => common.base.clone(),
    };
    if !job.trusted {
        env.extend(of_folder(folder));
    }
    let added = match spec.key.variant {
        Variant::Tty => TERMINAL,
        Variant::HostileEnv => HOSTILE.get(usize::from(spec.key.nth)).map_or(&[][..], |(_, added)| added),
        _ => &[],
    };
    env.extend(added.iter().map(|(name, value)| (name.into(), value.into())));
    env.insert(Mark::VARIABLE.into(), mark.value().into());
    env.extend(spec.env.clone());
    Plan {
        program: spec.program.clone().into(),
        args: spec.args.clone(),
        env: env.into_iter().collect(),
        cwd: spec.cwd.clone().into(),
        parent: getpid().as_raw_pid(),
        terminal: spec.key.variant == Variant::Tty,
        sandbox: spec.sandbox.then(|| vec![folder.path().into()]),
        // More than all processors can give before the deadline: it ends what outlives ourselves.
        cpu: (spec.deadline.as_secs() + 5) * common.processors,
        file_size: mark.file_size,
        open_files: common.open_files,
        ignored: common.ignored.clone(),
    }
}

/// Why a run is over.
enum Why {
    Ended,
    NotStarted(i32, String),
    TimedOut(Waiting),
    Waited(Waiting),
    TooMuch(TooMuch),
    Interrupted,
}

/// What happened.
enum Event {
    /// Bytes moved, or a stream ended.
    Moved,
    /// The leader ended.
    Ended,
    /// A stream grew too large.
    Over(TooMuch),
    /// We are to stop.
    Stop,
    /// The time is over.
    Time,
}

/// A run under way. The leader is dropped last but for the family: while it is there, the number of
/// its group is its own.
struct Live {
    family: Family,
    leader: Leader,
    stdout: Stream,
    stderr: Stream,
    feed: Feed,
    places: Places,
    start: Instant,
    deadline: Instant,
    ended: Option<Instant>,
    stop: Stop,
    drain: Duration,
    grace: Duration,
}

impl Live {
    /// Gets the target started. `None` when there is no time (left) for it.
    async fn launch(
        &mut self,
        socket: UnixStream,
        plan: &Plan,
        target: [OwnedFd; 3],
    ) -> io::Result<Option<Answer>> {
        tokio::select! {
            answer = instruct(socket, plan, target) => answer.map(Some),
            () = sleep_until(self.deadline) => Ok(None),
            _ = self.stop.wait_for(|level| *level >= STOP) => Ok(None),
        }
    }

    /// Moves bytes until something happens, or `until`; `level` says which orders to stop count.
    async fn turn(&mut self, until: Instant, level: u8) -> Event {
        let step = tokio::select! {
            () = self.leader.ended(), if self.ended.is_none() => {
                self.ended = Some(Instant::now());
                return Event::Ended;
            }
            step = self.stdout.step() => step,
            step = self.stderr.step() => step,
            () = self.feed.step() => Step::On,
            () = sleep_until(until) => return Event::Time,
            _ = self.stop.wait_for(|now| *now >= level) => return Event::Stop,
        };
        match step {
            Step::Over(over) => Event::Over(over),
            Step::On | Step::End => Event::Moved,
        }
    }

    /// Waits until the run is over in one way or another.
    async fn watch(&mut self) -> Why {
        let is_watched = self.places.stdin.is_some() || self.places.terminal.is_some();
        let is_file = !self.stdout.is_open();
        let period = if is_watched || is_file { LOOK } else { TICK };
        let mut silence = Silence::default();
        let mut before: Option<Look> = None;
        let mut next = self.start + period;
        let before_deadline = self.deadline - BEFORE_DEADLINE.min(self.deadline - self.start);
        loop {
            let wake = if before.is_none() { next.min(before_deadline) } else { next };
            match self.turn(wake.min(self.deadline), STOP).await {
                Event::Ended => return Why::Ended,
                Event::Over(over) => return Why::TooMuch(over),
                Event::Stop => return Why::Interrupted,
                Event::Moved | Event::Time => {}
            }
            let now = Instant::now();
            if now >= self.deadline && self.leader.status().is_none() {
                return self.out_of_time(before.as_ref());
            }
            if before.is_none() && now >= before_deadline {
                before = Some(self.look());
            }
            if now < next {
                continue;
            }
            next = now + period;
            self.family.reap();
            if let Some(over) = self.stdout.overgrown() {
                return Why::TooMuch(over);
            }
            if is_watched {
                let written = self.stdout.len() + self.stderr.len();
                if let Some(input) = silence.after(self.look(), written, now) {
                    return Why::Waited(input);
                }
            }
        }
    }

    fn look(&self) -> Look {
        Look::at(&self.family.everybody(), &self.places)
    }

    /// At the deadline, or at an order to stop: which of the two, and what the run was doing.
    fn out_of_time(&self, before: Option<&Look>) -> Why {
        if *self.stop.borrow() >= STOP {
            return Why::Interrupted;
        }
        let look = self.look();
        Why::TimedOut(look.since(before.unwrap_or(&look)))
    }

    fn is_open(&self) -> bool {
        self.stdout.is_open() || self.stderr.is_open()
    }

    /// After the leader's own end: bytes of those who are left are taken until an absolute deadline,
    /// which nothing resets. Gives whether a stream grew too large.
    async fn drain(&mut self) -> Option<TooMuch> {
        let until = Instant::now() + self.drain;
        self.stdout.hurry();
        while Instant::now() < until && (self.is_open() || !self.family.alive().is_empty()) {
            let wake = if self.is_open() { until } else { until.min(Instant::now() + LEFT) };
            match self.turn(wake, STOP_NOW).await {
                Event::Over(over) => return Some(over),
                Event::Stop => break,
                Event::Moved | Event::Ended | Event::Time => {}
            }
        }
        self.rest()
    }

    /// Takes what is in the streams now.
    fn rest(&mut self) -> Option<TooMuch> {
        let steps = [self.stdout.rest(), self.stderr.rest()];
        let over = steps.into_iter().find_map(|step| match step {
            Step::Over(over) => Some(over),
            Step::On | Step::End => None,
        });
        over.or_else(|| self.stdout.overgrown())
    }

    /// Ends the leader and its group: TERM, and after a time of grace KILL.
    async fn force(&mut self) {
        self.stdout.hurry();
        self.family.signal(Signal::TERM);
        self.family.signal(Signal::CONT);
        let until = Instant::now() + self.grace;
        // Whoever has a session of its own has not got the signal: there is nothing to wait for.
        let is_left = |live: &Self| live.family.alive().iter().any(|stat| !live.family.escaped(stat));
        while Instant::now() < until && (self.ended.is_none() || is_left(self)) {
            if let Event::Stop = self.turn(until.min(Instant::now() + LEFT), STOP_NOW).await {
                break;
            }
        }
        self.family.signal(Signal::KILL);
        let until = Instant::now() + KILLED;
        while Instant::now() < until && self.ended.is_none() {
            self.turn(until, u8::MAX).await;
        }
    }

    /// Ends whoever is left and gives what was seen.
    async fn finish(mut self, common: &Common, spec: &RunSpec, why: Why) -> io::Result<Observation> {
        let (mut end, waiting, by_force) = match why {
            Why::Ended => (self.own_end(), None, false),
            Why::NotStarted(number, words) => (End::NotStarted(number, words), None, true),
            Why::TimedOut(waiting) => (End::TimedOut, Some(waiting), true),
            Why::Waited(waiting) => (End::Waited, Some(waiting), true),
            Why::TooMuch(TooMuch(bytes)) => (End::TooMuch(bytes), None, true),
            Why::Interrupted => (End::Interrupted, None, true),
        };
        let mut left = if by_force {
            self.force().await;
            let mut left = self.family.alive();
            left.retain(|stat| self.family.escaped(stat));
            left
        } else {
            if let Some(TooMuch(bytes)) = self.drain().await {
                end = End::TooMuch(bytes);
            }
            self.family.alive()
        };
        let held_open = !by_force && self.is_open();
        if !left.is_empty() || held_open {
            self.family.signal(Signal::KILL);
        }
        self.family.sweep().await;
        if by_force {
            self.rest();
        }
        left.sort_by_key(|stat| stat.pid);
        let duration = self.ended.unwrap_or_else(Instant::now) - self.start;
        Ok(Observation {
            key: spec.key.clone(),
            stdout: self.stdout.finish(&common.captures).await?,
            stderr: self.stderr.finish(&common.captures).await?,
            end,
            duration,
            left_behind: left.into_iter().map(Into::into).collect(),
            held_open,
            waiting,
        })
    }

    /// How the leader ended by itself.
    fn own_end(&self) -> End {
        match self.leader.status() {
            Some(Status::Exited(code)) => End::Exited(code),
            Some(Status::Signaled(signal)) => End::Signaled(signal),
            None => End::NotStarted(0, "somebody else has reaped it".into()),
        }
    }
}
