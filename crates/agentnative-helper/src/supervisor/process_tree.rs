//! The processes of one run: who they are, and how all of them are ended.
//!
//! The helper is the reaper of all its descendants, so whatever a run leaves behind hangs below a child of ours, however often it forked and whatever session it is in. To see
//! that nothing is left it is enough to read the list of our children.

use super::process_tag::{ProcessTag, number};
use crate::Leftover;
use crate::process_tree::{end_all, ended_children, with_descendants};
use crate::sys::{self, Stat};
use rustix::process::{Pid, Signal, getpid, kill_process, kill_process_group};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How many runs this process has under way whose orphans come to it, services not counted.
static UNDER_WAY: AtomicUsize = AtomicUsize::new(0);

/// A sweep gives up when nobody dies of so many looks: what is left is in an uninterruptible wait.
const TRIES: u32 = 200;
/// The longest time between two looks of a sweep.
const LONGEST_PAUSE: Duration = Duration::from_millis(8);
/// It gives up in any case after this: somebody forks faster than we kill.
const LONGEST_SWEEP: Duration = Duration::from_secs(10);

/// Whose our children are, by process number: the number of a run. Tags need to be read only once, and
/// one that is shed later helps nobody. The lock is held while a child is reaped, so that no entry
/// outlives its process.
static KNOWN: Mutex<BTreeMap<i32, u64>> = Mutex::new(BTreeMap::new());

/// The processes of one run. The leader is not reaped while this is in use, so its ID, which is also
/// that of its group and session, cannot become somebody else's.
pub(super) struct ProcessTree {
    leader: Pid,
    /// The first process of its namespace, where it is in one of its own: orphans come to that one and not to us.
    init: Option<Pid>,
    tag: ProcessTag,
    /// It is a run whose orphans come to us. A service goes on beside all runs: an orphan without a tag is not
    /// taken for its own.
    is_counted: bool,
}

impl ProcessTree {
    pub fn new(leader: Pid, init: Option<Pid>, tag: ProcessTag, is_run: bool) -> Self {
        let is_counted = is_run && init.is_none();
        UNDER_WAY.fetch_add(usize::from(is_counted), Ordering::Relaxed);
        Self { leader, init, tag, is_counted }
    }

    /// Everybody but the leader, zombies included.
    pub fn members(&self) -> Vec<Stat> {
        let leader = self.leader.as_raw_pid();
        let mut found = match self.init {
            None => self.adopted(),
            Some(init) => {
                let orphans = sys::children(init.as_raw_pid()).into_iter().filter(|pid| *pid != leader);
                orphans.filter_map(sys::stat).collect()
            }
        };
        found.extend(sys::children(leader).into_iter().filter_map(sys::stat));
        with_descendants(found)
    }

    /// Our own children that belong to this run, but for the leader.
    fn adopted(&self) -> Vec<Stat> {
        let us = getpid().as_raw_pid();
        let mut children = sys::children(us);
        children.retain(|&pid| pid != self.leader.as_raw_pid());
        if children.is_empty() {
            return Vec::new();
        }
        let mut known = known();
        let mut owns = |pid: i32| {
            if let Some(number) = known.get(&pid) {
                return (*number == self.tag.number).then(|| sys::stat(pid)).flatten();
            }
            let stat = sys::stat(pid).filter(|stat| stat.parent == us)?;
            let owner = match self.tag.owner(pid) {
                Some(number) => number,
                None if self.is_nobodys(&stat) => self.tag.number,
                None => return None,
            };
            known.insert(pid, owner);
            (owner == self.tag.number).then_some(stat)
        };
        children.into_iter().filter_map(&mut owns).collect()
    }

    /// Whether an untagged child of ours can only be this run's: in a session that is not our own
    /// there are only descendants of runs.
    fn is_nobodys(&self, stat: &Stat) -> bool {
        let is_only_run = self.is_counted && UNDER_WAY.load(Ordering::Relaxed) == 1;
        stat.session == self.leader.as_raw_pid() || stat.session != own_session() && is_only_run
    }

    /// The leader, also as a zombie.
    pub fn leader(&self) -> Option<Stat> {
        sys::stat(self.leader.as_raw_pid())
    }

    /// Everybody but the leader who has not ended.
    pub fn alive(&self) -> Vec<Stat> {
        self.members().into_iter().filter(|stat| !stat.is_zombie()).collect()
    }

    /// Everybody who has not ended.
    pub fn everybody(&self) -> Vec<Stat> {
        self.leader().into_iter().filter(|stat| !stat.is_zombie()).chain(self.alive()).collect()
    }

    /// Whether a process is in a session of its own, where a signal to the group does not reach it.
    pub fn escaped(&self, stat: &Stat) -> bool {
        stat.session != self.leader.as_raw_pid()
    }

    /// Sends a signal to the leader alone.
    pub fn signal_leader(&self, signal: Signal) {
        kill_process(self.leader, signal).unwrap_or_default();
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
        reap_among(&self.members());
    }

    /// Ends everybody but the leader, and reaps those that became our children, until two looks find
    /// nobody.
    pub async fn sweep(&self) {
        let start = Instant::now();
        let (mut quiet, mut fewest, mut in_vain) = (0, usize::MAX, 0);
        let mut pause = Duration::from_millis(1);
        while quiet < 2 && in_vain < TRIES && start.elapsed() < LONGEST_SWEEP {
            let members = self.members();
            if members.is_empty() {
                quiet += 1;
                continue;
            }
            quiet = 0;
            in_vain = if members.len() < fewest { 0 } else { in_vain + 1 };
            fewest = fewest.min(members.len());
            reap_among(&members);
            if !end_all(&members) {
                break;
            }
            // Those who die need the processor more than we do.
            tokio::time::sleep(pause).await;
            pause = LONGEST_PAUSE.min(pause * 2);
        }
    }
}

impl Drop for ProcessTree {
    fn drop(&mut self) {
        UNDER_WAY.fetch_sub(usize::from(self.is_counted), Ordering::Relaxed);
    }
}

/// Ends what no run can be held responsible for: orphans that shed all tags while several runs were
/// under way. Does nothing while a run is.
pub(super) async fn sweep_strays() {
    let start = Instant::now();
    while UNDER_WAY.load(Ordering::Relaxed) == 0 && start.elapsed() < LONGEST_SWEEP {
        let children = sys::children(getpid().as_raw_pid());
        let is_stray = |stat: &Stat| stat.session != own_session() && number(stat.pid).is_none();
        let strays: Vec<Stat> = children.into_iter().filter_map(sys::stat).filter(is_stray).collect();
        reap_among(&strays);
        if strays.is_empty() || !end_all(&strays) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

/// Reaps those of our own children among them that have ended.
pub(super) fn reap_among(processes: &[Stat]) {
    for orphan in ended_children(processes) {
        reap_child(orphan);
    }
}

/// Reaps a child of ours if it has ended; gives whether it is gone. This is the only place that reaps.
pub(super) fn reap_child(pid: Pid) -> bool {
    let mut known = known();
    let is_gone = sys::reap(pid);
    if is_gone {
        known.remove(&pid.as_raw_pid());
    }
    is_gone
}

fn known() -> MutexGuard<'static, BTreeMap<i32, u64>> {
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Our session as the system names those of others: 0 where its leader is outside our process namespace.
fn own_session() -> i32 {
    sys::stat(getpid().as_raw_pid()).map_or(0, |stat| stat.session)
}

impl From<Stat> for Leftover {
    fn from(stat: Stat) -> Self {
        Self { pid: stat.pid, name: stat.name, survives: false }
    }
}
