//! A call under way: watched until it ends or has to, and until nobody of it is left.

use super::all_runs::Common;
use super::capture::TooMuch;
use super::cell::Cell;
use super::channel::{Channels, Feed, open_channels};
use super::clock::Clock;
use super::folder::Folder;
use super::kind::{Kind, LONGEST_SERVICE, SERVICE_OUTPUT};
use super::launch::{ChildLeader, Leader, instruct};
use super::limits::Meter;
use super::loopback::takes_connections;
use super::plan::{Answer, Plan, Rung};
use super::process_tag::ProcessTag;
use super::process_tree::{ProcessTree, is_descendant};
use super::run_environment::of_run;
use super::sandbox::{Init, wants_namespaces};
use super::start_folder::{StartFolder, writable};
use super::status::Status;
use super::stop::{STOP, STOP_NOW, Stop};
use super::stream::{Step, Stream};
use crate::outcome::ETIMEDOUT;
use crate::sys::{self, CpuTimes, Silence, StdioIds, WaitState};
use crate::{
    Confinement, End, FileLock, Interruption, Isolation, Job, Leftover, Limit, Outcome, Ready, Starvation,
    StopSignal, Waiting,
};
use rustix::process::{Signal, getpid};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep_until};

/// How often a run is looked at that may wait for input, or that writes a file.
const LOOK: Duration = Duration::from_millis(50);
/// How often any other is.
const TICK: Duration = Duration::from_millis(250);
/// How often is looked whether somebody is left, once that is all there is to wait for.
const LEFT: Duration = Duration::from_millis(4);
/// A look so long before the deadline tells afterwards whether the processor was in use.
const BEFORE_DEADLINE: Duration = Duration::from_millis(100);
/// So long after the text that shows that it has begun, a run is interrupted.
const BEGUN: Duration = Duration::from_millis(50);
/// A target is started faster, unless its file system does not answer.
const LAUNCHED: Duration = Duration::from_secs(30);
/// A killed leader that takes longer than this is in an uninterruptible wait.
const KILLED: Duration = Duration::from_millis(500);

/// Makes a call in a folder: from its start until nobody of it is left.
pub(super) async fn live(
    common: &Common,
    job: &Job,
    folder: &Folder,
    kind: Kind,
    stop: Stop,
) -> io::Result<Outcome> {
    let start = Instant::now();
    let tag = ProcessTag::new();
    let (limit, lifetime) = match kind {
        Kind::Run => (common.options.max_output, job.deadline),
        Kind::Service(..) => (SERVICE_OUTPUT, LONGEST_SERVICE),
    };
    let plan = plan(common, job, lifetime, folder, &tag).await?;
    let (ours, theirs) = UnixStream::pair()?;
    let mut leader = match common.zygote_of(&plan.rung).await {
        Some(zygote) => {
            let cell = Cell::of(common, &plan.job, folder, tag.number);
            Leader::Confined(Init::start(zygote, &cell, theirs).await?)
        }
        None => Leader::Child(ChildLeader::spawn(theirs)?),
    };
    // Landlock knows no views.
    let read_only_start = match &leader {
        Leader::Confined(init) => init.read_only_start,
        Leader::Child(_) => {
            matches!(plan.rung, Rung::Landlock(_))
                && matches!(StartFolder::of(job, &common.homes), StartFolder::View(_))
        }
    };
    let channels = open_channels(common, job, leader.take_terminal(), limit, start)?;
    let tree = ProcessTree::new(leader.pid(), leader.init(), tag, matches!(kind, Kind::Run));
    let limits = (matches!(kind, Kind::Run) && !job.trusted).then_some(job.limits);
    let cgroup = limits.and_then(|limits| common.cgroups.as_ref()?.enter(leader.pid(), &limits));
    let meter = Meter::new(limits, cgroup, folder.dirs(), TICK);
    let Channels { target, stdout, stderr, feed, ids } = channels;
    let mut live = Live {
        leader,
        tree,
        meter,
        stdout,
        stderr,
        feed,
        ids,
        start,
        started: start - common.began,
        clock: Clock::new(job.deadline, start),
        is_timed: job.quiet,
        starvation: None,
        lock: None,
        ended: None,
        interrupt: job.interrupt.as_ref().map_or(Interrupt::None, |stop| Interrupt::Awaited(stop.signal)),
        stop,
        drain: common.options.drain,
        grace: common.options.grace,
        confinement: None,
        read_only_start,
    };
    if let Some(Interruption { after, .. }) = &job.interrupt {
        live.stdout.await_text(after);
        live.stderr.await_text(after);
    }
    let forced = match live.launch(ours, &plan, target).await? {
        Some(Answer::Failed(number, words)) => Some((End::NotStarted(number, words), None)),
        Some(Answer::Started(confinement)) => {
            live.confinement = confinement.filter(|_| job.isolation > Isolation::None);
            common.note(live.confinement);
            live.begin(job.deadline);
            match kind {
                Kind::Run => live.watch().await,
                Kind::Service(ready, told) => live.serve(&ready, told).await,
            }
        }
        None => Some(live.not_launched()),
    };
    live.finish(forced).await
}

/// What the launcher has to do for a run.
///
/// # Errors
/// The run has to be confined, and cannot be.
async fn plan(
    common: &Common,
    job: &Job,
    lifetime: Duration,
    folder: &Folder,
    tag: &ProcessTag,
) -> io::Result<Plan> {
    let env = of_run(job, common, folder, tag);
    let cwd = match job.workspace {
        Some(_) => folder.workspace().into(),
        None => job.cwd.clone(),
    };
    // Without HOME, a program may find the home of the user all the same.
    let is_confined = job.isolation > Isolation::None || job.variant.lacks_home(job.nth);
    let rung = match wants_namespaces(job).then_some(common.zygote()) {
        Some(zygote) => match zygote.await {
            Ok(_) => Rung::Namespaces,
            Err(error) if job.isolation == Isolation::Full => {
                return Err(io::Error::other(format!(
                    "{} no namespaces for it: {error}",
                    Isolation::UNAVAILABLE
                )));
            }
            Err(_) => Rung::Landlock(writable(common, job, folder)),
        },
        None if is_confined => Rung::Landlock(writable(common, job, folder)),
        None => Rung::None,
    };
    Ok(Plan {
        job: Job { env: env.into_iter().collect(), cwd, ..job.clone() },
        parent: if rung == Rung::Namespaces { 1 } else { getpid().as_raw_pid() },
        rung,
        // More than all processors can give in its time: it ends what outlives ourselves.
        cpu: (lifetime.as_secs() + 5) * common.processors,
        file_size: tag.file_size,
        open_files: common.open_files,
        ignored: common.ignored.clone(),
    })
}

/// Why a run is ended by force, and what it was waiting for.
type Forced = (End, Option<Waiting>);

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

/// How far a run is interrupted.
#[derive(Clone, Copy)]
enum Interrupt {
    /// It is not to be.
    None,
    /// When a text is seen.
    Awaited(StopSignal),
    /// At this moment.
    At(Instant, StopSignal),
    /// It was, at this moment.
    Sent(Instant),
}

/// A run under way. The leader is dropped last but for the tree: while it is there, the number of
/// its group is its own.
struct Live<'f> {
    tree: ProcessTree,
    leader: Leader,
    meter: Meter<'f>,
    stdout: Stream,
    stderr: Stream,
    feed: Feed,
    ids: StdioIds,
    start: Instant,
    /// When that was, since we were started.
    started: Duration,
    clock: Clock,
    /// Its times are evidence.
    is_timed: bool,
    starvation: Option<Starvation>,
    lock: Option<FileLock>,
    ended: Option<Instant>,
    interrupt: Interrupt,
    stop: Stop,
    drain: Duration,
    grace: Duration,
    confinement: Option<Confinement>,
    read_only_start: bool,
}

impl Live<'_> {
    /// Gets the target started. `None` if that takes too long, or at an order to stop.
    async fn launch(
        &mut self,
        socket: UnixStream,
        plan: &Plan,
        target: [OwnedFd; 3],
    ) -> io::Result<Option<Answer>> {
        tokio::select! {
            answer = instruct(socket, plan, target) => answer.map(Some),
            () = sleep_until(self.start + LAUNCHED) => Ok(None),
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

    /// Waits until the run is over; gives why it is ended by force, unless it ended by itself.
    async fn watch(&mut self) -> Option<Forced> {
        let is_watched = self.ids.is_any();
        let is_file = !self.stdout.is_open();
        let period = if is_watched || is_file { LOOK } else { TICK };
        let mut silence = Silence::default();
        let mut before: Option<WaitState> = None;
        let mut next = self.start + period;
        loop {
            let deadline = self.clock.wake();
            let before_deadline = deadline - BEFORE_DEADLINE.min(deadline - self.start);
            let mut wake = if before.is_none() { next.min(before_deadline) } else { next };
            if let Interrupt::At(at, _) = self.interrupt {
                wake = wake.min(at);
            }
            match self.turn(wake.min(self.meter.next()).min(deadline), STOP).await {
                Event::Ended => return None,
                Event::Over(over) => return Some((over.into(), None)),
                Event::Stop => return Some((End::Interrupted, None)),
                Event::Moved | Event::Time => {}
            }
            let now = Instant::now();
            self.interrupt(now);
            if self.leader.status().is_none() && self.is_over(now) {
                return Some(self.out_of_time(before.as_ref()));
            }
            if now < before_deadline {
                before = None;
            } else if before.is_none() {
                before = Some(self.state());
            }
            if let Some(limit) = self.meter.look(&self.tree) {
                return Some((End::TooMuch(limit), None));
            }
            if now < next {
                continue;
            }
            next = now + period;
            if now - self.clock.last_look() >= TICK {
                self.look(now);
            }
            if let Some(over) = self.stdout.overgrown() {
                return Some((over.into(), None));
            }
            if is_watched {
                let written = self.stdout.len() + self.stderr.len();
                if let Some(input) = silence.after(self.state(), written, now) {
                    return Some((End::Waited, Some(input)));
                }
            }
        }
    }

    /// Interrupts the run, where and when that is asked for.
    fn interrupt(&mut self, now: Instant) {
        self.interrupt = match self.interrupt {
            Interrupt::Awaited(signal) if self.stdout.has_seen() || self.stderr.has_seen() => {
                Interrupt::At(now + BEGUN, signal)
            }
            Interrupt::At(at, signal) if now >= at => {
                match signal {
                    StopSignal::Terminate => self.tree.signal_leader(Signal::TERM),
                    StopSignal::Interrupt => self.tree.signal(Signal::INT),
                }
                self.begin(Job::GRACE);
                Interrupt::Sent(now)
            }
            other => other,
        };
    }

    /// Waits until a service is ready, tells it, and waits on until it ends or is to be ended. What it prints
    /// past the limit is thrown away.
    async fn serve(&mut self, ready: &Ready, told: oneshot::Sender<()>) -> Option<Forced> {
        if let Ready::Line(text) = ready {
            self.stdout.await_text(text);
            self.stderr.await_text(text);
        }
        let mut told = Some(told);
        let mut next = self.start;
        loop {
            match self.turn(next, STOP).await {
                Event::Ended => return None,
                Event::Stop => return Some((End::Interrupted, None)),
                Event::Moved | Event::Over(_) | Event::Time => {}
            }
            let now = Instant::now();
            if now >= next {
                next = now + if told.is_some() { LOOK } else { TICK };
            } else if !matches!(ready, Ready::Line(_)) {
                continue;
            }
            if told.is_none() {
                continue;
            }
            let is_ready = match ready {
                Ready::Port(port) => takes_connections(*port).await,
                Ready::Line(_) => self.stdout.has_seen() || self.stderr.has_seen(),
            };
            if is_ready {
                // Somebody else's port is not the port of one that has ended.
                if self.leader.status().is_some() {
                    return None;
                }
                if let Some(told) = told.take() {
                    told.send(()).unwrap_or_default();
                }
            } else if self.is_over(now) {
                return Some(self.out_of_time(None));
            }
        }
    }

    fn state(&self) -> WaitState {
        WaitState::at(&self.tree.everybody(), &self.ids)
    }

    /// Tells the clock how the machine treats the run.
    fn look(&mut self, now: Instant) {
        // Its end is told by a process that may have to wait for a processor as well.
        let has_ended = || self.tree.leader().is_some_and(|leader| leader.is_zombie());
        if self.ended.is_none() && has_ended() {
            return self.clock.look_withheld(now);
        }
        self.clock.look(now, CpuTimes::read(&self.tree.everybody(), self.meter.cgroup()));
    }

    /// Begins a time limit: what the machine withheld before is not counted for it.
    fn begin(&mut self, limit: Duration) {
        let now = Instant::now();
        self.look(now);
        self.clock.restart(limit, now);
    }

    /// Whether the time limit has ended.
    fn is_over(&mut self, now: Instant) -> bool {
        if now >= self.clock.wake() {
            self.look(now);
            return now >= self.clock.deadline();
        }
        false
    }

    /// At the end of the time to start the target, or at an order to stop: which of the two.
    fn not_launched(&self) -> Forced {
        let words = format!("the system did not start it within {} s", LAUNCHED.as_secs());
        let is_stopped = *self.stop.borrow() >= STOP;
        (if is_stopped { End::Interrupted } else { End::NotStarted(ETIMEDOUT, words) }, None)
    }

    /// What the run was doing at the end of its time limit.
    fn out_of_time(&mut self, before: Option<&WaitState>) -> Forced {
        let state = self.state();
        self.starvation = self.clock.starvation();
        self.lock = awaited_lock(&self.tree);
        (End::TimedOut, Some(state.since(before.unwrap_or(&state))))
    }

    fn is_open(&self) -> bool {
        self.stdout.is_open() || self.stderr.is_open()
    }

    /// After the leader's own end: bytes of those who are left are taken until an absolute deadline,
    /// which nothing resets. Gives whether a stream grew too large.
    async fn drain(&mut self) -> Option<TooMuch> {
        if !self.tree.alive().is_empty() {
            self.begin(self.drain);
        } else {
            self.clock.restart(self.drain, Instant::now());
        }
        self.stdout.hurry();
        while (self.is_open() || !self.tree.alive().is_empty()) && !self.is_over(Instant::now()) {
            let until = self.clock.wake();
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

    /// Ends the leader and its group: TERM, and after a time of grace KILL. There is no such time for one that uses
    /// more and more.
    async fn force(&mut self, end: &End) {
        self.stdout.hurry();
        self.tree.signal(Signal::TERM);
        self.tree.signal(Signal::CONT);
        let is_growing = matches!(end, End::TooMuch(limit) if !matches!(limit, Limit::Output(_)));
        if is_growing {
            self.meter.kill();
        }
        self.begin(self.grace);
        // Whoever has a session of its own has not got the signal: there is nothing to wait for.
        let is_left = |live: &Self| live.tree.alive().iter().any(|stat| !live.tree.escaped(stat));
        while !is_growing && (self.ended.is_none() || is_left(self)) && !self.is_over(Instant::now()) {
            let wake = self.clock.wake().min(Instant::now() + LEFT);
            if let Event::Stop = self.turn(wake, STOP_NOW).await {
                break;
            }
        }
        self.tree.signal(Signal::KILL);
        let until = Instant::now() + KILLED;
        while Instant::now() < until && self.ended.is_none() {
            self.turn(until, u8::MAX).await;
        }
    }

    /// Ends whoever is left and gives what was seen.
    async fn finish(mut self, forced: Option<Forced>) -> io::Result<Outcome> {
        let by_force = forced.is_some();
        if self.is_timed && !by_force {
            self.look(Instant::now());
            self.starvation = self.clock.starvation();
        }
        let (mut end, waiting) = forced.unwrap_or_else(|| (self.meter.explain(self.own_end()), None));
        let mut left = if by_force {
            self.force(&end).await;
            let mut left = self.tree.alive();
            left.retain(|stat| self.tree.escaped(stat));
            left
        } else {
            if let Some(over) = self.drain().await {
                end = over.into();
            }
            self.tree.alive()
        };
        let held_open = !by_force && self.is_open();
        if !by_force && (!left.is_empty() || held_open) {
            self.starvation = self.clock.starvation();
        }
        if !left.is_empty() || held_open {
            self.tree.signal(Signal::KILL);
        }
        if by_force || !left.is_empty() || held_open {
            self.meter.kill();
        }
        match &self.leader {
            // The kernel ends all of them.
            Leader::Confined(init) => init.end_all().await,
            Leader::Child(_) => self.tree.sweep().await,
        }
        if by_force {
            self.rest();
        }
        let survivors = self.tree.alive();
        left.retain(|stat| survivors.iter().all(|survivor| survivor.pid != stat.pid));
        let mut left_behind: Vec<Leftover> =
            left.into_iter().map(|stat| self.tree.leftover(stat, false)).collect();
        left_behind.extend(survivors.into_iter().map(|stat| self.tree.leftover(stat, true)));
        left_behind.sort_by_key(|left| left.pid);
        let ended = self.ended.unwrap_or_else(Instant::now);
        let duration = ended - self.start;
        let signalled = match self.interrupt {
            Interrupt::Sent(at) => Some(ended - at),
            _ => None,
        };
        let (stdout, stderr) = (self.stdout.finish().await?, self.stderr.finish().await?);
        Ok(Outcome {
            stdout,
            stderr,
            terminal: self.feed.shown(),
            started: Some(self.started),
            duration,
            left_behind,
            held_open,
            waiting,
            signalled,
            confinement: self.confinement,
            missed_network: self.leader.missed_network(),
            read_only_start: self.read_only_start,
            starvation: self.starvation,
            lock: self.lock,
            ..end.into()
        })
    }

    fn own_end(&self) -> End {
        match self.leader.status() {
            Some(Status::Exited(code)) => End::Exited(code),
            Some(Status::Signaled(signal)) => End::Signaled(signal),
            None => End::NotStarted(0, "somebody else has reaped it".into()),
        }
    }
}

/// The file lock that a run waits for and that is not its own, if there is one.
fn awaited_lock(tree: &ProcessTree) -> Option<FileLock> {
    let awaited = sys::awaited_lock(&tree.everybody())?;
    let name = || sys::stat(awaited.holder).map_or_else(|| "another program".into(), |stat| stat.name);
    let holder = (!is_descendant(awaited.holder)).then(|| String::from_utf8_lossy(&name()).into_owned());
    Some(FileLock { path: awaited.path.map(|path| path.to_string_lossy().into_owned()), holder })
}
