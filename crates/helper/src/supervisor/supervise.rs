//! The supervisor: makes runs for the client until the client closes the socket.

use super::blocking::spawn_blocking;
use super::call_kind::CallKind;
use super::client_socket::{Requests, Sender, split};
use super::common::Common;
use super::environment::{Environment, common_variables};
use super::execute::execute;
use super::folder::Root;
use super::process_tree::{reap_orphans_continuously, sweep_strays};
use super::queue::Queue;
use super::redaction::Redaction;
use super::sandbox::masked_folders;
use super::service::Services;
use super::slots::RunSlots;
use super::stop::{STOP, STOP_NOW, raise_urgency};
use super::visible_home::homes;
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

/// Upper limit of [`Options::max_output`], in bytes. The limit on file sizes of a run is slightly higher.
const MAX_OUTPUT_BYTES: u64 = 4 << 30;

const SIGPIPE: i32 = rustix::process::Signal::PIPE.as_raw();

/// Minimum number of free file descriptors. With fewer, the runtime panics and no folder can be removed.
const MIN_DESCRIPTORS: usize = 16;

/// Makes runs for the client at the other end of stdin (a socket), until the client closes the socket.
pub(super) fn supervise() -> io::Result<()> {
    let mut socket = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    if let Err(error) = sys::check_descriptors(MIN_DESCRIPTORS) {
        // The client reads no reply before it has sent its options.
        let _: (Request, _, _) = receive(&socket)?;
        let failure = Failure::with_cause("cannot open enough files for the runs", &error);
        return socket.write_all(&frame(&Reply::Refused(failure.hint("raise the limit (ulimit -n)")), &[])?);
    }
    socket.set_nonblocking(true)?;
    let runtime = Builder::new_current_thread().enable_all().build()?;
    LocalSet::new().block_on(&runtime, serve_client(socket))
}

async fn serve_client(socket: UnixStream) -> io::Result<()> {
    let (mut requests, sender) = split(socket)?;
    let Some(Request::Start(options, caller, shares)) = requests.next().await else { return Ok(()) };
    let slots = RunSlots::new(shares)?;
    let supervisor = match Supervisor::new(options, slots, caller.into_iter().collect()) {
        Ok(supervisor) => supervisor,
        Err(failure) => {
            sender.send(&Reply::Refused(failure))?;
            // Wait until the client has read the reply.
            while requests.next().await.is_some() {}
            return Ok(());
        }
    };
    // The signal is handled, since the kernel would reap children by itself if it were ignored, and their exit status
    // would be lost.
    spawn_local(reap_orphans_continuously(signal(SignalKind::child())?));
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
                *supervisor.common.redaction.borrow_mut() = Redaction::new(&values);
            }
            Request::Keep(template, _) => tokio::select! {
                reply = supervisor.keep_template(template) => sender.send(&reply)?,
                // The client is gone.
                None = requests.next() => break,
            },
            Request::Serve(service) => {
                match services.start(&supervisor.common, *service, &mut requests).await {
                    Ok(()) => sender.send(&Reply::Serving)?,
                    Err(outcome) => sender.send_outcome(0, *outcome)?,
                }
            }
            Request::EndServices => {
                for (index, outcome) in services.end(STOP).await.into_iter().enumerate() {
                    sender.send_outcome(index, outcome)?;
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
    slots: RunSlots,
    /// Handlers of signals, so that these signals do not end the supervisor. A target has their default actions again.
    _handled: Vec<Signal>,
}

impl Supervisor {
    /// Prepares this process and creates the state that all runs share. The process creates a session, becomes the
    /// reaper of all its descendants, and raises its soft limit on open files to the hard limit.
    fn new(mut options: Options, slots: RunSlots, caller: Environment) -> Result<Self, Failure> {
        sys::check_proc()?;
        // Another mask could make the folders of this process inaccessible to it.
        umask(Mode::from_raw_mode(0o077));
        // Signals of a terminal are for the caller, which decides when the helper ends.
        setsid().map_err(|e| Failure::with_cause("cannot create a session", &e))?;
        sys::become_reaper().map_err(|e| Failure::with_cause("cannot become the reaper of runs", &e))?;
        let ignored: Vec<i32> = sys::ignored_signals().into_iter().filter(|n| *n != SIGPIPE).collect();
        let files = getrlimit(Resource::Nofile);
        setrlimit(Resource::Nofile, Rlimit { current: files.maximum, ..files }).unwrap_or_default();
        options.jobs = options.jobs.max(1);
        options.max_output = options.max_output.min(MAX_OUTPUT_BYTES);
        // Comes before there is anything to clean up.
        let handled = handle_signals();
        let root = Root::new().map_err(|e| {
            Failure::with_cause("cannot create a temporary folder", &e)
                .hint("set TMPDIR to a writable folder")
        })?;
        let homes = homes(&caller);
        let common = Common {
            began: Instant::now(),
            options,
            masks: masked_folders(root.path(), &homes),
            homes,
            home_views: RefCell::default(),
            locales: cell::OnceCell::new(),
            root,
            base: common_variables(&caller),
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

    /// Stores a template in the folder of all runs, and returns the reply for the client.
    async fn keep_template(&self, template: Template) -> Reply {
        let reserved = self.common.root.reserve();
        let path = reserved.path.clone();
        match spawn_blocking(move || reserved.make_template(&template)).await.and_then(|made| made) {
            Ok(()) => Reply::Kept(path.into()),
            Err(error) => Reply::Refused(Failure {
                denied: error.kind() == io::ErrorKind::PermissionDenied,
                ..Failure::with_cause("cannot copy the initial files of the runs", &error)
            }),
        }
    }

    /// Makes the runs of these jobs in the order of the [`Queue`], and sends each outcome as soon as it is final.
    /// Returns the weakest confinement of the runs that had to be confined.
    async fn run(
        &self,
        jobs: Vec<Job>,
        requests: &mut Requests,
        sender: &Sender,
    ) -> io::Result<Option<Confinement>> {
        self.common.confinement.set(None);
        let (stop_sender, stop) = watch::channel(0);
        let mut queue = Queue::new(jobs, self.common.options.jobs);
        let mut running = JoinSet::new();
        let mut spare = None;
        loop {
            let can_start = |queue: &Queue| *stop_sender.borrow() == 0 && queue.can_start();
            while can_start(&queue)
                && let Some(slot) = spare.take().or_else(|| self.slots.try_acquire())
                && let Some((index, job)) = queue.start_next()
            {
                let (common, stop) = (Rc::clone(&self.common), stop.clone());
                running.spawn_local(async move {
                    let outcome = execute(&common, &job, CallKind::Run, stop).await;
                    drop(slot);
                    (index, outcome)
                });
            }
            tokio::select! {
                slot = self.slots.acquire(), if can_start(&queue) => spare = Some(slot),
                ended = running.join_next() => match ended {
                    None => break,
                    Some(Ok((index, outcome))) => {
                        for (index, outcome) in queue.finish(index, outcome) {
                            sender.send_outcome(index, outcome)?;
                        }
                    }
                    Some(Err(error)) => std::panic::resume_unwind(error.into_panic()),
                },
                request = requests.next(), if *stop_sender.borrow() < STOP_NOW => {
                    raise_urgency(&stop_sender, request.as_ref());
                }
            }
        }
        for (index, outcome) in queue.into_first_outcomes() {
            sender.send_outcome(index, outcome)?;
        }
        sweep_strays().await;
        Ok(self.common.confinement.get())
    }
}

/// Handles the signals that other processes may send to the supervisor by mistake, such as a target that signals its
/// parent.
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
