//! The three standard descriptors of a run: the target's ends and ours.

use super::all_runs::Common;
use super::capture::Sink;
use super::stream::{Pace, SMALL_PIPE, Source, Stream, awaitable};
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

/// Both sides of the standard descriptors.
pub(super) struct Channels {
    /// Standard input, output and error of the target.
    pub target: [OwnedFd; 3],
    pub stdout: Stream,
    pub stderr: Stream,
    pub feed: Feed,
    pub ids: StdioIds,
}

/// Opens the channels that the variant of a run asks for, with this terminal if it needs one. At most `limit` bytes of a
/// stream are kept. Large captures, and a file that the target writes itself, go into the folder of all runs.
pub(super) fn open_channels(
    common: &Common,
    job: &Job,
    mut terminal: Option<Terminal>,
    limit: u64,
    start: Instant,
) -> io::Result<Channels> {
    let mut ids = StdioIds::default();
    let mut terminal = || terminal.take().map_or_else(Terminal::open, Ok);
    let sink = || Sink::new(common.root.spool(), limit);
    let stream = |source, pace| Stream::new(source, pace, sink(), start);
    let (stdin, feed) = match &job.stdin {
        Some(bytes) => {
            let (read, write) = pipe_with(PipeFlags::CLOEXEC)?;
            (read, Feed::new(write, bytes.clone())?)
        }
        None if job.variant.opens_stdin(job.nth) => {
            let (read, write) = pipe_with(PipeFlags::CLOEXEC)?;
            ids.set_stdin(&read)?;
            (read, Feed::Silent { _held: write })
        }
        None if job.variant == Variant::TerminalIn => {
            let Terminal { master, slave, name } = terminal()?;
            ids.set_terminal(name);
            (slave, Feed::terminal(master)?)
        }
        None => {
            let null = open("/dev/null", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
            (null, Feed::Done)
        }
    };
    if job.shown && common.options.show {
        #[expect(clippy::disallowed_methods, reason = "what is shown to people goes there")]
        let shown = || io::stderr().as_fd().try_clone_to_owned();
        let [stdout, stderr] = [(); 2].map(|()| stream(Source::Closed, Pace::Eager));
        return Ok(Channels { target: [stdin, shown()?, shown()?], stdout, stderr, feed, ids });
    }
    let piped = |pace, small: bool| -> io::Result<(OwnedFd, Stream)> {
        let (read, write) = pipe_with(PipeFlags::CLOEXEC)?;
        if small {
            fcntl_setpipe_size(&read, SMALL_PIPE)?;
        }
        Ok((write, stream(Source::of(read)?, pace)))
    };
    if job.variant == Variant::FullTerminal {
        let Terminal { master, slave, name } = terminal()?;
        ids.set_terminal(name);
        let stdin = if job.stdin.is_some() { stdin } else { slave.try_clone()? };
        let stdout = stream(Source::of(master)?, Pace::Eager);
        let stderr = stream(Source::Closed, Pace::Eager);
        return Ok(Channels { target: [stdin, slave.try_clone()?, slave], stdout, stderr, feed, ids });
    }
    let (out, stdout) = match job.variant {
        variant if variant.has_terminal_out() => {
            let Terminal { master, slave, name } = terminal()?;
            ids.set_terminal(name);
            (slave, stream(Source::of(master)?, Pace::Eager))
        }
        Variant::File => {
            let file = tempfile::tempfile_in(common.root.spool())?;
            (file.try_clone()?.into(), stream(Source::File(file), Pace::Eager))
        }
        Variant::SlowReader => piped(Pace::paused(start), true)?,
        Variant::ClosedPipe => {
            let (_gone, write) = pipe_with(PipeFlags::CLOEXEC)?;
            (write, stream(Source::Closed, Pace::Eager))
        }
        Variant::Full => {
            let full = open("/dev/full", OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())?;
            (full, stream(Source::Closed, Pace::Eager))
        }
        _ => piped(Pace::Eager, false)?,
    };
    let (err, stderr) = piped(Pace::Eager, false)?;
    Ok(Channels { target: [stdin, out, err], stdout, stderr, feed, ids })
}

/// Our end of standard input.
pub(super) enum Feed {
    /// Bytes that are still to be written.
    Bytes { fd: AsyncFd<OwnedFd>, bytes: Arc<[u8]>, at: usize },
    /// A pipe that is held open and never written.
    Silent { _held: OwnedFd },
    /// A terminal on which nobody types: what was written to it, and whether nobody has it open any more. It stays
    /// open on our side, since closing it would send SIGHUP to the session.
    Terminal { fd: AsyncFd<OwnedFd>, shown: Vec<u8>, over: bool },
    /// Nothing more will come.
    Done,
}

impl Feed {
    fn new(fd: OwnedFd, bytes: Arc<[u8]>) -> io::Result<Self> {
        ioctl_fionbio(&fd, true)?;
        // What fits into the pipe is there before the target starts.
        let at = rustix::io::write(&fd, &bytes)?;
        if at == bytes.len() {
            return Ok(Self::Done);
        }
        Ok(Self::Bytes { fd: awaitable(fd, Interest::WRITABLE)?, bytes, at })
    }

    fn terminal(master: OwnedFd) -> io::Result<Self> {
        ioctl_fionbio(&master, true)?;
        Ok(Self::Terminal { fd: awaitable(master, Interest::READABLE)?, shown: Vec::new(), over: false })
    }

    /// Writes on when there is room. May be dropped while it waits.
    pub async fn step(&mut self) {
        let (fd, bytes, at) = match self {
            Self::Terminal { fd, shown, over: over @ false } => {
                *over = listen(fd, shown).await.is_err();
                return;
            }
            Self::Bytes { fd, bytes, at } => (fd, bytes, at),
            Self::Terminal { .. } | Self::Silent { .. } | Self::Done => return pending().await,
        };
        let Ok(mut guard) = fd.writable().await else { return };
        match guard.try_io(|fd| Ok(rustix::io::write(fd.get_ref(), &bytes[*at..])?)) {
            Ok(Ok(n)) if *at + n < bytes.len() => *at += n,
            Ok(Err(error)) if error.kind() == io::ErrorKind::Interrupted => {}
            // All is written, or the target closed its end, which it may.
            Ok(_) => *self = Self::Done,
            Err(_would_block) => {}
        }
    }

    /// What was written to the terminal that standard input alone is.
    pub fn shown(self) -> Vec<u8> {
        match self {
            Self::Terminal { shown, .. } => shown,
            _ => Vec::new(),
        }
    }
}

/// Waits for bytes, and keeps the first of them.
async fn listen(fd: &AsyncFd<OwnedFd>, shown: &mut Vec<u8>) -> io::Result<()> {
    let mut bytes = [0; MOST_SHOWN];
    match fd.readable().await?.try_io(|fd| Ok(rustix::io::read(fd.get_ref(), &mut bytes)?)) {
        Ok(read) => {
            let left = MOST_SHOWN - shown.len();
            shown.extend(&bytes[..read?.min(left)]);
            Ok(())
        }
        Err(_would_block) => Ok(()),
    }
}

/// So much of what is written to a terminal beside the streams is kept, in bytes.
const MOST_SHOWN: usize = 4096;
