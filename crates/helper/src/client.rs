//! The client of a helper process: starts the helper, sends requests to it and receives its events.

use crate::names::{NAME, RUN_VARIABLE, SUPERVISE};
use crate::protocol::{Reply, Request, StreamLocation, frame, receive};
use crate::{Bytes, Captured, Failure, HelperEvent, Job, Options, Service, Template, sys};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{SendFlags, send};
use signal_hook::SigId;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag::register_conditional_default;
use signal_hook::low_level::{emulate_default_handler, pipe, unregister};
use std::collections::HashMap;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read};
use std::net::Shutdown;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

/// Environment variables that the helper process inherits: the folder for its temporary files, the folders of its
/// libraries, and the ID of the enclosing run if this process is itself part of a checked program.
const INHERITED_VARIABLES: [&str; 3] = ["TMPDIR", "LD_LIBRARY_PATH", RUN_VARIABLE];

/// A handle to a helper, a process that makes runs. The helper and all its runs end when this is dropped or the
/// caller's process ends.
#[derive(Debug)]
pub struct Helper {
    /// The connection to the helper; closing it ends the helper. `None` once it is closed.
    socket: Option<UnixStream>,
    child: Child,
    signals: Vec<SignalPipe>,
    /// Keeps the signals from ending this process; `None` if no signals are handled.
    handling: Option<SignalHandling>,
    /// Whether [`Helper::next_event`] has returned a signal.
    has_reported_signal: bool,
    /// Maximum time to wait for a reply after a request to end the runs.
    reply_timeout: Duration,
    /// Deadline for the next reply; `None` before a request to end the runs.
    reply_deadline: Option<Instant>,
    files: SharedFiles,
}

impl Helper {
    /// Starts a helper. `executable` contains the bytes of a program that first calls the function `main` of this
    /// crate.
    ///
    /// # Errors
    /// If the helper cannot be started or cannot make runs on this system, or if signals cannot be handled.
    pub fn start(executable: &[u8], options: &Options) -> Result<Self, Failure> {
        let cannot = |e: io::Error| Failure::with_cause("cannot start the helper process for runs", &e);
        let (socket, helper_socket) = UnixStream::pair().map_err(cannot)?;
        let child = sys::start(executable, |path| {
            #[expect(clippy::disallowed_methods, reason = "the one place that starts the helper")]
            let mut command = Command::new(path);
            command.arg0(NAME).arg(SUPERVISE);
            // The rest is sent over the socket, since /proc shows the initial environment of a process for its
            // lifetime.
            command
                .env_clear()
                .envs(INHERITED_VARIABLES.iter().filter_map(|name| Some((name, std::env::var_os(name)?))));
            command.stdin(OwnedFd::from(helper_socket.try_clone()?));
            let counter = options.slots.as_ref().map(|slots| slots.descriptor().try_clone()).transpose()?;
            command.stdout(counter.map_or_else(Stdio::null, Stdio::from));
            command.stderr(if options.show { Stdio::inherit() } else { Stdio::null() });
            command.spawn()
        });
        let child = child.map_err(cannot)?;
        drop(helper_socket);
        let mut helper = Self {
            socket: Some(socket),
            child,
            signals: Vec::new(),
            handling: None,
            has_reported_signal: false,
            reply_timeout: options.grace + REPLY_TIMEOUT,
            reply_deadline: None,
            files: SharedFiles::default(),
        };
        let shares_slots = options.slots.is_some();
        helper.send(&Request::Start(options.clone(), std::env::vars_os().collect(), shares_slots), &[])?;
        let ignored = match helper.receive()? {
            (Reply::Ready(ignored), ..) => ignored,
            (Reply::Refused(failure), ..) => return Err(failure),
            _ => return Err(helper.gone_error()),
        };
        let handled: Vec<i32> = SIGNALS
            .into_iter()
            .filter(|signal| options.stop_on_signals && !ignored.contains(signal))
            .collect();
        let cannot = |e: io::Error| Failure::with_cause("cannot listen to signals", &e);
        if !handled.is_empty() {
            helper.handling = Some(SignalHandling::start(&handled).map_err(cannot)?);
        }
        let signals: io::Result<_> = handled.into_iter().map(SignalPipe::new).collect();
        helper.signals = signals.map_err(cannot)?;
        Ok(helper)
    }

    /// Requests the runs of these jobs. [`HelperEvent::Done`] reports the outcome of each, and
    /// [`HelperEvent::AllEnded`] the end of all. Until then, no other runs can be requested.
    ///
    /// # Errors
    /// If the helper is gone.
    pub fn run(&mut self, jobs: Vec<Job>) -> Result<(), Failure> {
        let stdins: Vec<Option<Arc<[u8]>>> = jobs.iter().map(|job| job.stdin.clone()).collect();
        let lens = stdins.iter().map(|stdin| stdin.as_ref().map(|bytes| bytes.len()));
        let request = Request::Run(jobs.into_iter().zip(lens).collect());
        let payload: Vec<&[u8]> = stdins.iter().flatten().map(|bytes| &bytes[..]).collect();
        self.send(&request, &payload)
    }

    /// Stores a template in the helper until this is dropped. Returns the path of the stored folder, for [`Job::home`]
    /// and [`Job::workspace`].
    ///
    /// # Errors
    /// If the template cannot be created, or the helper is gone.
    pub fn store_template(&mut self, template: Template) -> Result<OsString, Failure> {
        let files = if let Template::Files(files) = &template { &files[..] } else { &[] };
        let payload: Vec<Vec<u8>> = files.iter().map(|file| file.bytes.clone()).collect();
        let request = Request::Keep(template, payload.iter().map(Vec::len).collect());
        self.send(&request, &payload.iter().map(|bytes| &bytes[..]).collect::<Vec<_>>())?;
        // A dead file system may block the helper.
        match self.without_handling(Self::receive)?? {
            (Reply::Kept(folder), ..) => Ok(folder),
            (Reply::Refused(failure), ..) => Err(failure),
            _ => Err(self.gone_error()),
        }
    }

    /// Sets the secrets that are removed from all following outcomes: from output (also in common encodings), names and
    /// paths. They replace the secrets of an earlier call.
    ///
    /// A redacted text keeps its length. Secrets of fewer than 6 bytes and words of fewer than 12 letters are not
    /// redacted. The output of a [trusted](Job::trusted) tool is for the caller alone, and is redacted only if it is
    /// [shown](Job::shows_output).
    ///
    /// # Errors
    /// If the helper is gone.
    pub fn redact(&mut self, values: Vec<OsString>) -> Result<(), Failure> {
        self.send(&Request::Redact(values), &[])
    }

    /// Starts a service: a program that stays alive during the runs. [`HelperEvent::ServiceReady`] reports that the service
    /// is ready, or [`HelperEvent::Done`] that it ended before it was ready. Until one of them arrives, only
    /// [`Helper::stop`] may be called.
    ///
    /// # Errors
    /// If the helper is gone.
    pub fn serve(&mut self, service: Service) -> Result<(), Failure> {
        self.send(&Request::Serve(service.into()), &[])
    }

    /// Ends all services. [`HelperEvent::Done`] reports the outcome of each service, even if it ended earlier, and
    /// [`HelperEvent::AllEnded`] the end of all. Dropping the helper also ends the remaining services.
    ///
    /// # Errors
    /// If the helper is gone.
    pub fn end_services(&mut self) -> Result<(), Failure> {
        self.send(&Request::EndServices, &[])
    }

    /// Requests the end of all runs. After the first call, they are ended as at a deadline: by SIGTERM, and after a
    /// grace period by SIGKILL. A second call kills them immediately.
    ///
    /// # Errors
    /// If the helper is gone.
    pub fn stop(&mut self) -> Result<(), Failure> {
        self.reply_deadline = Some(Instant::now() + self.reply_timeout);
        self.send(&Request::Stop, &[])
    }

    /// Calls `work` between runs. Meanwhile, signals have their default action and end the process.
    ///
    /// # Errors
    /// If the signals cannot be handled again after `work`.
    pub fn with_default_signals<T>(&mut self, work: impl FnOnce() -> T) -> Result<T, Failure> {
        self.without_handling(|_| work())
    }

    fn without_handling<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> Result<T, Failure> {
        let signals: Vec<i32> = self.signals.iter().map(|pipe| pipe.signal).collect();
        let handling = self.handling.take();
        let was_handling = handling.is_some();
        drop(handling);
        let done = work(self);
        if was_handling {
            let cannot = |e: io::Error| Failure::with_cause("cannot listen to signals", &e);
            self.handling = Some(SignalHandling::start(&signals).map_err(cannot)?);
        }
        Ok(done)
    }

    /// Waits for the next event. If the helper does not reply in time to a request to end its runs, for example because
    /// of a dead file system, kills the helper with all runs and returns [`HelperEvent::AllEnded`].
    ///
    /// # Errors
    /// If the helper is gone.
    pub fn next_event(&mut self) -> Result<HelperEvent, Failure> {
        match self.wait_for_wakeup().map_err(|_| self.gone_error())? {
            Wakeup::Signal(signal) => {
                self.has_reported_signal = true;
                return Ok(HelperEvent::Signal(signal));
            }
            Wakeup::Timeout => {
                self.child.kill().unwrap_or_default();
                self.socket = None;
                return Ok(HelperEvent::AllEnded(None, None));
            }
            Wakeup::Reply => {}
        }
        let reply_timeout = self.reply_timeout;
        self.reply_deadline = self.reply_deadline.map(|_| Instant::now() + reply_timeout);
        let (reply, payload, files) = self.receive()?;
        match reply {
            Reply::Done(index, mut outcome, locations) => {
                let (mut payload, mut files) = (&payload[..], files.into_iter());
                for (stream, location) in
                    [&mut outcome.stdout, &mut outcome.stderr].into_iter().zip(locations)
                {
                    self.set_bytes(stream, location, &mut payload, &mut files)?;
                }
                Ok(HelperEvent::Done(index, outcome))
            }
            Reply::Finished(confinement, why) => Ok(HelperEvent::AllEnded(confinement, why)),
            Reply::Serving => Ok(HelperEvent::ServiceReady),
            Reply::Ready(_) | Reply::Refused(_) | Reply::Kept(_) | Reply::Left(_) => Err(self.gone_error()),
        }
    }

    /// Ends the helper with all runs and services. Returns the temporary folder of the helper if it could not be
    /// removed completely; otherwise `None`.
    pub fn finish(mut self) -> Option<OsString> {
        let socket = self.socket.take()?;
        socket.shutdown(Shutdown::Write).ok()?;
        loop {
            if let (Reply::Left(folder), ..) = receive(&socket).ok()? {
                return Some(folder);
            }
        }
    }

    /// Waits for a signal, a reply of the helper, or the deadline for the next reply.
    fn wait_for_wakeup(&self) -> io::Result<Wakeup> {
        let pipes = self.signals.iter().map(|pipe| PollFd::new(&pipe.pipe, PollFlags::IN));
        let socket = self.socket.iter().map(|socket| PollFd::new(socket, PollFlags::IN));
        let mut all: Vec<_> = pipes.chain(socket).collect();
        loop {
            let left = self.reply_deadline.map(|until| until.saturating_duration_since(Instant::now()));
            let left = left.map(Timespec::try_from).transpose().map_err(io::Error::other)?;
            match poll(&mut all, left.as_ref()) {
                Ok(0) => return Ok(Wakeup::Timeout),
                Ok(_) => break,
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        let ready = all.iter().zip(&self.signals).find(|(fd, _)| !fd.revents().is_empty());
        Ok(ready.map_or(Wakeup::Reply, |(_, pipe)| Wakeup::Signal(pipe.read())))
    }

    /// Sets the bytes of `stream`, which are at the beginning of `payload` or in the next of `files`. Removes them from
    /// there.
    fn set_bytes(
        &mut self,
        stream: &mut Captured,
        location: StreamLocation,
        payload: &mut &[u8],
        files: &mut impl Iterator<Item = OwnedFd>,
    ) -> Result<(), Failure> {
        stream.bytes = match location {
            StreamLocation::Here(len) => {
                let (its, others) = payload.split_at_checked(len).ok_or_else(|| self.gone_error())?;
                *payload = others;
                Bytes::Memory(its.into())
            }
            StreamLocation::File(len, digest) => {
                let file = files.next().ok_or_else(|| {
                    Failure::new("cannot store the output of the runs: too many open files")
                        .hint("raise the limit: ulimit -n")
                })?;
                Bytes::File { file: self.files.deduplicate(file.into(), len, digest), start: 0, len, digest }
            }
        };
        Ok(())
    }

    fn send(&mut self, request: &Request, payload: &[&[u8]]) -> Result<(), Failure> {
        let frame = frame(request, payload).map_err(|e| Failure::with_cause("cannot request runs", &e))?;
        let mut rest = &frame[..];
        while !rest.is_empty() {
            let sent = self.socket.as_ref().map(|socket| send(socket, rest, SendFlags::NOSIGNAL));
            match sent {
                Some(Ok(n)) => rest = &rest[n..],
                Some(Err(Errno::INTR)) => {}
                Some(Err(_)) | None => return Err(self.gone_error()),
            }
        }
        Ok(())
    }

    /// Receives a reply of the helper, with its payload and the files that were sent with it.
    fn receive(&mut self) -> Result<(Reply, Vec<u8>, Vec<OwnedFd>), Failure> {
        let received = self.socket.as_ref().and_then(|socket| receive(socket).ok());
        received.ok_or_else(|| self.gone_error())
    }

    /// Closes the connection, waits for the helper to end, and returns the error for a helper that ended or sent an
    /// invalid reply.
    fn gone_error(&mut self) -> Failure {
        self.socket = None;
        match self.child.wait() {
            Ok(status) => Failure::new(format!("the helper process for runs ended: {status}")),
            Err(error) => Failure::with_cause("the helper process for runs ended", &error),
        }
    }
}

impl Drop for Helper {
    fn drop(&mut self) {
        self.socket = None;
        self.child.wait().map(drop).unwrap_or_default();
        // A signal that arrived after the last event is not lost.
        let missed = self.signals.iter().find(|pipe| !self.has_reported_signal && pipe.is_pending());
        let missed = missed.map(|pipe| pipe.signal);
        self.signals.clear();
        self.handling = None;
        if let Some(signal) = missed.filter(|_| USE_DEFAULT_ACTION.load(Ordering::SeqCst)) {
            emulate_default_handler(signal).unwrap_or_default();
        }
    }
}

/// Maximum time that the helper may take to reply to a request to end its runs, in addition to the grace period.
const REPLY_TIMEOUT: Duration = Duration::from_millis(600);

/// The reason why a waiting client continues.
enum Wakeup {
    Signal(i32),
    Reply,
    /// The helper did not reply before the deadline.
    Timeout,
}

/// A handled signal, such as SIGINT, and the pipe that reports its arrival.
#[derive(Debug)]
struct SignalPipe {
    signal: i32,
    /// Receives one byte each time that the signal arrives.
    pipe: UnixStream,
    handler: SigId,
}

impl SignalPipe {
    fn new(signal: i32) -> io::Result<Self> {
        let (pipe, write) = UnixStream::pair()?;
        Ok(Self { signal, pipe, handler: pipe::register(signal, write)? })
    }

    /// Whether the signal has arrived and was not read yet.
    fn is_pending(&self) -> bool {
        rustix::io::ioctl_fionread(&self.pipe).is_ok_and(|bytes| bytes > 0)
    }

    fn read(&self) -> i32 {
        (&self.pipe).read(&mut [0]).map(drop).unwrap_or_default();
        self.signal
    }
}

impl Drop for SignalPipe {
    fn drop(&mut self) {
        unregister(self.handler);
    }
}

/// The signals that a client can handle. Without a handler, each of them ends the process.
const SIGNALS: [i32; 3] = [SIGINT, SIGTERM, SIGHUP];

/// Keeps signals from ending this process as long as it exists. When the last `SignalHandling` is dropped, the signals
/// end the process again. That emulates their default action, since a registered handler cannot be removed completely.
#[derive(Debug)]
pub struct SignalHandling(());

/// Number of existing [`SignalHandling`]s, and the signals that have a handler.
static REGISTERED: Mutex<(usize, Vec<i32>)> = Mutex::new((0, Vec::new()));
/// Whether a signal with a handler ends the process: true after the last [`SignalHandling`] was dropped.
static USE_DEFAULT_ACTION: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

impl SignalHandling {
    /// Keeps these signals from ending the process until the returned value is dropped.
    ///
    /// # Errors
    /// If a handler cannot be registered.
    pub fn start(signals: &[i32]) -> io::Result<Self> {
        let mut registered = REGISTERED.lock().unwrap_or_else(PoisonError::into_inner);
        for signal in signals {
            if !registered.1.contains(signal) {
                register_conditional_default(*signal, Arc::clone(&USE_DEFAULT_ACTION))?;
                registered.1.push(*signal);
            }
        }
        registered.0 += 1;
        USE_DEFAULT_ACTION.store(false, Ordering::SeqCst);
        Ok(Self(()))
    }
}

impl Drop for SignalHandling {
    fn drop(&mut self) {
        let mut registered = REGISTERED.lock().unwrap_or_else(PoisonError::into_inner);
        registered.0 -= 1;
        USE_DEFAULT_ACTION.store(registered.0 == 0, Ordering::SeqCst);
    }
}

/// Files with large captured streams that are still in use, by length and digest. Runs with the same output share one
/// file.
#[derive(Debug, Default)]
struct SharedFiles(HashMap<(u64, u128), Weak<File>>);

impl SharedFiles {
    /// Returns the file in use that has this length and digest. If there is none, adds `file` and returns it.
    fn deduplicate(&mut self, file: File, len: u64, digest: u128) -> Arc<File> {
        if let Some(known) = self.0.get(&(len, digest)).and_then(Weak::upgrade) {
            return known;
        }
        self.0.retain(|_, file| file.strong_count() > 0);
        let file = Arc::new(file);
        self.0.insert((len, digest), Arc::downgrade(&file));
        file
    }
}
