//! How processes are ended and reaped.

use super::process::{Stat, stat};
use rustix::io::Errno;
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitOptions, getpid, pidfd_open, pidfd_send_signal, set_child_subreaper, waitpid,
};
use std::io;
use std::os::fd::OwnedFd;

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

/// Reaps a child if it has ended; gives whether it is gone.
pub(crate) fn reap(pid: Pid) -> bool {
    !matches!(waitpid(Some(pid), WaitOptions::NOHANG), Ok(None))
}

/// Has this process killed when the thread that started it ends.
#[cfg(feature = "runtime")]
pub(crate) fn die_with_parent() -> io::Result<()> {
    Ok(rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?)
}
