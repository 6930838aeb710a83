//! Reading a file or pipe that grows, until it is over or a signal says so.

use agentnative_contract::error::{Error, Result};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use signal_hook::consts::{SIGINT, SIGTERM};
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;

/// A file that has no more bytes is looked at again after so long, in nanoseconds.
const PAUSE: i64 = 100_000_000;

/// The end that becomes readable once SIGINT or SIGTERM comes.
///
/// # Errors
/// General, when the signals cannot be waited for.
pub fn stop_signal() -> Result<OwnedFd> {
    let cannot = |error: io::Error| Error::general(format!("cannot wait for signals: {error}"));
    let (stop, signalled) = UnixStream::pair().map_err(cannot)?;
    // From here on the signals no longer end the process.
    for signal in [SIGINT, SIGTERM] {
        let signalled = signalled.try_clone().map_err(cannot)?;
        signal_hook::low_level::pipe::register(signal, signalled).map_err(cannot)?;
    }
    Ok(stop.into())
}

/// A reader that waits for more where others see the end.
pub struct Follow<F> {
    /// What is read.
    pub source: File,
    /// Readable once the reading is to end; see [`stop_signal`].
    pub stop: OwnedFd,
    /// Called before each wait; gives false to end the reading.
    pub before_waiting: F,
}

impl<F: FnMut() -> bool> Read for Follow<F> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        // A file is always readable: at its end there are no bytes.
        let is_file = self.source.metadata()?.is_file();
        loop {
            let ready = is_file || self.wait(true, Some(0))? == Woken::Source;
            if ready {
                let read = self.source.read(buffer)?;
                if read > 0 || !is_file {
                    return Ok(read);
                }
            }
            if !(self.before_waiting)() {
                return Ok(0);
            }
            if self.wait(!is_file, is_file.then_some(PAUSE))? == Woken::Signal {
                return Ok(0);
            }
        }
    }
}

/// What a wait ended with.
#[derive(PartialEq, Eq)]
enum Woken {
    Signal,
    Source,
    Nothing,
}

impl<F> Follow<F> {
    /// Waits at most so many nanoseconds for the signal and, if wanted, for the source.
    fn wait(&self, source: bool, nanoseconds: Option<i64>) -> io::Result<Woken> {
        let wanted = if source { PollFlags::IN } else { PollFlags::empty() };
        let mut both = [PollFd::new(&self.stop, PollFlags::IN), PollFd::new(&self.source, wanted)];
        let count = if source { 2 } else { 1 };
        let timeout = nanoseconds.map(|tv_nsec| Timespec { tv_sec: 0, tv_nsec });
        match poll(&mut both[..count], timeout.as_ref()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        Ok(if !both[0].revents().is_empty() {
            Woken::Signal
        } else if source && !both[1].revents().is_empty() {
            Woken::Source
        } else {
            Woken::Nothing
        })
    }
}
