//! The exit status of a child process.

use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ProcessStatus {
    Exited(i32),
    Signaled(i32),
}

/// Returns how a child of this process ended, without reaping it; `None` if it has not ended.
pub(super) fn status_of(child: Pid) -> Option<ProcessStatus> {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
    let status = waitid(WaitId::Pid(child), options).ok()??;
    let code = status.exit_status().map(ProcessStatus::Exited);
    code.or_else(|| status.terminating_signal().map(ProcessStatus::Signaled))
}
