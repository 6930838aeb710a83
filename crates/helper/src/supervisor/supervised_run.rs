//! One call in progress, supervised from its start until all its processes have ended.

mod ending;

use super::call_kind::{CallKind, MAX_SERVICE_LIFETIME, MAX_SERVICE_OUTPUT};
use super::capture::OutputOverflow;
use super::channel::{Channels, StdinFeed, open_channels};
use super::clock::Clock;
use super::common::Common;
use super::folder::RunFolder;
use super::launch::{ChildLeader, Leader, send_plan};
use super::loopback::is_listening;
use super::meter::Meter;
use super::plan::{Answer, ConfinementLevel, Plan};
use super::process_tag::ProcessTag;
use super::process_tree::{ProcessTree, is_descendant};
use super::run_environment::run_environment;
use super::sandbox::{Init, wants_namespaces};
use super::sandbox_spec::SandboxSpec;
use super::start_folder::{StartFolder, writable_folders};
use super::stop::{STOP, Stop};
use super::stream::{ReadResult, Stream};
use crate::outcome::ETIMEDOUT;
use crate::sys::{self, CpuTimes, StdioIds, WaitDetector, WaitState};
use crate::{
    Confinement, FileLock, Interruption, Job, Outcome, Ready, RequestedConfinement, RunEnd, Starvation,
    StopSignal, Variant, Waiting,
};
use rustix::process::{Signal, getpid};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep_until};

/// Interval between two checks of a run that may wait for input, or whose stdout is a file.
const SHORT_CHECK_INTERVAL: Duration = Duration::from_millis(50);
/// Interval between two checks of a run that cannot wait for input, and whose stdout is not a file.
const CHECK_INTERVAL: Duration = Duration::from_millis(250);
/// Time between the last record of a run's state and the deadline. The difference shows whether the run used a
/// processor.
const SAMPLE_BEFORE_DEADLINE: Duration = Duration::from_millis(100);
/// Delay between the awaited text in the output, which shows that a run has begun, and its interruption.
const INTERRUPTION_DELAY: Duration = Duration::from_millis(50);
/// Maximum time until a target is started; only an unresponsive file system exceeds it.
const LAUNCH_TIMEOUT: Duration = Duration::from_secs(30);

/// Makes one call of a job's program in the folder of its run, and returns the outcome when all processes have ended.
pub(super) async fn supervise_call(
    common: &Common,
    job: &Job,
    folder: &RunFolder,
    kind: CallKind,
    stop: Stop,
) -> io::Result<Outcome> {
    let start = Instant::now();
    let tag = ProcessTag::new();
    let (limit, lifetime) = match kind {
        CallKind::Run => (common.options.max_output, job.deadline),
        CallKind::Service(..) => (MAX_SERVICE_OUTPUT, MAX_SERVICE_LIFETIME),
    };
    let plan = plan(common, job, lifetime, folder, &tag).await?;
    let (socket, launcher_socket) = UnixStream::pair()?;
    let mut leader = match common.zygote_for(&plan.level).await {
        Some(zygote) => {
            let spec = SandboxSpec::new(common, &plan.job, folder, tag.run_id);
            Leader::Confined(Init::start(zygote, &spec, launcher_socket).await?)
        }
        None => Leader::Child(ChildLeader::spawn(launcher_socket)?),
    };
    // Landlock has no copy-on-write views.
    let read_only_start = match &leader {
        Leader::Confined(init) => init.read_only_start,
        Leader::Child(_) => {
            matches!(plan.level, ConfinementLevel::Landlock(_))
                && matches!(StartFolder::for_job(job, &common.homes), StartFolder::View(_))
        }
    };
    let channels = open_channels(common, job, leader.take_terminal(), limit, start)?;
    let tree = ProcessTree::new(leader.pid(), leader.init(), tag, matches!(kind, CallKind::Run));
    let limits = (matches!(kind, CallKind::Run) && !job.trusted).then_some(job.limits);
    let cgroup = limits.and_then(|limits| common.cgroups.as_ref()?.enter(leader.pid(), &limits));
    let meter = Meter::new(limits, cgroup, folder.measured_folders(), CHECK_INTERVAL);
    let Channels { target, stdout, stderr, feed, ids } = channels;
    let mut run = SupervisedRun {
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
        is_timed: job.runs_alone,
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
        run.stdout.await_text(after);
        run.stderr.await_text(after);
    }
    let forced_end = match run.launch(socket, &plan, target).await? {
        Some(Answer::Failed(number, message)) => Some((RunEnd::NotStarted(number, message), None)),
        Some(Answer::Started(confinement)) => {
            run.confinement = confinement.filter(|_| job.isolation > RequestedConfinement::None);
            common.record_confinement(run.confinement);
            run.start_limit(job.deadline);
            match kind {
                CallKind::Run => run.wait_for_end().await,
                CallKind::Service(ready, ready_sender) => {
                    run.wait_until_ready_and_ended(&ready, ready_sender).await
                }
            }
        }
        None => Some(run.not_launched()),
    };
    run.finish(forced_end).await
}

/// Returns the plan for the launcher of a run.
///
/// # Errors
/// If the run requires a confinement that this system does not have.
async fn plan(
    common: &Common,
    job: &Job,
    lifetime: Duration,
    folder: &RunFolder,
    tag: &ProcessTag,
) -> io::Result<Plan> {
    let env = run_environment(job, common, folder, tag);
    let cwd = match job.workspace {
        Some(_) => folder.workspace().into(),
        None => job.cwd.clone(),
    };
    // Without `HOME`, a program can still find the home of the user.
    let is_confined = job.isolation > RequestedConfinement::None
        || job.variant.lacks_home(job.environment)
        || job.variant == Variant::ReadOnlyHome;
    let level = match wants_namespaces(job).then_some(common.zygote()) {
        Some(zygote) => match zygote.await {
            Ok(_) => ConfinementLevel::Namespaces,
            Err(error) if job.isolation == RequestedConfinement::Full => {
                return Err(io::Error::other(format!(
                    "{} no namespaces for it: {error}",
                    RequestedConfinement::UNAVAILABLE
                )));
            }
            Err(_) => ConfinementLevel::Landlock(writable_folders(common, job, folder)),
        },
        None if is_confined => ConfinementLevel::Landlock(writable_folders(common, job, folder)),
        None => ConfinementLevel::None,
    };
    Ok(Plan {
        job: Job { env: env.into_iter().collect(), cwd, ..job.clone() },
        parent: if level == ConfinementLevel::Namespaces { 1 } else { getpid().as_raw_pid() },
        level,
        // More than all processors can provide in the lifetime: it ends processes that outlive the supervisor.
        cpu: (lifetime.as_secs() + 5) * common.processors,
        file_size: tag.file_size,
        open_files: common.open_files,
        ignored: common.ignored.clone(),
    })
}

/// Why a run is ended by force, and what it was doing or waiting for.
type ForcedEnd = (RunEnd, Option<Waiting>);

enum RunProgress {
    /// Bytes were transferred, or a stream ended.
    Moved,
    Ended,
    /// A stream exceeded its limit at this length.
    Overflow(OutputOverflow),
    /// A request to stop the run arrived.
    Stop,
    /// The time passed to [`SupervisedRun::wait_for_event`] was reached.
    Time,
}

/// How far the interruption of a run has progressed.
#[derive(Clone, Copy)]
enum Interrupt {
    /// The run is not interrupted.
    None,
    /// This signal is sent once the awaited text appears in the output.
    Awaited(StopSignal),
    /// This signal is sent at this time.
    At(Instant, StopSignal),
    /// The signal was sent at this time.
    Sent(Instant),
}

/// A run in progress. `tree` is dropped before `leader`, since the process ID of the leader may be reused after that.
struct SupervisedRun<'f> {
    tree: ProcessTree,
    leader: Leader,
    meter: Meter<'f>,
    stdout: Stream,
    stderr: Stream,
    feed: StdinFeed,
    ids: StdioIds,
    start: Instant,
    /// Time between the start of the supervisor and that of the run.
    started: Duration,
    clock: Clock,
    /// Whether the times of the run are evidence, so that withheld time is reported with them.
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

impl SupervisedRun<'_> {
    /// Starts the target and returns the answer of its launcher. `None` if that takes too long, or after a request to
    /// stop.
    async fn launch(
        &mut self,
        socket: UnixStream,
        plan: &Plan,
        target: [OwnedFd; 3],
    ) -> io::Result<Option<Answer>> {
        tokio::select! {
            answer = send_plan(socket, plan, target) => answer.map(Some),
            () = sleep_until(self.start + LAUNCH_TIMEOUT) => Ok(None),
            _ = self.stop.wait_for(|level| *level >= STOP) => Ok(None),
        }
    }

    /// Transfers bytes until an event happens, or until the time `until`. Ignores requests to stop with an urgency
    /// below `level`.
    async fn wait_for_event(&mut self, until: Instant, level: u8) -> RunProgress {
        let step = tokio::select! {
            () = self.leader.wait_until_ended(), if self.ended.is_none() => {
                self.ended = Some(Instant::now());
                return RunProgress::Ended;
            }
            step = self.stdout.read_once() => step,
            step = self.stderr.read_once() => step,
            () = self.feed.transfer_once() => ReadResult::Continue,
            () = sleep_until(until) => return RunProgress::Time,
            _ = self.stop.wait_for(|now| *now >= level) => return RunProgress::Stop,
        };
        match step {
            ReadResult::Overflow(overflow) => RunProgress::Overflow(overflow),
            ReadResult::Continue | ReadResult::End => RunProgress::Moved,
        }
    }

    /// Waits until the run ends by itself, and returns `None`; or until it has to be ended by force, and returns why.
    async fn wait_for_end(&mut self) -> Option<ForcedEnd> {
        let may_wait_for_input = self.ids.is_any();
        let is_file = !self.stdout.is_open();
        let period = if may_wait_for_input || is_file { SHORT_CHECK_INTERVAL } else { CHECK_INTERVAL };
        let mut detector = WaitDetector::default();
        let mut before: Option<WaitState> = None;
        let mut next = self.start + period;
        loop {
            let deadline = self.clock.next_check();
            let before_deadline = deadline - SAMPLE_BEFORE_DEADLINE.min(deadline - self.start);
            let mut wake = if before.is_none() { next.min(before_deadline) } else { next };
            if let Interrupt::At(at, _) = self.interrupt {
                wake = wake.min(at);
            }
            match self.wait_for_event(wake.min(self.meter.next()).min(deadline), STOP).await {
                RunProgress::Ended => return None,
                RunProgress::Overflow(overflow) => return Some((overflow.into(), None)),
                RunProgress::Stop => return Some((RunEnd::Interrupted, None)),
                RunProgress::Moved | RunProgress::Time => {}
            }
            let now = Instant::now();
            self.interrupt(now);
            if self.leader.status().is_none() && self.is_time_over(now) {
                return Some(self.timed_out(before.as_ref()));
            }
            if now < before_deadline {
                before = None;
            } else if before.is_none() {
                before = Some(self.wait_state());
            }
            if let Some(limit) = self.meter.measure(&self.tree) {
                return Some((RunEnd::TooMuch(limit), None));
            }
            if now < next {
                continue;
            }
            next = now + period;
            if now - self.clock.last_sample() >= CHECK_INTERVAL {
                self.sample(now);
            }
            if let Some(overflow) = self.stdout.file_overflow() {
                return Some((overflow.into(), None));
            }
            if may_wait_for_input {
                let written = self.stdout.len() + self.stderr.len();
                if let Some(input) = detector.update(self.wait_state(), written, now) {
                    return Some((RunEnd::Waited, Some(input)));
                }
            }
        }
    }

    /// Sends the signal that interrupts the run, if it is due at `now`.
    fn interrupt(&mut self, now: Instant) {
        self.interrupt = match self.interrupt {
            Interrupt::Awaited(signal)
                if self.stdout.has_received_awaited_text() || self.stderr.has_received_awaited_text() =>
            {
                Interrupt::At(now + INTERRUPTION_DELAY, signal)
            }
            Interrupt::At(at, signal) if now >= at => {
                match signal {
                    StopSignal::Terminate => self.tree.signal_leader(Signal::TERM),
                    StopSignal::Interrupt => self.tree.signal(Signal::INT),
                }
                self.start_limit(Job::INTERRUPTION_GRACE);
                Interrupt::Sent(now)
            }
            other => other,
        };
    }

    /// Waits until a service is ready, notifies `ready_sender`, and waits until the service ends (`None`) or has to be
    /// ended by force. Output past the limit is discarded.
    async fn wait_until_ready_and_ended(
        &mut self,
        ready: &Ready,
        ready_sender: oneshot::Sender<()>,
    ) -> Option<ForcedEnd> {
        if let Ready::Line(text) = ready {
            self.stdout.await_text(text);
            self.stderr.await_text(text);
        }
        let mut ready_sender = Some(ready_sender);
        let mut next = self.start;
        loop {
            match self.wait_for_event(next, STOP).await {
                RunProgress::Ended => return None,
                RunProgress::Stop => return Some((RunEnd::Interrupted, None)),
                RunProgress::Moved | RunProgress::Overflow(_) | RunProgress::Time => {}
            }
            let now = Instant::now();
            if now >= next {
                next = now + if ready_sender.is_some() { SHORT_CHECK_INTERVAL } else { CHECK_INTERVAL };
            } else if !matches!(ready, Ready::Line(_)) {
                continue;
            }
            if ready_sender.is_none() {
                continue;
            }
            let is_ready = match ready {
                Ready::Port(port) => is_listening(*port).await,
                Ready::Line(_) => {
                    self.stdout.has_received_awaited_text() || self.stderr.has_received_awaited_text()
                }
            };
            if is_ready {
                // The port of a service that has ended belongs to another program.
                if self.leader.status().is_some() {
                    return None;
                }
                if let Some(ready_sender) = ready_sender.take() {
                    ready_sender.send(()).unwrap_or_default();
                }
            } else if self.is_time_over(now) {
                return Some(self.timed_out(None));
            }
        }
    }

    fn wait_state(&self) -> WaitState {
        WaitState::read(&self.tree.running(), &self.ids)
    }

    /// Adds a sample of the run's CPU times to its clock.
    fn sample(&mut self, now: Instant) {
        // The process that reports the end may have to wait for a processor as well.
        let has_ended = || self.tree.leader().is_some_and(|leader| leader.is_zombie());
        if self.ended.is_none() && has_ended() {
            return self.clock.sample_as_withheld(now);
        }
        self.clock.sample(now, CpuTimes::read(&self.tree.running(), self.meter.cgroup()));
    }

    /// Starts a new time limit. Time that was withheld from the run before does not extend it.
    fn start_limit(&mut self, limit: Duration) {
        let now = Instant::now();
        self.sample(now);
        self.clock.restart(limit, now);
    }

    fn is_time_over(&mut self, now: Instant) -> bool {
        if now >= self.clock.next_check() {
            self.sample(now);
            return now >= self.clock.deadline();
        }
        false
    }

    /// Returns why the target was not started: a request to stop, or the time limit.
    fn not_launched(&self) -> ForcedEnd {
        let message = format!("the system did not start the program within {} s", LAUNCH_TIMEOUT.as_secs());
        let is_stopped = *self.stop.borrow() >= STOP;
        (if is_stopped { RunEnd::Interrupted } else { RunEnd::NotStarted(ETIMEDOUT, message) }, None)
    }

    /// Returns the end of a run at its deadline, and what the run was doing since the state `before`.
    fn timed_out(&mut self, before: Option<&WaitState>) -> ForcedEnd {
        let state = self.wait_state();
        self.starvation = self.clock.starvation();
        self.lock = awaited_lock(&self.tree);
        (RunEnd::TimedOut, Some(state.activity_since(before.unwrap_or(&state))))
    }

    fn is_open(&self) -> bool {
        self.stdout.is_open() || self.stderr.is_open()
    }
}

/// Returns the file lock that a run waits for and that another process holds; `None` if there is none.
fn awaited_lock(tree: &ProcessTree) -> Option<FileLock> {
    let awaited = sys::awaited_lock(&tree.running())?;
    let name = || sys::stat(awaited.holder).map_or_else(|| "another program".into(), |stat| stat.name);
    let holder = (!is_descendant(awaited.holder)).then(|| String::from_utf8_lossy(&name()).into_owned());
    Some(FileLock { path: awaited.path.map(|path| path.to_string_lossy().into_owned()), holder })
}
