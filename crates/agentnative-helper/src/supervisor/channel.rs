//! The three standard descriptors of a run: the target's ends and ours.

use super::Common;
use super::capture::Sink;
use super::stream::{Pace, SMALL_PIPE, Source, Stream, awaitable};
use crate::sys::StdioIds;
use crate::{Job, Variant};
use rustix::fs::{Mode, OFlags, open};
use rustix::io::ioctl_fionbio;
use rustix::pipe::{PipeFlags, fcntl_setpipe_size, pipe_with};
use rustix::pty::{OpenptFlags, grantpt, ioctl_tiocgptpeer, openpt, ptsname, unlockpt};
use rustix::termios::{
    LocalModes, OptionalActions, OutputModes, Winsize, tcgetattr, tcsetattr, tcsetwinsize,
};
use std::future::pending;
use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::path::Path;
use std::sync::Arc;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::time::Instant;

/// The size that a terminal says it has.
const WINDOW: Winsize = Winsize { ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0 };

/// Both sides of the standard descriptors.
pub(super) struct Channels {
    /// Standard input, output and error of the target.
    pub target: [OwnedFd; 3],
    pub stdout: Stream,
    pub stderr: Stream,
    pub feed: Feed,
    pub ids: StdioIds,
}

/// Makes the channels that the variant of a run asks for. So much of a stream is kept; large captures go
/// into the folder of all runs, a file that the target writes itself into its `own`.
pub(super) fn open_channels(
    common: &Common,
    job: &Job,
    own: &Path,
    limit: u64,
    start: Instant,
) -> io::Result<Channels> {
    let mut ids = StdioIds::default();
    let sink = || Sink::new(common.root.spool(), limit);
    let stream = |source, pace| Stream::new(source, pace, sink(), start);
    let (stdin, feed) = match &job.stdin {
        Some(bytes) => {
            let (read, write) = pipe_with(PipeFlags::CLOEXEC)?;
            (read, Feed::new(write, bytes.clone())?)
        }
        None if job.variant == Variant::OpenStdin => {
            let (read, write) = pipe_with(PipeFlags::CLOEXEC)?;
            ids.set_stdin(&read)?;
            (read, Feed::Silent { _held: write })
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
    let (out, stdout) = match job.variant {
        Variant::Tty => {
            let (master, slave, name) = terminal()?;
            ids.set_terminal(name);
            (slave, stream(Source::of(master)?, Pace::Eager))
        }
        Variant::File => {
            let file = tempfile::tempfile_in(own)?;
            (file.try_clone()?.into(), stream(Source::File(file), Pace::Eager))
        }
        Variant::SlowReader => piped(Pace::paused(start), true)?,
        Variant::ClosedPipe => {
            let (_gone, write) = pipe_with(PipeFlags::CLOEXEC)?;
            (write, stream(Source::Closed, Pace::Eager))
        }
        Variant::Plain | Variant::HostileEnv | Variant::Repeat | Variant::OpenStdin => {
            piped(Pace::Eager, false)?
        }
    };
    let (err, stderr) = piped(Pace::Eager, false)?;
    Ok(Channels { target: [stdin, out, err], stdout, stderr, feed, ids })
}

/// A terminal that gives the bytes on as they were written: master, slave and the slave's name.
fn terminal() -> io::Result<(OwnedFd, OwnedFd, Vec<u8>)> {
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    let master = openpt(flags)?;
    grantpt(&master)?;
    unlockpt(&master)?;
    let slave = ioctl_tiocgptpeer(&master, flags)?;
    let mut modes = tcgetattr(&slave)?;
    modes.output_modes.remove(OutputModes::OPOST);
    modes.local_modes.remove(LocalModes::ECHO);
    tcsetattr(&slave, OptionalActions::Now, &modes)?;
    tcsetwinsize(&slave, WINDOW)?;
    let name = ptsname(&master, Vec::new())?.into_bytes();
    Ok((master, slave, name))
}

/// Our end of standard input.
pub(super) enum Feed {
    /// Bytes that are still to be written.
    Bytes { fd: AsyncFd<OwnedFd>, bytes: Arc<[u8]>, at: usize },
    /// A pipe that is held open and never written.
    Silent { _held: OwnedFd },
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

    /// Writes on when there is room. May be dropped while it waits.
    pub async fn step(&mut self) {
        let Self::Bytes { fd, bytes, at } = self else { return pending().await };
        let Ok(mut guard) = fd.writable().await else { return };
        match guard.try_io(|fd| Ok(rustix::io::write(fd.get_ref(), &bytes[*at..])?)) {
            Ok(Ok(n)) if *at + n < bytes.len() => *at += n,
            Ok(Err(error)) if error.kind() == io::ErrorKind::Interrupted => {}
            // All is written, or the target closed its end, which it may.
            Ok(_) => *self = Self::Done,
            Err(_would_block) => {}
        }
    }
}
