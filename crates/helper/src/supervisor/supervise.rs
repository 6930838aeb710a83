//! The supervisor: makes runs for the client until that closes the socket.

use super::all_runs::Common;
use super::environment::{Environment, base};
use super::execute::execute;
use super::folder::Root;
use super::in_home::homes;
use super::kind::Kind;
use super::process_tree::{reap_as_they_end, sweep_strays};
use super::queue::Queue;
use super::redaction::Redaction;
use super::sandbox::masks;
use super::service::Services;
use super::slots::Slots;
use super::stop::{STOP, STOP_NOW, urge};
use super::talk::{Requests, Sender, split};
use super::unblock::unblock;
use crate::job::processors;
use crate::protocol::{Reply, Request, frame, receive};
use crate::sys;
use crate::{Confinement, Failure, Job, Options, Template};
use rustix::fs::Mode;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit, setsid, umask};
use std::cell::{self, Cell, RefCell};
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::rc::Rc;
use tokio::runtime::Builder;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::{OnceCell, watch};
use tokio::task::{JoinSet, LocalSet, spawn_local};
use tokio::time::Instant;

/// No stream is kept further than this, whatever the options say: files that targets write end soon
/// after.
const MOST_OUTPUT: u64 = 4 << 30;

const SIGPIPE: i32 = rustix::process::Signal::PIPE.as_raw();

/// With fewer, the runtime panics and no folder can be removed.
const LEAST_DESCRIPTORS: usize = 16;

/// Makes runs for the client at the other end of standard input, until it closes the socket.
pub(super) fn supervise() -> io::Result<()> {
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
    let (mut requests, sender) = split(socket)?;
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
    spawn_local(reap_as_they_end(signal(SignalKind::child())?));
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
        let homes = homes(&caller);
        let common = Common {
            began: Instant::now(),
            options,
            masks: masks(root.path(), &homes),
            homes,
            in_home: RefCell::default(),
            locales: cell::OnceCell::new(),
            root,
            base: base(&caller),
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
        sweep_strays().await;
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
