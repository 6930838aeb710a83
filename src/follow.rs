//! Reads a growing file or pipe until it ends or a signal arrives.

use agentnative_contract::error::{Error, Result};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use signal_hook::consts::{SIGINT, SIGTERM};
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;

/// Polling interval at the end of a file, in nanoseconds.
const POLL_INTERVAL: i64 = 100_000_000;

/// Returns a file descriptor that becomes readable when SIGINT or SIGTERM arrives.
///
/// # Errors
/// A general error if the signal handlers cannot be installed.
pub fn stop_signal() -> Result<OwnedFd> {
    let cannot = |error: io::Error| Error::general(format!("cannot wait for signals: {error}"));
    let (stop, signalled) = UnixStream::pair().map_err(cannot)?;
    // From here on, the signals no longer end the process.
    for signal in [SIGINT, SIGTERM] {
        let signalled = signalled.try_clone().map_err(cannot)?;
        signal_hook::low_level::pipe::register(signal, signalled).map_err(cannot)?;
    }
    Ok(stop.into())
}

/// A reader that waits for more data at the end of a file.
pub struct Follow<F> {
    /// The file or pipe to read.
    pub source: File,
    /// File descriptor that becomes readable when reading should stop; see [`stop_signal`].
    pub stop: OwnedFd,
    /// Called before each wait; returns false to stop reading.
    pub before_waiting: F,
}

impl<F: FnMut() -> bool> Read for Follow<F> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        // A regular file is always readable; at its end, a read returns no bytes.
        let is_file = self.source.metadata()?.is_file();
        loop {
            let is_ready = is_file || self.wait(true, Some(0))? == WakeReason::Source;
            if is_ready {
                let read = self.source.read(buffer)?;
                if read > 0 || !is_file {
                    return Ok(read);
                }
            }
            if !(self.before_waiting)() {
                return Ok(0);
            }
            if self.wait(!is_file, is_file.then_some(POLL_INTERVAL))? == WakeReason::Signal {
                return Ok(0);
            }
        }
    }
}

/// What ended a wait.
#[derive(PartialEq, Eq)]
enum WakeReason {
    Signal,
    Source,
    Timeout,
}

impl<F> Follow<F> {
    /// Waits for the stop signal and, if `source`, for data from the file or pipe. Waits at most `nanoseconds`; `None`
    /// is no limit.
    fn wait(&self, source: bool, nanoseconds: Option<i64>) -> io::Result<WakeReason> {
        let events = if source { PollFlags::IN } else { PollFlags::empty() };
        let mut both = [PollFd::new(&self.stop, PollFlags::IN), PollFd::new(&self.source, events)];
        let count = if source { 2 } else { 1 };
        let timeout = nanoseconds.map(|tv_nsec| Timespec { tv_sec: 0, tv_nsec });
        match poll(&mut both[..count], timeout.as_ref()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        Ok(if !both[0].revents().is_empty() {
            WakeReason::Signal
        } else if source && !both[1].revents().is_empty() {
            WakeReason::Source
        } else {
            WakeReason::Timeout
        })
    }
}
