//! One output stream of a running target: where its bytes come from, and how fast they are read.

use super::capture::{CaptureBuffer, OutputOverflow, capture_file};
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

/// Maximum number of bytes of one read: the capacity of a pipe.
const MAX_READ: usize = 64 * 1024;
/// Maximum number of bytes that are read from a stream after the end of a run, in case a process still writes.
const MAX_FINAL_READ: u64 = 4 << 20;

/// How long no new bytes may arrive until the slow reader ends its pause.
const PAUSE: Duration = Duration::from_millis(300);
/// Interval between two checks whether new bytes have arrived while the slow reader pauses.
const CHECK_INTERVAL: Duration = Duration::from_millis(15);
/// Number of small reads after the pause of the slow reader. [`SMALL_READ`] is their size in bytes, and
/// [`SMALL_READ_DELAY`] the delay before each.
const SMALL_READS: u32 = 48;
const SMALL_READ: usize = 1024;
const SMALL_READ_DELAY: Duration = Duration::from_millis(1);

/// Size in bytes of the pipe of the slow reader. With the usual 64 KiB, most outputs would end before the pause has any
/// effect.
pub(super) const SMALL_PIPE: usize = 4096;

thread_local! {
    static BUFFER: RefCell<Box<[u8]>> = RefCell::new(vec![0; MAX_READ].into());
}

/// Registers a descriptor with the runtime, to wait until it is ready.
#[expect(deprecated, reason = "the other way in is unsafe; an owned descriptor is open as long as this one")]
pub(super) fn async_fd<T: AsRawFd>(fd: T, interest: Interest) -> io::Result<AsyncFd<T>> {
    AsyncFd::with_interest(fd, interest)
}

/// Where the bytes of a stream come from.
pub(super) enum StreamSource {
    Fd(AsyncFd<OwnedFd>),
    /// A file that the target itself writes, as its stdout.
    File(File),
    /// A terminal that no process has open at the moment. Closing it would send SIGHUP to the session, and its
    /// processes may open it again.
    Idle(AsyncFd<OwnedFd>),
    /// No source: the end of the stream was reached, or the supervisor closed the stream.
    Closed,
}

impl StreamSource {
    /// Creates a source from the read end of a pipe, or the master of a terminal.
    pub fn new(fd: OwnedFd) -> io::Result<Self> {
        rustix::io::ioctl_fionbio(&fd, true)?;
        Ok(Self::Fd(async_fd(fd, Interest::READABLE)?))
    }
}

/// How fast a stream is read.
#[derive(Debug, Clone, Copy)]
pub(super) enum Pace {
    /// Bytes are read as soon as they arrive.
    Eager,
    /// No bytes are read until their number, `available`, has not changed for a while.
    Paused { available: u64, since: Instant, next_check: Instant },
    /// Few bytes are read at once, with delays, for the `remaining` number of reads.
    SmallReads { remaining: u32, next: Instant },
}

impl Pace {
    pub fn paused(now: Instant) -> Self {
        Self::Paused { available: 0, since: now, next_check: now + CHECK_INTERVAL }
    }
}

/// The result of one read from a stream.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ReadResult {
    /// There were no bytes, or the bytes were captured. More may follow.
    Continue,
    /// The stream has ended.
    End,
    /// The stream exceeded its limit.
    Overflow(OutputOverflow),
}

pub(super) struct Stream {
    source: StreamSource,
    pace: Pace,
    capture: CaptureBuffer,
    start: Instant,
}

impl Stream {
    pub fn new(source: StreamSource, pace: Pace, capture: CaptureBuffer, start: Instant) -> Self {
        Self { source, pace, capture, start }
    }

    /// Whether the stream has not ended yet. False for a file.
    pub fn is_open(&self) -> bool {
        matches!(self.source, StreamSource::Fd(_))
    }

    /// Returns the number of bytes that the target has written to the stream, as far as known.
    pub fn len(&self) -> u64 {
        match &self.source {
            StreamSource::Fd(fd) => self.capture.len() + ioctl_fionread(fd.get_ref()).unwrap_or(0),
            StreamSource::File(file) => file.metadata().map_or(0, |metadata| metadata.len()),
            StreamSource::Idle(_) | StreamSource::Closed => self.capture.len(),
        }
    }

    /// Returns the limit if the stream is a file of the target that exceeds it; otherwise `None`.
    pub fn file_overflow(&self) -> Option<OutputOverflow> {
        let is_file = matches!(self.source, StreamSource::File(_));
        (is_file && self.len() > self.capture.limit).then_some(OutputOverflow(self.capture.limit))
    }

    /// Searches the following bytes of the stream for a text.
    pub fn await_text(&mut self, text: &str) {
        self.capture.await_text(text);
    }

    pub fn has_received_awaited_text(&self) -> bool {
        self.capture.has_received_awaited_text()
    }

    /// Reads the stream without pauses from now on.
    pub fn read_eagerly(&mut self) {
        self.pace = Pace::Eager;
    }

    /// Waits for bytes and reads once. Waits forever if there is nothing to read from. Cancel safe.
    pub async fn read_once(&mut self) -> ReadResult {
        let StreamSource::Fd(fd) = &self.source else { return pending().await };
        let max = match self.pace {
            Pace::Eager => MAX_READ,
            Pace::Paused { available, since, next_check } => {
                sleep_until(next_check).await;
                let (now, now_available) = (Instant::now(), ioctl_fionread(fd.get_ref()).unwrap_or(0));
                self.pace = match now_available {
                    now_available if now_available != available || now_available == 0 => Pace::Paused {
                        available: now_available,
                        since: now,
                        next_check: now + CHECK_INTERVAL,
                    },
                    _ if now - since >= PAUSE => Pace::SmallReads { remaining: SMALL_READS, next: now },
                    _ => Pace::Paused { available, since, next_check: now + CHECK_INTERVAL },
                };
                return ReadResult::Continue;
            }
            Pace::SmallReads { remaining: 0, .. } => {
                // The following output is only large.
                fcntl_setpipe_size(fd.get_ref(), MAX_READ).map(drop).unwrap_or_default();
                self.pace = Pace::Eager;
                MAX_READ
            }
            Pace::SmallReads { next, .. } => {
                sleep_until(next).await;
                SMALL_READ
            }
        };
        let read = match fd.readable().await {
            Err(error) => Err(error),
            Ok(mut guard) => BUFFER.with_borrow_mut(|buffer| {
                let buffer = &mut buffer[..max];
                match guard.try_io(|fd| Ok(rustix::io::read(fd.get_ref(), &mut *buffer)?)) {
                    Ok(Ok(n)) => Ok(Some((n, self.capture.push(&buffer[..n], self.start.elapsed())))),
                    Ok(Err(error)) => Err(error),
                    Err(_would_block) => Ok(None),
                }
            }),
        };
        if let Pace::SmallReads { remaining, .. } = self.pace {
            self.pace = Pace::SmallReads {
                remaining: remaining.saturating_sub(1),
                next: Instant::now() + SMALL_READ_DELAY,
            };
        }
        self.handle_read(read)
    }

    /// Converts the result of a read, and closes the source if the stream has ended. The number is that of the bytes
    /// read; `None` if there were none.
    fn handle_read(&mut self, read: io::Result<Option<(usize, Result<(), OutputOverflow>)>>) -> ReadResult {
        match read {
            Ok(None) => ReadResult::Continue,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => ReadResult::Continue,
            Err(error) if error.raw_os_error() == Some(Errno::IO.raw_os_error()) => self.set_idle(),
            Err(_) | Ok(Some((0, _))) => self.close(),
            Ok(Some((_, Err(overflow)))) => ReadResult::Overflow(overflow),
            Ok(Some((_, Ok(())))) => ReadResult::Continue,
        }
    }

    fn set_idle(&mut self) -> ReadResult {
        self.source = match std::mem::replace(&mut self.source, StreamSource::Closed) {
            StreamSource::Fd(fd) => StreamSource::Idle(fd),
            other => other,
        };
        ReadResult::End
    }

    fn close(&mut self) -> ReadResult {
        self.source = StreamSource::Closed;
        ReadResult::End
    }

    /// Reads the bytes that are available now, without waiting. Called before the stream is closed.
    pub fn read_available(&mut self) -> ReadResult {
        let mut max = MAX_FINAL_READ;
        while let StreamSource::Fd(fd) | StreamSource::Idle(fd) = &self.source
            && max > 0
        {
            let read =
                BUFFER.with_borrow_mut(|buffer| match rustix::io::read(fd.get_ref(), &mut buffer[..]) {
                    Ok(n) => Ok(Some((n, self.capture.push(&buffer[..n], self.start.elapsed())))),
                    Err(Errno::AGAIN) => Ok(None),
                    Err(error) => Err(error.into()),
                });
            match read {
                Ok(None) => break,
                Ok(Some((n, _))) => max = max.saturating_sub(n as u64),
                Err(_) => {}
            }
            match self.handle_read(read) {
                ReadResult::Continue => {}
                step => return step,
            }
        }
        ReadResult::Continue
    }

    /// Closes the stream and returns what was captured.
    pub async fn finish(self) -> io::Result<Captured> {
        match self.source {
            StreamSource::File(file) => capture_file(file, self.capture.limit, self.start.elapsed()).await,
            StreamSource::Fd(_) | StreamSource::Idle(_) | StreamSource::Closed => self.capture.finish(),
        }
    }
}
