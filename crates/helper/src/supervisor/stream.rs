//! One stream of a target while it runs: where its bytes come from, and how eagerly they are read.

use super::capture::{Sink, TooMuch, adopt};
use crate::Captured;
use rustix::io::{Errno, ioctl_fionread};
use rustix::pipe::fcntl_setpipe_size;
use std::cell::RefCell;
use std::fs::File;
use std::future::pending;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::time::Duration;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::time::{Instant, sleep_until};

/// The most that is read at once: what a pipe holds.
const PIECE: usize = 64 * 1024;
/// The most that is read after the end, when somebody may still hold the stream and write to it.
const REST: u64 = 4 << 20;

/// How long the slow reader waits for more while it lets the target wait.
const PAUSE: Duration = Duration::from_millis(300);
/// How often the slow reader looks whether more has come.
const LOOK: Duration = Duration::from_millis(15);
/// The slow reader then takes so many small pieces, with a short rest before each.
const SIPS: u32 = 48;
const SIP: usize = 1024;
const REST_BEFORE_SIP: Duration = Duration::from_millis(1);

/// The size of the pipe of the slow reader. With the usual 64 KiB most outputs
/// would be over before the reader had any say.
pub(super) const SMALL_PIPE: usize = 4096;

thread_local! {
    static BUFFER: RefCell<Box<[u8]>> = RefCell::new(vec![0; PIECE].into());
}

/// A descriptor that can be waited for.
#[expect(deprecated, reason = "the other way in is unsafe; an owned descriptor is open as long as this one")]
pub(super) fn awaitable<T: AsRawFd>(fd: T, interest: Interest) -> io::Result<AsyncFd<T>> {
    AsyncFd::with_interest(fd, interest)
}

/// Where the bytes come from.
pub(super) enum Source {
    /// A pipe or a terminal.
    Fd(AsyncFd<OwnedFd>),
    /// A file that the target itself writes.
    File(File),
    /// A terminal that nobody has open at the moment. To close it would send SIGHUP to the session, and
    /// its processes may open it again.
    Idle(AsyncFd<OwnedFd>),
    /// It has ended, or we closed it.
    Closed,
}

impl Source {
    /// The read end of a pipe, or the master of a terminal.
    pub fn of(fd: OwnedFd) -> io::Result<Self> {
        rustix::io::ioctl_fionbio(&fd, true)?;
        Ok(Self::Fd(awaitable(fd, Interest::READABLE)?))
    }
}

/// How eagerly a stream is read.
#[derive(Debug, Clone, Copy)]
pub(super) enum Pace {
    /// At once.
    Eager,
    /// Not at all until nothing more comes.
    Paused { seen: u64, since: Instant, look: Instant },
    /// In small pieces, so many more.
    Sips { left: u32, next: Instant },
}

impl Pace {
    pub fn paused(now: Instant) -> Self {
        Self::Paused { seen: 0, since: now, look: now + LOOK }
    }
}

/// What a step of reading gave.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Nothing, or bytes that were kept.
    On,
    /// The end.
    End,
    /// More than is kept.
    Over(TooMuch),
}

pub(super) struct Stream {
    source: Source,
    pace: Pace,
    sink: Sink,
    start: Instant,
}

impl Stream {
    pub fn new(source: Source, pace: Pace, sink: Sink, start: Instant) -> Self {
        Self { source, pace, sink, start }
    }

    /// Whether its end is still to come. (A file has none.)
    pub fn is_open(&self) -> bool {
        matches!(self.source, Source::Fd(_))
    }

    /// Number of bytes that the target is known to have written.
    pub fn len(&self) -> u64 {
        match &self.source {
            Source::Fd(fd) => self.sink.len() + ioctl_fionread(fd.get_ref()).unwrap_or(0),
            Source::File(file) => file.metadata().map_or(0, |metadata| metadata.len()),
            Source::Idle(_) | Source::Closed => self.sink.len(),
        }
    }

    /// Whether the target's own file has grown past the limit.
    pub fn overgrown(&self) -> Option<TooMuch> {
        let is_file = matches!(self.source, Source::File(_));
        (is_file && self.len() > self.sink.limit).then_some(TooMuch(self.sink.limit))
    }

    /// Looks for a text in what is to come.
    pub fn await_text(&mut self, text: &str) {
        self.sink.await_text(text);
    }

    /// Whether the text was seen.
    pub fn has_seen(&self) -> bool {
        self.sink.has_seen()
    }

    /// Reads without pauses from now on.
    pub fn hurry(&mut self) {
        self.pace = Pace::Eager;
    }

    /// Waits for bytes and reads once. May be dropped while it waits.
    pub async fn step(&mut self) -> Step {
        let Source::Fd(fd) = &self.source else { return pending().await };
        let most = match self.pace {
            Pace::Eager => PIECE,
            Pace::Paused { seen, since, look } => {
                sleep_until(look).await;
                let (now, held) = (Instant::now(), ioctl_fionread(fd.get_ref()).unwrap_or(0));
                self.pace = match held {
                    held if held != seen || held == 0 => {
                        Pace::Paused { seen: held, since: now, look: now + LOOK }
                    }
                    _ if now - since >= PAUSE => Pace::Sips { left: SIPS, next: now },
                    _ => Pace::Paused { seen, since, look: now + LOOK },
                };
                return Step::On;
            }
            Pace::Sips { left: 0, .. } => {
                // From here on only the amount matters.
                fcntl_setpipe_size(fd.get_ref(), PIECE).map(drop).unwrap_or_default();
                self.pace = Pace::Eager;
                PIECE
            }
            Pace::Sips { next, .. } => {
                sleep_until(next).await;
                SIP
            }
        };
        let read = match fd.readable().await {
            Err(error) => Err(error),
            Ok(mut guard) => BUFFER.with_borrow_mut(|buffer| {
                let buffer = &mut buffer[..most];
                match guard.try_io(|fd| Ok(rustix::io::read(fd.get_ref(), &mut *buffer)?)) {
                    Ok(Ok(n)) => Ok(Some((n, self.sink.push(&buffer[..n], self.start.elapsed())))),
                    Ok(Err(error)) => Err(error),
                    Err(_would_block) => Ok(None),
                }
            }),
        };
        if let Pace::Sips { left, .. } = self.pace {
            self.pace = Pace::Sips { left: left.saturating_sub(1), next: Instant::now() + REST_BEFORE_SIP };
        }
        self.after(read)
    }

    /// What follows from a read.
    fn after(&mut self, read: io::Result<Option<(usize, Result<(), TooMuch>)>>) -> Step {
        match read {
            Ok(None) => Step::On,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Step::On,
            Err(error) if error.raw_os_error() == Some(Errno::IO.raw_os_error()) => self.idle(),
            Err(_) | Ok(Some((0, _))) => self.close(),
            Ok(Some((_, Err(over)))) => Step::Over(over),
            Ok(Some((_, Ok(())))) => Step::On,
        }
    }

    fn idle(&mut self) -> Step {
        self.source = match std::mem::replace(&mut self.source, Source::Closed) {
            Source::Fd(fd) => Source::Idle(fd),
            other => other,
        };
        Step::End
    }

    fn close(&mut self) -> Step {
        self.source = Source::Closed;
        Step::End
    }

    /// Reads what is there without waiting: the last look before the stream is closed.
    pub fn rest(&mut self) -> Step {
        let mut most = REST;
        while let Source::Fd(fd) | Source::Idle(fd) = &self.source
            && most > 0
        {
            let read =
                BUFFER.with_borrow_mut(|buffer| match rustix::io::read(fd.get_ref(), &mut buffer[..]) {
                    Ok(n) => Ok(Some((n, self.sink.push(&buffer[..n], self.start.elapsed())))),
                    Err(Errno::AGAIN) => Ok(None),
                    Err(error) => Err(error.into()),
                });
            match read {
                Ok(None) => break,
                Ok(Some((n, _))) => most = most.saturating_sub(n as u64),
                Err(_) => {}
            }
            match self.after(read) {
                Step::On => {}
                step => return step,
            }
        }
        Step::On
    }

    /// What the stream gave.
    pub async fn finish(self) -> io::Result<Captured> {
        match self.source {
            Source::File(file) => adopt(file, self.sink.limit, self.start.elapsed()).await,
            Source::Fd(_) | Source::Idle(_) | Source::Closed => self.sink.finish(),
        }
    }
}
