//! A helper, as its client has it.

use crate::names::{NAME, RUN_VARIABLE, SUPERVISE};
use crate::protocol::{Place, Reply, Request, frame, receive};
use crate::{Bytes, Captured, Event, Failure, Job, Options, Service, Template, sys};
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

/// The variables that the helper itself needs: where its temporary files and its libraries are, and whose run it
/// belongs to where we are a target.
const INHERITED: [&str; 3] = ["TMPDIR", "LD_LIBRARY_PATH", RUN_VARIABLE];

/// A helper: a process of its own that makes runs. It ends, with all runs, when this is dropped or the
/// caller's process is gone.
#[derive(Debug)]
pub struct Helper {
    /// None only while this is dropped: the helper ends when it is closed.
    socket: Option<UnixStream>,
    child: Child,
    signals: Vec<Heard>,
    /// Present if there are any.
    hearing: Option<Hearing>,
    /// A signal was told to whoever asked for runs.
    told: bool,
    /// How long the helper may be silent once it was asked to end its runs.
    patience: Duration,
    /// Deadline for the next reply; `None` until the helper is asked to end its runs.
    silent_until: Option<Instant>,
    files: SharedFiles,
}

impl Helper {
    /// Starts an executable that calls `main`, from its bytes.
    ///
    /// # Errors
    /// When it cannot be started, can make no runs here, or signals cannot be listened to.
    pub fn start(executable: &[u8], options: &Options) -> Result<Self, Failure> {
        let cannot = |e: io::Error| Failure::of("cannot start the helper process for runs", &e);
        let (ours, theirs) = UnixStream::pair().map_err(cannot)?;
        let child = sys::start(executable, |path| {
            #[expect(clippy::disallowed_methods, reason = "the one place that starts the helper")]
            let mut command = Command::new(path);
            command.arg0(NAME).arg(SUPERVISE);
            // The rest goes over the socket: what is in the environment of a process is in /proc for all its time.
            command
                .env_clear()
                .envs(INHERITED.iter().filter_map(|name| Some((name, std::env::var_os(name)?))));
            command.stdin(OwnedFd::from(theirs.try_clone()?));
            let counter = options.slots.as_ref().map(|slots| slots.descriptor().try_clone()).transpose()?;
            command.stdout(counter.map_or_else(Stdio::null, Stdio::from));
            command.stderr(if options.show { Stdio::inherit() } else { Stdio::null() });
            command.spawn()
        });
        let child = child.map_err(cannot)?;
        drop(theirs);
        let mut helper = Self {
            socket: Some(ours),
            child,
            signals: Vec::new(),
            hearing: None,
            told: false,
            patience: options.grace + SILENCE,
            silent_until: None,
            files: SharedFiles::default(),
        };
        let shares = options.slots.is_some();
        helper.send(&Request::Start(options.clone(), std::env::vars_os().collect(), shares), &[])?;
        let ignored = match helper.receive()? {
            (Reply::Ready(ignored), ..) => ignored,
            (Reply::Refused(failure), ..) => return Err(failure),
            _ => return Err(helper.gone()),
        };
        let heard: Vec<i32> = SIGNALS
            .into_iter()
            .filter(|signal| options.stop_on_signals && !ignored.contains(signal))
            .collect();
        let cannot = |e: io::Error| Failure::of("cannot listen to signals", &e);
        if !heard.is_empty() {
            helper.hearing = Some(Hearing::begin(&heard).map_err(cannot)?);
        }
        let signals: io::Result<_> = heard.into_iter().map(Heard::new).collect();
        helper.signals = signals.map_err(cannot)?;
        Ok(helper)
    }

    /// Asks for runs. They are over with [`Event::Finished`], before which no others may be asked for.
    ///
    /// # Errors
    /// When the helper is gone.
    pub fn run(&mut self, jobs: Vec<Job>) -> Result<(), Failure> {
        let stdins: Vec<Option<Arc<[u8]>>> = jobs.iter().map(|job| job.stdin.clone()).collect();
        let lens = stdins.iter().map(|stdin| stdin.as_ref().map(|bytes| bytes.len()));
        let request = Request::Run(jobs.into_iter().zip(lens).collect());
        let behind: Vec<&[u8]> = stdins.iter().flatten().map(|bytes| &bytes[..]).collect();
        self.send(&request, &behind)
    }

    /// Keeps a template until this is dropped; gives its folder, for [`Job::home`] and [`Job::workspace`].
    ///
    /// # Errors
    /// When it cannot be made, or the helper is gone.
    pub fn keep(&mut self, template: Template) -> Result<OsString, Failure> {
        let files = if let Template::Files(files) = &template { &files[..] } else { &[] };
        let behind: Vec<Vec<u8>> = files.iter().map(|file| file.bytes.clone()).collect();
        let request = Request::Keep(template, behind.iter().map(Vec::len).collect());
        self.send(&request, &behind.iter().map(|bytes| &bytes[..]).collect::<Vec<_>>())?;
        // A dead file system may keep the helper waiting.
        match self.with_default_signals(Self::receive)?? {
            (Reply::Kept(folder), ..) => Ok(folder),
            (Reply::Refused(failure), ..) => Err(failure),
            _ => Err(self.gone()),
        }
    }

    /// Takes these values out of all that is told of what is run from now on, in the place of those that were named
    /// before: out of what it printed, in the spellings in which a secret is often seen, and out of names and paths.
    /// What stands in their place has as many bytes. A value of fewer than 6 bytes is left, and a word of fewer than 12
    /// letters. What a [trusted](Job::trusted) tool gives is for the caller alone, and is left unless it is
    /// [shown](Job::shown).
    ///
    /// # Errors
    /// When the helper is gone.
    pub fn redact(&mut self, values: Vec<OsString>) -> Result<(), Failure> {
        self.send(&Request::Redact(values), &[])
    }

    /// Starts a service. It is there with [`Event::Serving`]; or it has ended with [`Event::Done`] instead.
    /// Until then nothing else may be asked for but [`Helper::stop`].
    ///
    /// # Errors
    /// When the helper is gone.
    pub fn serve(&mut self, service: Service) -> Result<(), Failure> {
        self.send(&Request::Serve(service.into()), &[])
    }

    /// Ends all services. Each gives an [`Event::Done`], also one that ended before, and they are over with
    /// [`Event::Finished`]. Those that are still there when this is dropped are ended as well.
    ///
    /// # Errors
    /// When the helper is gone.
    pub fn end_services(&mut self) -> Result<(), Failure> {
        self.send(&Request::EndServices, &[])
    }

    /// Asks to end all runs: the first time as at a deadline, the second time at once.
    ///
    /// # Errors
    /// When the helper is gone.
    pub fn stop(&mut self) -> Result<(), Failure> {
        self.silent_until = Some(Instant::now() + self.patience);
        self.send(&Request::Stop, &[])
    }

    /// Does work of the caller between runs: meanwhile the signals that are listened to end the process, as they do
    /// by default.
    ///
    /// # Errors
    /// When they cannot be listened to afterwards.
    pub fn unheard<T>(&mut self, work: impl FnOnce() -> T) -> Result<T, Failure> {
        self.with_default_signals(|_| work())
    }

    fn with_default_signals<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> Result<T, Failure> {
        let signals: Vec<i32> = self.signals.iter().map(|heard| heard.signal).collect();
        let hearing = self.hearing.take();
        let is_listening = hearing.is_some();
        drop(hearing);
        let done = work(self);
        if is_listening {
            let cannot = |e: io::Error| Failure::of("cannot listen to signals", &e);
            self.hearing = Some(Hearing::begin(&signals).map_err(cannot)?);
        }
        Ok(done)
    }

    /// Waits for the next event. A helper that was asked to end its runs and is silent, such as where a dead file system
    /// holds it, is killed with all runs: these are over then.
    ///
    /// # Errors
    /// When the helper is gone.
    pub fn next_event(&mut self) -> Result<Event, Failure> {
        match self.wait().map_err(|_| self.gone())? {
            Heed::Signal(signal) => {
                self.told = true;
                return Ok(Event::Signal(signal));
            }
            Heed::Silence => {
                self.child.kill().unwrap_or_default();
                self.socket = None;
                return Ok(Event::Finished(None, None));
            }
            Heed::Reply => {}
        }
        let patience = self.patience;
        self.silent_until = self.silent_until.map(|_| Instant::now() + patience);
        let (reply, behind, files) = self.receive()?;
        match reply {
            Reply::Done(at, mut outcome, places) => {
                let (mut behind, mut files) = (&behind[..], files.into_iter());
                for (stream, place) in [&mut outcome.stdout, &mut outcome.stderr].into_iter().zip(places) {
                    self.fill(stream, place, &mut behind, &mut files)?;
                }
                Ok(Event::Done(at, outcome))
            }
            Reply::Finished(confinement, why) => Ok(Event::Finished(confinement, why)),
            Reply::Serving => Ok(Event::Serving),
            Reply::Ready(_) | Reply::Refused(_) | Reply::Kept(_) | Reply::Left(_) => Err(self.gone()),
        }
    }

    /// Ends the helper, with all runs and services; gives the folder that it could not remove, if there is one.
    pub fn finish(mut self) -> Option<OsString> {
        let socket = self.socket.take()?;
        socket.shutdown(Shutdown::Write).ok()?;
        loop {
            if let (Reply::Left(folder), ..) = receive(&socket).ok()? {
                return Some(folder);
            }
        }
    }

    /// Waits for what comes first.
    fn wait(&self) -> io::Result<Heed> {
        let heard = self.signals.iter().map(|heard| PollFd::new(&heard.pipe, PollFlags::IN));
        let socket = self.socket.iter().map(|socket| PollFd::new(socket, PollFlags::IN));
        let mut all: Vec<_> = heard.chain(socket).collect();
        loop {
            let left = self.silent_until.map(|until| until.saturating_duration_since(Instant::now()));
            let left = left.map(Timespec::try_from).transpose().map_err(io::Error::other)?;
            match poll(&mut all, left.as_ref()) {
                Ok(0) => return Ok(Heed::Silence),
                Ok(_) => break,
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        let ready = all.iter().zip(&self.signals).find(|(fd, _)| !fd.revents().is_empty());
        Ok(ready.map_or(Heed::Reply, |(_, heard)| Heed::Signal(heard.take())))
    }

    /// Puts the bytes of a stream to their place.
    fn fill(
        &mut self,
        stream: &mut Captured,
        place: Place,
        behind: &mut &[u8],
        files: &mut impl Iterator<Item = OwnedFd>,
    ) -> Result<(), Failure> {
        stream.bytes = match place {
            Place::Here(len) => {
                let (its, others) = behind.split_at_checked(len).ok_or_else(|| self.gone())?;
                *behind = others;
                Bytes::Memory(its.into())
            }
            Place::File(len, digest) => {
                let file = files.next().ok_or_else(|| {
                    Failure::new("cannot store the large output of so many runs: too many open files")
                        .hint("raise the limit: ulimit -n")
                })?;
                Bytes::File { file: self.files.shared(file.into(), len, digest), start: 0, len, digest }
            }
        };
        Ok(())
    }

    fn send(&mut self, request: &Request, behind: &[&[u8]]) -> Result<(), Failure> {
        let frame = frame(request, behind).map_err(|e| Failure::of("cannot request runs", &e))?;
        let mut rest = &frame[..];
        while !rest.is_empty() {
            let sent = self.socket.as_ref().map(|socket| send(socket, rest, SendFlags::NOSIGNAL));
            match sent {
                Some(Ok(n)) => rest = &rest[n..],
                Some(Err(Errno::INTR)) => {}
                Some(Err(_)) | None => return Err(self.gone()),
            }
        }
        Ok(())
    }

    /// The next reply, what stands behind it, and the files that came with it.
    fn receive(&mut self) -> Result<(Reply, Vec<u8>, Vec<OwnedFd>), Failure> {
        let received = self.socket.as_ref().and_then(|socket| receive(socket).ok());
        received.ok_or_else(|| self.gone())
    }

    /// The helper ended, or makes no sense: it is of no use any more.
    fn gone(&mut self) -> Failure {
        self.socket = None;
        match self.child.wait() {
            Ok(status) => Failure::new(format!("the helper process for runs ended: {status}")),
            Err(error) => Failure::of("the helper process for runs ended", &error),
        }
    }
}

impl Drop for Helper {
    fn drop(&mut self) {
        self.socket = None;
        self.child.wait().map(drop).unwrap_or_default();
        // One that came when nobody asked for events any more is not lost.
        let missed = self.signals.iter().find(|heard| !self.told && heard.is_pending());
        let missed = missed.map(|heard| heard.signal);
        self.signals.clear();
        self.hearing = None;
        if let Some(signal) = missed.filter(|_| UNHEARD.load(Ordering::SeqCst)) {
            emulate_default_handler(signal).unwrap_or_default();
        }
    }
}

/// How long a helper may be silent beyond the time of grace, once it was asked to end its runs.
const SILENCE: Duration = Duration::from_millis(600);

/// What a client that waits has to look at.
enum Heed {
    Signal(i32),
    Reply,
    /// The helper was not heard in time.
    Silence,
}

/// A signal that is heard.
#[derive(Debug)]
struct Heard {
    signal: i32,
    /// A byte comes here with each signal.
    pipe: UnixStream,
    handler: SigId,
}

impl Heard {
    fn new(signal: i32) -> io::Result<Self> {
        let (pipe, write) = UnixStream::pair()?;
        Ok(Self { signal, pipe, handler: pipe::register(signal, write)? })
    }

    /// Whether it came and was not taken.
    fn is_pending(&self) -> bool {
        rustix::io::ioctl_fionread(&self.pipe).is_ok_and(|bytes| bytes > 0)
    }

    fn take(&self) -> i32 {
        (&self.pipe).read(&mut [0]).map(drop).unwrap_or_default();
        self.signal
    }
}

impl Drop for Heard {
    fn drop(&mut self) {
        unregister(self.handler);
    }
}

/// The signals that end the work of a program.
const SIGNALS: [i32; 3] = [SIGINT, SIGTERM, SIGHUP];

/// Signals that somebody handles as long as this is there. When the last of these is dropped, they end the process
/// again, as they do by default: what was registered for a signal is never quite taken away.
#[derive(Debug)]
pub struct Hearing(());

/// How many there are, and the signals that end the process where there are none.
static HEARINGS: Mutex<(usize, Vec<i32>)> = Mutex::new((0, Vec::new()));
/// Whether there are none.
static UNHEARD: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

impl Hearing {
    /// Says that these signals are handled from now on.
    ///
    /// # Errors
    /// When they cannot be listened to.
    pub fn begin(signals: &[i32]) -> io::Result<Self> {
        let mut hearings = HEARINGS.lock().unwrap_or_else(PoisonError::into_inner);
        for signal in signals {
            if !hearings.1.contains(signal) {
                register_conditional_default(*signal, Arc::clone(&UNHEARD))?;
                hearings.1.push(*signal);
            }
        }
        hearings.0 += 1;
        UNHEARD.store(false, Ordering::SeqCst);
        Ok(Self(()))
    }
}

impl Drop for Hearing {
    fn drop(&mut self) {
        let mut hearings = HEARINGS.lock().unwrap_or_else(PoisonError::into_inner);
        hearings.0 -= 1;
        UNHEARD.store(hearings.0 == 0, Ordering::SeqCst);
    }
}

/// The large captures that are still in use, by length and digest: runs that print the same share one
/// file.
#[derive(Debug, Default)]
struct SharedFiles(HashMap<(u64, u128), Weak<File>>);

impl SharedFiles {
    /// This file, or the one that was there before.
    fn shared(&mut self, file: File, len: u64, digest: u128) -> Arc<File> {
        if let Some(known) = self.0.get(&(len, digest)).and_then(Weak::upgrade) {
            return known;
        }
        self.0.retain(|_, file| file.strong_count() > 0);
        let file = Arc::new(file);
        self.0.insert((len, digest), Arc::downgrade(&file));
        file
    }
}
