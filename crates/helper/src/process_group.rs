//! Kills the process group of a child, on a system where a process cannot adopt its orphaned descendants.

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use std::io;
use std::time::{Duration, Instant};

/// Time between two checks whether a child has ended.
const PAUSE: Duration = Duration::from_millis(5);

/// Always returns an error: on this system, orphans become children of the first process.
pub fn become_reaper() -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Waits until a child has ended, without reaping it. Returns false if `deadline` comes first.
pub fn wait_until_ended(child: Pid, deadline: Instant) -> bool {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    loop {
        match waitid(WaitId::Pid(child), options) {
            Ok(None) if Instant::now() < deadline => std::thread::sleep(PAUSE),
            Ok(ended) => return ended.is_some(),
            Err(_) => return false,
        }
    }
}

/// Kills the process group of `leader`, a child of this process. A descendant that left the group survives.
pub fn kill_descendants(leader: Pid) {
    kill_process_group(leader, Signal::KILL).unwrap_or_default();
}
