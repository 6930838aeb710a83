//! The processes of one run: who they are, and how all of them are ended.
//!
//! We are the reaper of all our descendants (`PR_SET_CHILD_SUBREAPER`), so whatever a run leaves
//! behind hangs below a child of ours, however often it forked and whatever session it is in. To see
//! that nothing is left it is enough to read the list of our children.

use super::mark::{Mark, Owner, is_marked};
use super::observation::Leftover;
use super::proc::{self, Stat};
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitOptions, getpid, getsid, kill_process, kill_process_group, pidfd_open,
    pidfd_send_signal, waitpid,
};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// How many runs this process has under way.
static UNDER_WAY: AtomicUsize = AtomicUsize::new(0);

/// A sweep that finds processes which do not die (in an uninterruptible wait) gives up after this.
const SWEEP: Duration = Duration::from_secs(2);

/// The processes of one run. The leader is not reaped while this is in use, so its ID, which is also
/// that of its group and session, cannot become somebody else's.
pub(super) struct Family {
    leader: Pid,
    mark: Mark,
}

impl Family {
    pub fn new(leader: Pid, mark: Mark) -> Self {
        UNDER_WAY.fetch_add(1, Ordering::Relaxed);
        Self { leader, mark }
    }

    /// Everybody but the leader, zombies included.
    pub fn members(&self) -> Vec<Stat> {
        let leader = self.leader.as_raw_pid();
        let mut open = proc::children(leader);
        open.extend(adopted(Some(leader)).filter(|stat| self.owns(stat)).map(|stat| stat.pid));
        let mut found = Vec::new();
        while let Some(pid) = open.pop() {
            open.extend(proc::children(pid));
            found.extend(proc::stat(pid));
        }
        found
    }

    /// Everybody but the leader who has not ended.
    pub fn alive(&self) -> Vec<Stat> {
        self.members().into_iter().filter(|stat| !stat.is_zombie()).collect()
    }

    /// Everybody who has not ended.
    pub fn everybody(&self) -> Vec<Stat> {
        let leader = proc::stat(self.leader.as_raw_pid());
        leader.into_iter().filter(|stat| !stat.is_zombie()).chain(self.alive()).collect()
    }

    /// Whether a process is in a session of its own, where a signal to the group does not reach it.
    pub fn escaped(&self, stat: &Stat) -> bool {
        stat.session != self.leader.as_raw_pid()
    }

    fn owns(&self, stat: &Stat) -> bool {
        stat.session == self.leader.as_raw_pid()
            || match self.mark.owner(stat.pid) {
                Owner::Ours => true,
                Owner::Other => false,
                // Only a descendant of a run can be in a session that is not ours.
                Owner::Nobody => stat.session != own_session() && UNDER_WAY.load(Ordering::Relaxed) == 1,
            }
    }

    /// Sends a signal to the leader's group.
    pub fn signal(&self, signal: Signal) {
        // Before the launcher made its session there is no such group.
        if kill_process_group(self.leader, signal).is_err() {
            // A leader that has ended is a zombie until we reap it: nobody else can be hit.
            kill_process(self.leader, signal).unwrap_or_default();
        }
    }

    /// Reaps the orphans of this run that we adopted and that have ended.
    pub fn reap(&self) {
        for orphan in adopted(Some(self.leader.as_raw_pid())) {
            if orphan.is_zombie() && self.owns(&orphan) {
                reap(orphan.pid);
            }
        }
    }

    /// Ends everybody but the leader, and reaps those that became our children, until two looks find
    /// nobody.
    pub async fn sweep(&self) {
        let start = Instant::now();
        let mut quiet = 0;
        while quiet < 2 && start.elapsed() < SWEEP {
            let members = self.members();
            self.reap();
            if members.is_empty() {
                quiet += 1;
                continue;
            }
            quiet = 0;
            members.iter().filter(|stat| !stat.is_zombie()).for_each(end);
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }
}

impl Drop for Family {
    fn drop(&mut self) {
        UNDER_WAY.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Ends what no run can be held responsible for: orphans that shed all marks while several runs were
/// under way. Does nothing while a run is.
pub(super) async fn sweep_strays() {
    let start = Instant::now();
    while UNDER_WAY.load(Ordering::Relaxed) == 0 && start.elapsed() < SWEEP {
        let is_stray = |stat: &Stat| stat.session != own_session() && !is_marked(stat.pid);
        let strays: Vec<Stat> = adopted(None).filter(is_stray).collect();
        for stray in &strays {
            if stray.is_zombie() {
                reap(stray.pid);
            } else {
                end(stray);
            }
        }
        if strays.is_empty() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

/// Our children but the leader.
fn adopted(leader: Option<i32>) -> impl Iterator<Item = Stat> {
    let children = proc::children(getpid().as_raw_pid());
    children.into_iter().filter(move |&pid| Some(pid) != leader).filter_map(proc::stat)
}

/// Kills one process, unless its number has become somebody else's since it was looked at.
fn end(seen: &Stat) {
    let Some(pid) = Pid::from_raw(seen.pid) else { return };
    let Ok(handle) = pidfd_open(pid, PidfdFlags::empty()) else { return };
    // From here on the handle stands for one process; see that it is the one that was meant.
    if proc::stat(seen.pid).is_some_and(|now| now.start == seen.start) {
        pidfd_send_signal(&handle, Signal::KILL).unwrap_or_default();
    }
}

fn reap(pid: i32) {
    if let Some(pid) = Pid::from_raw(pid) {
        waitpid(Some(pid), WaitOptions::NOHANG).map(drop).unwrap_or_default();
    }
}

fn own_session() -> i32 {
    getsid(None).map_or(0, Pid::as_raw_pid)
}

impl From<Stat> for Leftover {
    fn from(stat: Stat) -> Self {
        Self { pid: stat.pid, name: stat.name }
    }
}
