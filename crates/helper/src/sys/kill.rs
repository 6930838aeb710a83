//! Kills, waits for and reaps processes.

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

/// Makes this process the reaper of its descendants (subreaper): orphans among them become its children.
pub(crate) fn become_reaper() -> io::Result<()> {
    Ok(set_child_subreaper(Some(getpid()))?)
}

/// Opens a pidfd of a process. It becomes readable when the process ends, and stays readable.
pub(crate) fn open_process(pid: Pid) -> io::Result<OwnedFd> {
    Ok(pidfd_open(pid, PidfdFlags::empty())?)
}

/// Kills a process, unless its ID has been reused since `known` was read. Returns false if this process may not kill
/// it.
pub(crate) fn kill_unless_reused(known: &Stat) -> bool {
    let Some(pid) = Pid::from_raw(known.pid) else { return true };
    let Ok(pidfd) = open_process(pid) else { return true };
    // The pidfd refers to one process from here on; check that it is the right one.
    let is_same = stat(known.pid).is_some_and(|now| now.start == known.start);
    !is_same || pidfd_send_signal(&pidfd, Signal::KILL) != Err(Errno::PERM)
}

/// Kills the process of a pidfd.
#[cfg(feature = "runtime")]
pub(crate) fn kill(pidfd: &OwnedFd) {
    pidfd_send_signal(pidfd, Signal::KILL).unwrap_or_default();
}

/// Waits until the process of a pidfd has ended; returns false if this takes longer than `time`.
pub(crate) fn wait_for_exit(pidfd: &OwnedFd, time: Duration) -> bool {
    let deadline = Instant::now() + time;
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let wait = Timespec { tv_sec: left.as_secs().cast_signed(), tv_nsec: i64::from(left.subsec_nanos()) };
        match poll(&mut [PollFd::new(pidfd, PollFlags::IN)], Some(&wait)) {
            Ok(0) => return false,
            Ok(_) => return true,
            Err(Errno::INTR) => {}
            Err(_) => return false,
        }
    }
}

/// Receives notifications that children of this process have ended.
#[cfg(feature = "runtime")]
pub(crate) struct ChildNotifications(UnixStream);

#[cfg(feature = "runtime")]
impl ChildNotifications {
    /// Starts to receive notifications of ended children.
    pub fn register() -> io::Result<Self> {
        let (receiver, write) = UnixStream::pair()?;
        receiver.set_nonblocking(true)?;
        pipe::register(SIGCHLD, write)?;
        Ok(Self(receiver))
    }

    /// Waits until children have ended or `socket` is readable. Returns whether `socket` is readable.
    pub fn wait_until_readable(&self, socket: &UnixStream) -> io::Result<bool> {
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

/// Reaps a child if it has ended. Returns false if it still runs.
pub(crate) fn reap(pid: Pid) -> bool {
    !matches!(waitpid(Some(pid), WaitOptions::NOHANG), Ok(None))
}

/// Makes the kernel kill this process when the thread that started it ends.
#[cfg(feature = "runtime")]
pub(crate) fn die_with_parent() -> io::Result<()> {
    Ok(rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?)
}
