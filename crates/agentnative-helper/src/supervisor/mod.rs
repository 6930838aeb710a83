//! The helper's executable: a supervisor that makes runs, some side by side.
//!
//! `talk` is its side of the socket, `execute` makes a single run, `live` a call of it: `channel` opens the standard
//! descriptors, `launch` starts this executable again as the `launcher`, which becomes the target as
//! the `plan` says; `stream` and `capture` take the bytes, `redaction` takes secrets out of them; `process_tag` and
//! `process_tree` know the processes of a run again and end them all; `limits` sees what they use; `clock` measures a time
//! limit without the time that the machine withheld; `queue` says which run is made when, and which are made again. `folder`
//! makes the folder of a run, `snapshot` compares it, `removal` removes it, all by `dir`. A run that is confined by
//! namespaces is started by the `zygote`, and its first process is `init`; `sandbox` is our side of these: `start_folder` and
//! `in_home` say what a run sees. A `service` is executed as a run is, and goes on beside them.

mod capture;
mod channel;
mod clock;
mod dir;
mod environment;
mod execute;
mod folder;
mod in_home;
mod init;
mod launch;
mod launcher;
mod limits;
mod live;
mod locale;
mod needles;
mod plan;
mod process_tag;
mod process_tree;
mod queue;
mod redaction;
mod removal;
mod sandbox;
mod service;
mod slots;
mod snapshot;
mod spellings;
mod stalled;
mod start_folder;
mod stream;
mod talk;
mod tripwires;
mod unblock;
mod zygote;

use crate::job::processors;
use crate::protocol::{Reply, Request, frame, receive};
use crate::{Confinement, Failure, Job, NAME, Options, SUPERVISE, Template, sys};
use environment::Environment;
use execute::{Kind, execute};
use folder::Root;
use plan::Rung;
use queue::Queue;
use redaction::Redaction;
use rustix::fs::Mode;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit, setsid, umask};
use service::Services;
use slots::Slots;
use std::cell::{self, Cell, RefCell};
use std::ffi::OsString;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};
use std::rc::Rc;
use talk::{Requests, Sender};
use tokio::runtime::Builder;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::{OnceCell, watch};
use tokio::task::{JoinSet, LocalSet, spawn_local};
use tokio::time::Instant;
use unblock::unblock;
use zygote::Zygote;

/// The argument that makes the executable the launcher of a run.
const LAUNCH: &str = "__launch";
/// The argument that makes it the first process of a confined run.
const INIT: &str = "__init";
/// The argument that makes it the process that starts those.
const ZYGOTE: &str = "__zygote";

/// No stream is kept further than this, whatever the options say: files that targets write end soon
/// after.
const MOST_OUTPUT: u64 = 4 << 30;

const SIGPIPE: i32 = rustix::process::Signal::PIPE.as_raw();

/// How urgently a run is told to stop.
type Stop = watch::Receiver<u8>;
/// End all processes as at a deadline.
const STOP: u8 = 1;
/// Kill them now.
const STOP_NOW: u8 = 2;
/// The stack of the supervisor, in bytes.
const STACK: usize = 1 << 20;
/// With fewer, the runtime panics and no folder can be removed.
const LEAST_DESCRIPTORS: usize = 16;

/// Runs the helper, if this process was started as one: a `main` calls this first and ends with the
/// code, if there is one. Must be called on the main thread.
pub fn main() -> Option<ExitCode> {
    let argument = std::env::args_os().nth(1)?;
    if ![LAUNCH, INIT, ZYGOTE, SUPERVISE].iter().any(|role| argument == *role) {
        return None;
    }
    // The caller may block some while it starts its children. Each role has to hear of its own that end, and targets
    // start with none blocked.
    if sys::unblock_signals().is_err() {
        return Some(ExitCode::FAILURE);
    }
    if argument == ZYGOTE {
        return Some(zygote::serve());
    }
    if argument == LAUNCH {
        // Only who is dumpable may.
        sys::end_first_for_memory();
    }
    // The environment of the caller comes over the socket, which no run may see.
    crate::set_non_dumpable();
    if argument == LAUNCH {
        return Some(launcher::launch());
    }
    if argument == INIT {
        return Some(init::serve());
    }
    // The caller's limit on the stack of a main thread may be too small.
    let supervisor = std::thread::Builder::new().stack_size(STACK).spawn(supervise);
    let ended = supervisor.map_or_else(
        |_| supervise(),
        |thread| thread.join().unwrap_or_else(|_| Err(io::ErrorKind::Other.into())),
    );
    Some(ended.map_or(ExitCode::FAILURE, |()| ExitCode::SUCCESS))
}

/// A command that starts this executable again, as what the argument makes of it. It prints nothing.
fn again(argument: &str) -> Command {
    #[expect(clippy::disallowed_methods, reason = "the one place where the helper starts processes")]
    let mut command = Command::new(sys::own());
    command.arg0(NAME).arg(argument).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

/// Makes runs for the client at the other end of standard input, until it closes the socket.
fn supervise() -> io::Result<()> {
    let mut socket = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    if let Err(error) = sys::check_descriptors(LEAST_DESCRIPTORS) {
        // The client does not listen before it has told what it wants.
        let _: (Request, _, _) = receive(&socket)?;
        let failure = Failure::of("cannot open as many files as runs need", &error);
        return socket.write_all(&frame(&Reply::Refused(failure.hint("raise the limit (ulimit -n)")), &[])?);
    }
    socket.set_nonblocking(true)?;
    let runtime = Builder::new_current_thread().enable_all().build()?;
    LocalSet::new().block_on(&runtime, serve(socket))
}

async fn serve(socket: UnixStream) -> io::Result<()> {
    let (mut requests, sender) = talk::split(socket)?;
    let Some(Request::Start(options, caller, shares)) = requests.next().await else { return Ok(()) };
    let slots = Slots::new(shares)?;
    let supervisor = match Supervisor::new(options, slots, caller.into_iter().collect()) {
        Ok(supervisor) => supervisor,
        Err(failure) => {
            sender.send(&Reply::Refused(failure))?;
            // It has to be read before we end.
            while requests.next().await.is_some() {}
            return Ok(());
        }
    };
    // Handled, since the kernel would reap our children by itself where the signal is ignored, and nobody would learn
    // how they ended.
    spawn_local(process_tree::reap_as_they_end(signal(SignalKind::child())?));
    sender.send(&Reply::Ready(supervisor.common.ignored.clone()))?;
    let mut services = Services::default();
    while let Some(request) = requests.next().await {
        match request {
            Request::Run(jobs) => {
                let jobs = jobs.into_iter().map(|(job, _)| job).collect();
                let confinement = supervisor.run(jobs, &mut requests, &sender).await?;
                let why = supervisor.common.zygote.get().and_then(|zygote| zygote.as_ref().err());
                sender.send(&Reply::Finished(confinement, why.map(ToString::to_string)))?;
            }
            Request::Redact(values) => {
                *supervisor.common.redaction.borrow_mut() = Redaction::of(&values);
            }
            Request::Keep(template, _) => tokio::select! {
                reply = supervisor.keep(template) => sender.send(&reply)?,
                // The client is gone.
                None = requests.next() => break,
            },
            Request::Serve(service) => {
                match services.start(&supervisor.common, *service, &mut requests).await {
                    Ok(()) => sender.send(&Reply::Serving)?,
                    Err(outcome) => sender.send_done(0, *outcome)?,
                }
            }
            Request::EndServices => {
                for (at, outcome) in services.end(STOP).await.into_iter().enumerate() {
                    sender.send_done(at, outcome)?;
                }
                sender.send(&Reply::Finished(None, None))?;
            }
            Request::Start(..) | Request::Stop => {}
        }
    }
    services.end(STOP_NOW).await;
    if let Some(left) = supervisor.common.root.remove() {
        sender.send(&Reply::Left(left.into()))?;
    }
    sender.finish().await;
    Ok(())
}

/// The level of urgency after a request, which none that may come in the meantime is but [`Request::Stop`].
/// Without a client there is nobody to be gentle for.
fn urge(order: &watch::Sender<u8>, request: Option<&Request>) {
    order.send_modify(|level| *level = if request.is_none() || *level == STOP { STOP_NOW } else { STOP });
}

/// What all runs have in common.
struct Common {
    /// When we were started.
    began: Instant,
    options: Options,
    root: Root,
    /// The homes of the user.
    homes: Vec<PathBuf>,
    /// What is known of what runs need in these.
    in_home: RefCell<in_home::Known>,
    /// Folders that are empty for confined runs, but for what is shown to them.
    masks: Vec<PathBuf>,
    /// The environment of the runs, but for what is each run's own.
    base: Environment,
    /// The folder of the locale that the system lacks, for `LOCPATH`; made for the first run that uses it.
    locales: cell::OnceCell<Option<PathBuf>>,
    /// The caller's environment.
    caller: Environment,
    /// Signals that were ignored when we were started.
    ignored: Vec<i32>,
    /// The caller's limit on open files, before we raised our own.
    open_files: Option<u64>,
    processors: u64,
    confinement: Cell<Option<Confinement>>,
    /// What starts confined runs, or why nothing can.
    zygote: OnceCell<io::Result<Zygote>>,
    /// Where the groups of the processes of runs are, if there can be any.
    cgroups: Option<sys::Cgroups>,
    /// What is told of no run.
    redaction: RefCell<Redaction>,
}

impl Common {
    /// Takes note of how a run was confined: the weakest way counts.
    fn note(&self, confinement: Option<Confinement>) {
        self.confinement.set(self.confinement.get().max(confinement));
    }

    /// What starts runs in namespaces, tried once; or why this system has none for us.
    async fn zygote(&self) -> Result<&Zygote, &io::Error> {
        let start = || async {
            let zygote = Zygote::start(self.root.path()).await?;
            sandbox::attempt(self, &zygote).await.map(|()| zygote)
        };
        self.zygote.get_or_init(start).await.as_ref()
    }

    /// Folders whose sockets have to be hidden one by one.
    fn exposed(&self) -> &[OsString] {
        self.zygote.get().and_then(|zygote| zygote.as_ref().ok()).map_or(&[], |zygote| &zygote.exposed)
    }

    /// What starts a run that is confined by this, if it is by namespaces.
    async fn zygote_of(&self, rung: &Rung) -> Option<&Zygote> {
        if *rung == Rung::Namespaces { self.zygote().await.ok() } else { None }
    }
}

struct Supervisor {
    common: Rc<Common>,
    slots: Slots,
    /// A signal with a handler does not end us, and has its default again in a target.
    _handled: Vec<Signal>,
}

impl Supervisor {
    /// This process gets a session of its own, becomes the reaper of all its descendants, and may open
    /// as many files as it is allowed to.
    fn new(mut options: Options, slots: Slots, caller: Environment) -> Result<Self, Failure> {
        sys::check_view()?;
        // Under another one, this process could not use its own folders.
        umask(Mode::from_raw_mode(0o077));
        // No signal of a terminal is for us: whoever started us decides.
        setsid().map_err(|e| Failure::of("cannot make a session", &e))?;
        sys::become_reaper().map_err(|e| Failure::of("cannot become the reaper of runs", &e))?;
        let ignored: Vec<i32> = sys::ignored_signals().into_iter().filter(|n| *n != SIGPIPE).collect();
        let files = getrlimit(Resource::Nofile);
        setrlimit(Resource::Nofile, Rlimit { current: files.maximum, ..files }).unwrap_or_default();
        options.jobs = options.jobs.max(1);
        options.max_output = options.max_output.min(MOST_OUTPUT);
        // Before there is anything to clean up.
        let handled = handle_signals();
        let root = Root::new().map_err(|e| {
            Failure::of("cannot make a temporary folder", &e).hint("TMPDIR names the folder for them")
        })?;
        let homes = in_home::homes(&caller);
        let common = Common {
            began: Instant::now(),
            options,
            masks: sandbox::masks(root.path(), &homes),
            homes,
            in_home: RefCell::default(),
            locales: cell::OnceCell::new(),
            root,
            base: environment::base(&caller),
            caller,
            open_files: files.current,
            processors: processors() as u64,
            confinement: Cell::new(None),
            zygote: OnceCell::new(),
            cgroups: sys::Cgroups::new(),
            redaction: RefCell::default(),
            ignored,
        };
        Ok(Self { common: Rc::new(common), slots, _handled: handled })
    }

    /// Keeps a template in the folder of all runs.
    async fn keep(&self, template: Template) -> Reply {
        let place = self.common.root.next();
        let path = place.path.clone();
        match unblock(move || place.keep(&template)).await.and_then(|made| made) {
            Ok(()) => Reply::Kept(path.into()),
            Err(error) => Reply::Refused(Failure {
                denied: error.kind() == io::ErrorKind::PermissionDenied,
                ..Failure::of("cannot copy the initial files of the runs", &error)
            }),
        }
    }

    /// Makes all runs, as the [`Queue`] has them. Each is told as it ends. Gives how those were confined that were to be.
    async fn run(
        &self,
        jobs: Vec<Job>,
        requests: &mut Requests,
        sender: &Sender,
    ) -> io::Result<Option<Confinement>> {
        self.common.confinement.set(None);
        let (order, stop) = watch::channel(0);
        let mut queue = Queue::new(jobs, self.common.options.jobs);
        let mut running = JoinSet::new();
        let mut spare = None;
        loop {
            let can_begin = |queue: &Queue| *order.borrow() == 0 && queue.can_begin();
            while can_begin(&queue)
                && let Some(slot) = spare.take().or_else(|| self.slots.try_take())
                && let Some((at, job)) = queue.next()
            {
                let (common, stop) = (Rc::clone(&self.common), stop.clone());
                running.spawn_local(async move {
                    let outcome = execute(&common, &job, Kind::Run, stop).await;
                    drop(slot);
                    (at, outcome)
                });
            }
            tokio::select! {
                slot = self.slots.take(), if can_begin(&queue) => spare = Some(slot),
                ended = running.join_next() => match ended {
                    None => break,
                    Some(Ok((at, outcome))) => {
                        for (at, outcome) in queue.ended(at, outcome) {
                            sender.send_done(at, outcome)?;
                        }
                    }
                    Some(Err(error)) => std::panic::resume_unwind(error.into_panic()),
                },
                request = requests.next(), if *order.borrow() < STOP_NOW => {
                    urge(&order, request.as_ref());
                }
            }
        }
        for (at, outcome) in queue.rest() {
            sender.send_done(at, outcome)?;
        }
        process_tree::sweep_strays().await;
        Ok(self.common.confinement.get())
    }
}

/// Handles the signals that somebody may send who means another process, such as a target that
/// signals its parent.
fn handle_signals() -> Vec<Signal> {
    let kinds = [
        SignalKind::interrupt(),
        SignalKind::terminate(),
        SignalKind::hangup(),
        SignalKind::quit(),
        SignalKind::alarm(),
        SignalKind::user_defined1(),
        SignalKind::user_defined2(),
    ];
    kinds.into_iter().filter_map(|kind| signal(kind).ok()).collect()
}
