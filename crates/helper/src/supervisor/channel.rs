//! The standard descriptors of a run: the target's ends and the supervisor's ends.

use super::capture::CaptureBuffer;
use super::common::Common;
use super::stream::{Pace, SMALL_PIPE, Stream, StreamSource, async_fd};
use super::terminal::Terminal;
use crate::sys::StdioIds;
use crate::{Job, Variant};
use rustix::fs::{Mode, OFlags, open};
use rustix::io::ioctl_fionbio;
use rustix::pipe::{PipeFlags, fcntl_setpipe_size, pipe_with};
use std::future::pending;
use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::sync::Arc;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::time::Instant;

/// The standard descriptors of a run: the target's ends, and the supervisor's ends.
pub(super) struct Channels {
    /// Stdin, stdout and stderr of the target.
    pub target: [OwnedFd; 3],
    pub stdout: Stream,
    pub stderr: Stream,
    pub feed: StdinFeed,
    pub ids: StdioIds,
}

/// Opens the standard descriptors of a run as its variant requires. `terminal` is used if the variant needs a terminal;
/// if it is `None`, a new one is opened. Captures at most `limit` bytes per stream. Large captures, and a file that the
/// target writes itself, are stored in the folder of all runs.
pub(super) fn open_channels(
    common: &Common,
    job: &Job,
    mut terminal: Option<Terminal>,
    limit: u64,
    start: Instant,
) -> io::Result<Channels> {
    let mut ids = StdioIds::default();
    let mut terminal = || terminal.take().map_or_else(Terminal::open, Ok)?.with_columns(job.columns);
    let capture = || CaptureBuffer::new(common.root.capture_folder(), limit);
    let stream = |source, pace| Stream::new(source, pace, capture(), start);
    let (stdin, feed) = match &job.stdin {
        Some(bytes) => {
            let (read, write) = pipe_with(PipeFlags::CLOEXEC)?;
            (read, StdinFeed::new(write, bytes.clone())?)
        }
        None if job.variant.opens_stdin(job.environment) => {
            let (read, write) = pipe_with(PipeFlags::CLOEXEC)?;
            ids.set_stdin(&read)?;
            (read, StdinFeed::Silent { _held: write })
        }
        None if job.variant == Variant::TerminalIn => {
            let Terminal { master, slave, name } = terminal()?;
            ids.set_terminal(name);
            (slave, StdinFeed::terminal(master)?)
        }
        None => {
            let null = open("/dev/null", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
            (null, StdinFeed::Done)
        }
    };
    if job.shows_output && common.options.show {
        #[expect(clippy::disallowed_methods, reason = "what is shown to people goes there")]
        let shown = || io::stderr().as_fd().try_clone_to_owned();
        let [stdout, stderr] = [(); 2].map(|()| stream(StreamSource::Closed, Pace::Eager));
        return Ok(Channels { target: [stdin, shown()?, shown()?], stdout, stderr, feed, ids });
    }
    let piped = |pace, small: bool| -> io::Result<(OwnedFd, Stream)> {
        let (read, write) = pipe_with(PipeFlags::CLOEXEC)?;
        if small {
            fcntl_setpipe_size(&read, SMALL_PIPE)?;
        }
        Ok((write, stream(StreamSource::new(read)?, pace)))
    };
    if job.variant == Variant::FullTerminal {
        let Terminal { master, slave, name } = terminal()?;
        ids.set_terminal(name);
        let stdin = if job.stdin.is_some() { stdin } else { slave.try_clone()? };
        let stdout = stream(StreamSource::new(master)?, Pace::Eager);
        let stderr = stream(StreamSource::Closed, Pace::Eager);
        return Ok(Channels { target: [stdin, slave.try_clone()?, slave], stdout, stderr, feed, ids });
    }
    let (out, stdout) = match job.variant {
        variant if variant.has_terminal_out() => {
            let Terminal { master, slave, name } = terminal()?;
            ids.set_terminal(name);
            (slave, stream(StreamSource::new(master)?, Pace::Eager))
        }
        Variant::File => {
            let file = tempfile::tempfile_in(common.root.capture_folder())?;
            (file.try_clone()?.into(), stream(StreamSource::File(file), Pace::Eager))
        }
        Variant::SlowReader => piped(Pace::paused(start), true)?,
        Variant::ClosedPipe => {
            let (_closed, write) = pipe_with(PipeFlags::CLOEXEC)?;
            (write, stream(StreamSource::Closed, Pace::Eager))
        }
        Variant::Full => {
            let full = open("/dev/full", OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())?;
            (full, stream(StreamSource::Closed, Pace::Eager))
        }
        _ => piped(Pace::Eager, false)?,
    };
    let (err, stderr) = piped(Pace::Eager, false)?;
    Ok(Channels { target: [stdin, out, err], stdout, stderr, feed, ids })
}

/// The supervisor's end of the stdin of a target.
pub(super) enum StdinFeed {
    /// A pipe to which bytes have to be written; the first `written` of them already are.
    Bytes { fd: AsyncFd<OwnedFd>, bytes: Arc<[u8]>, written: usize },
    /// A pipe that is held open and never written to.
    Silent { _held: OwnedFd },
    /// A terminal without input. `output` contains what the target printed on it, and `is_closed` is true once all
    /// processes have closed it. The supervisor keeps its side open, since closing it would send SIGHUP to the session.
    Terminal { fd: AsyncFd<OwnedFd>, output: Vec<u8>, is_closed: bool },
    /// Nothing is left to write.
    Done,
}

impl StdinFeed {
    fn new(fd: OwnedFd, bytes: Arc<[u8]>) -> io::Result<Self> {
        ioctl_fionbio(&fd, true)?;
        // Fill the pipe before the target starts.
        let written = rustix::io::write(&fd, &bytes)?;
        if written == bytes.len() {
            return Ok(Self::Done);
        }
        Ok(Self::Bytes { fd: async_fd(fd, Interest::WRITABLE)?, bytes, written })
    }

    fn terminal(master: OwnedFd) -> io::Result<Self> {
        ioctl_fionbio(&master, true)?;
        Ok(Self::Terminal { fd: async_fd(master, Interest::READABLE)?, output: Vec::new(), is_closed: false })
    }

    /// Writes as many bytes as possible to the pipe, or reads what the target printed on the terminal. Waits forever if
    /// there is nothing to do. Cancel safe.
    pub async fn transfer_once(&mut self) {
        let (fd, bytes, written) = match self {
            Self::Terminal { fd, output, is_closed: is_closed @ false } => {
                *is_closed = read_terminal(fd, output).await.is_err();
                return;
            }
            Self::Bytes { fd, bytes, written } => (fd, bytes, written),
            Self::Terminal { .. } | Self::Silent { .. } | Self::Done => return pending().await,
        };
        let Ok(mut guard) = fd.writable().await else { return };
        match guard.try_io(|fd| Ok(rustix::io::write(fd.get_ref(), &bytes[*written..])?)) {
            Ok(Ok(n)) if *written + n < bytes.len() => *written += n,
            Ok(Err(error)) if error.kind() == io::ErrorKind::Interrupted => {}
            // All is written, or the target closed its end, which is allowed.
            Ok(_) => *self = Self::Done,
            Err(_would_block) => {}
        }
    }

    /// Returns what the target printed on the terminal of its stdin. Empty if stdin is not a terminal, or if stdout is
    /// the same one.
    pub fn into_terminal_output(self) -> Vec<u8> {
        match self {
            Self::Terminal { output, .. } => output,
            _ => Vec::new(),
        }
    }
}

/// Waits for output on the terminal and appends it to `output`, up to [`MAX_TERMINAL_OUTPUT`].
async fn read_terminal(fd: &AsyncFd<OwnedFd>, output: &mut Vec<u8>) -> io::Result<()> {
    let mut bytes = [0; MAX_TERMINAL_OUTPUT];
    match fd.readable().await?.try_io(|fd| Ok(rustix::io::read(fd.get_ref(), &mut bytes)?)) {
        Ok(read) => {
            let left = MAX_TERMINAL_OUTPUT - output.len();
            output.extend(&bytes[..read?.min(left)]);
            Ok(())
        }
        Err(_would_block) => Ok(()),
    }
}

/// Maximum number of bytes that are kept of what a target prints on the terminal of its stdin.
const MAX_TERMINAL_OUTPUT: usize = 4096;
