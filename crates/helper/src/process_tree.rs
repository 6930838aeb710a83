//! Finds and kills all descendants of a process.
//!
//! For a program whose whole purpose is to run others. [`become_reaper`] makes orphans its children, so that
//! [`kill_descendants`] also finds a process that created a session or forked twice.

use crate::sys::{self, Stat};
use rustix::process::{Pid, Signal, getpid, kill_process_group};
use std::io;
use std::time::{Duration, Instant};

/// Maximum number of rounds in which [`kill_descendants`] searches and kills; only a fork bomb needs more.
const MAX_SWEEPS: usize = 200;

/// Makes this process the reaper of its descendants (subreaper): orphans among them become its children.
pub fn become_reaper() -> io::Result<()> {
    sys::become_reaper()
}

/// Waits until a child has ended, without reaping it. Returns false if `deadline` comes first.
pub fn wait_until_ended(child: Pid, deadline: Instant) -> bool {
    let left = deadline.saturating_duration_since(Instant::now());
    sys::open_process(child).is_ok_and(|process| sys::wait_for_exit(&process, left))
}

/// Returns the process IDs of all descendants of a process, except those that have ended.
pub fn descendants(root: Pid) -> Vec<Pid> {
    let running = all_descendants(root).into_iter().filter(|stat| !stat.is_zombie());
    running.filter_map(|stat| Pid::from_raw(stat.pid)).collect()
}

/// Kills the process group of `leader` (a child of this process) and all descendants of this process, until two
/// consecutive checks find none. Reaps descendants that have ended, except `leader`, which the caller reaps.
pub fn kill_descendants(leader: Pid) {
    kill_process_group(leader, Signal::KILL).unwrap_or_default();
    let mut empty_checks = 0;
    for _ in 0..MAX_SWEEPS {
        let found = all_descendants(getpid());
        for orphan in ended_children(&found).filter(|pid| *pid != leader) {
            sys::reap(orphan);
        }
        empty_checks = if found.iter().all(Stat::is_zombie) { empty_checks + 1 } else { 0 };
        if empty_checks == 2 {
            return;
        }
        if !kill_all(&found) {
            return;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Kills those of the processes that have not ended. Returns false if some have not ended and none of them may be
/// killed.
pub(crate) fn kill_all(processes: &[Stat]) -> bool {
    let running: Vec<&Stat> = processes.iter().filter(|stat| !stat.is_zombie()).collect();
    let killed = running.iter().filter(|stat| sys::kill_unless_reused(stat)).count();
    killed > 0 || running.is_empty()
}

/// Returns all descendants of a process, including zombies.
fn all_descendants(root: Pid) -> Vec<Stat> {
    with_descendants(sys::children(root.as_raw_pid()).into_iter().filter_map(sys::stat).collect())
}

/// Returns which of `processes` are children of this process and have ended. Other zombies are reaped by their own
/// parents, or become children of this process.
pub(crate) fn ended_children(processes: &[Stat]) -> impl Iterator<Item = Pid> {
    let own_pid = getpid().as_raw_pid();
    let ended = processes.iter().filter(move |stat| stat.is_zombie() && stat.parent == own_pid);
    ended.filter_map(|stat| Pid::from_raw(stat.pid))
}

/// Returns these processes and all their descendants, including zombies.
pub(crate) fn with_descendants(mut found: Vec<Stat>) -> Vec<Stat> {
    let mut next = 0;
    while let Some(stat) = found.get(next) {
        next += 1;
        if !stat.is_zombie() {
            found.extend(sys::children_of(stat).into_iter().filter_map(sys::stat));
        }
    }
    found
}
