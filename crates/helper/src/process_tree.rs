//! All that a process started, and what that started: found, and ended.
//!
//! For a program whose whole purpose is to run others. [`become_reaper`] makes orphans its children, so
//! that [`kill_descendants`] finds whoever made a session or forked twice.

use crate::sys::{self, Stat};
use rustix::process::{Pid, Signal, getpid, kill_process_group};
use std::io;
use std::time::{Duration, Instant};

/// More sweeps than this only a fork bomb needs: each kills all that it sees.
const SWEEPS: usize = 200;

/// Makes this process the parent of all its descendants whose own parent ends.
pub fn become_reaper() -> io::Result<()> {
    sys::become_reaper()
}

/// Waits for a child to end, without reaping it; false when the deadline came first.
pub fn ends_before(child: Pid, deadline: Instant) -> bool {
    let left = deadline.saturating_duration_since(Instant::now());
    sys::open_pidfd(child).is_ok_and(|handle| sys::wait_for_exit(&handle, left))
}

/// The descendants of a process that have not ended.
pub fn descendants(root: Pid) -> Vec<Pid> {
    let living = all_descendants(root).into_iter().filter(|stat| !stat.is_zombie());
    living.filter_map(|stat| Pid::from_raw(stat.pid)).collect()
}

/// Kills the group of `leader`, which is a child of this process, and all descendants of this process,
/// until two looks find nobody. Reaps those that ended, but for the leader, which is its owner's to
/// reap.
pub fn kill_descendants(leader: Pid) {
    kill_process_group(leader, Signal::KILL).unwrap_or_default();
    let mut quiet = 0;
    for _ in 0..SWEEPS {
        let found = all_descendants(getpid());
        for orphan in ended_children(&found).filter(|pid| *pid != leader) {
            sys::reap(orphan);
        }
        quiet = if found.iter().all(Stat::is_zombie) { quiet + 1 } else { 0 };
        if quiet == 2 {
            return;
        }
        if !end_all(&found) {
            return;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Kills those who have not ended; gives false if there are only such as we have no right to kill.
pub(crate) fn end_all(processes: &[Stat]) -> bool {
    let living: Vec<&Stat> = processes.iter().filter(|stat| !stat.is_zombie()).collect();
    let killed = living.iter().filter(|stat| sys::kill_unless_reused(stat)).count();
    killed > 0 || living.is_empty()
}

/// Every descendant, zombies included.
fn all_descendants(root: Pid) -> Vec<Stat> {
    with_descendants(sys::children(root.as_raw_pid()).into_iter().filter_map(sys::stat).collect())
}

/// Those of our own children that have ended. A grandchild is its parent's to reap, or becomes ours when that
/// ends.
pub(crate) fn ended_children(processes: &[Stat]) -> impl Iterator<Item = Pid> {
    let us = getpid().as_raw_pid();
    let ended = processes.iter().filter(move |stat| stat.is_zombie() && stat.parent == us);
    ended.filter_map(|stat| Pid::from_raw(stat.pid))
}

/// These processes and all their descendants, zombies included.
pub(crate) fn with_descendants(mut found: Vec<Stat>) -> Vec<Stat> {
    let mut at = 0;
    while let Some(stat) = found.get(at) {
        at += 1;
        if !stat.is_zombie() {
            found.extend(sys::children_of(stat).into_iter().filter_map(sys::stat));
        }
    }
    found
}
