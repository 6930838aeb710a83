//! How processes are ended and reaped.

use super::process::{Stat, stat};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitOptions, getpid, pidfd_open, pidfd_send_signal, set_child_subreaper, waitpid,
};
#[cfg(feature = "runtime")]
use signal_hook::{consts::SIGCHLD, low_level::pipe};
use std::io;
#[cfg(feature = "runtime")]
use std::io::Read;
use std::os::fd::OwnedFd;
#[cfg(feature = "runtime")]
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

/// Makes this process the parent of all its descendants whose own parent ends (the subreaper).
pub(crate) fn become_reaper() -> io::Result<()> {
    Ok(set_child_subreaper(Some(getpid()))?)
}

/// A handle to a process (a pidfd) that becomes readable when the process ends, and stays so.
pub(crate) fn exit_handle(pid: Pid) -> io::Result<OwnedFd> {
    Ok(pidfd_open(pid, PidfdFlags::empty())?)
}

/// Kills one process, unless its number has become somebody else's since it was looked at. Gives false if we have no
/// right to.
pub(crate) fn end(seen: &Stat) -> bool {
    let Some(pid) = Pid::from_raw(seen.pid) else { return true };
    let Ok(handle) = exit_handle(pid) else { return true };
    // From here on the handle stands for one process; see that it is the one that was meant.
    let is_it = stat(seen.pid).is_some_and(|now| now.start == seen.start);
    !is_it || pidfd_send_signal(&handle, Signal::KILL) != Err(Errno::PERM)
}

/// Kills the process that a handle stands for.
#[cfg(feature = "runtime")]
pub(crate) fn kill(handle: &OwnedFd) {
    pidfd_send_signal(handle, Signal::KILL).unwrap_or_default();
}

/// Waits until the process that a handle stands for has ended; gives false when the time is over first.
pub(crate) fn wait_for_exit(handle: &OwnedFd, time: Duration) -> bool {
    let deadline = Instant::now() + time;
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let wait = Timespec { tv_sec: left.as_secs().cast_signed(), tv_nsec: i64::from(left.subsec_nanos()) };
        match poll(&mut [PollFd::new(handle, PollFlags::IN)], Some(&wait)) {
            Ok(0) => return false,
            Ok(_) => return true,
            Err(Errno::INTR) => {}
            Err(_) => return false,
        }
    }
}

/// Hears of children of this process that end.
#[cfg(feature = "runtime")]
pub(crate) struct ChildEnds(UnixStream);

#[cfg(feature = "runtime")]
impl ChildEnds {
    /// Hears from now on.
    pub fn hear() -> io::Result<Self> {
        let (heard, write) = UnixStream::pair()?;
        heard.set_nonblocking(true)?;
        pipe::register(SIGCHLD, write)?;
        Ok(Self(heard))
    }

    /// Waits until some have ended, or there is something to read at a socket; gives whether there is.
    pub fn wait_or_read(&self, socket: &UnixStream) -> io::Result<bool> {
        let mut both = [PollFd::new(socket, PollFlags::IN), PollFd::new(&self.0, PollFlags::IN)];
        match poll(&mut both, None) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let is_readable = !both[0].revents().is_empty();
        while (&self.0).read(&mut [0; 64]).is_ok_and(|read| read > 0) {}
        Ok(is_readable)
    }
}

/// Reaps a child if it has ended; gives whether it is gone.
pub(crate) fn reap(pid: Pid) -> bool {
    !matches!(waitpid(Some(pid), WaitOptions::NOHANG), Ok(None))
}

/// Has this process killed when the thread that started it ends.
#[cfg(feature = "runtime")]
pub(crate) fn die_with_parent() -> io::Result<()> {
    Ok(rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?)
}
