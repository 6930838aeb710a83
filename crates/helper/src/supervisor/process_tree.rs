//! The processes of one run: who they are, and how all of them are ended.
//!
//! The helper is the reaper of all its descendants, so whatever a run leaves behind hangs below a child of ours,
//! however often it forked and whatever session it is in. To see that nothing is left it is enough to read the list of
//! our children.

use super::process_tag::{ProcessTag, number};
use super::status::status_of;
use crate::Leftover;
use crate::process_tree::{end_all, with_descendants};
use crate::sys::{self, Stat};
use rustix::process::{Pid, Signal, getpid, kill_process, kill_process_group};
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// A sweep gives up when nobody dies of so many looks: what is left is in an uninterruptible wait.
const TRIES: u32 = 200;
/// The longest time between two looks of a sweep.
const LONGEST_PAUSE: Duration = Duration::from_millis(8);
/// Two looks for orphans that have ended are at least so far apart.
const BETWEEN_REAPING: Duration = Duration::from_millis(5);
/// A sweep gives up in any case after this: somebody forks faster than we kill.
const LONGEST_SWEEP: Duration = Duration::from_secs(10);

/// What this process knows of its runs.
static REGISTRY: Mutex<Registry> =
    Mutex::new(Registry { known: BTreeMap::new(), under_way: BTreeMap::new() });

struct Registry {
    /// Whose our children are, by process number: the number of a run. Tags need to be read only once, and
    /// one that is shed later helps nobody. The lock is held while a child is reaped, so that no entry
    /// outlives its process.
    known: BTreeMap<i32, u64>,
    /// The runs and services under way, by their numbers.
    under_way: BTreeMap<u64, UnderWay>,
}

struct UnderWay {
    leader: i32,
    /// It is a run whose orphans come to us. A service goes on beside all runs: an orphan without a tag is not
    /// taken for its own.
    is_counted: bool,
    /// What its orphans wrote that were reaped, in bytes.
    written: u64,
}

impl Registry {
    /// How many runs are under way whose orphans come to us.
    fn runs(&self) -> usize {
        self.under_way.values().filter(|run| run.is_counted).count()
    }

    fn is_leader(&self, pid: i32) -> bool {
        self.under_way.values().any(|run| run.leader == pid)
    }

    /// The number of the run that a child of ours belongs to, as far as anybody can tell.
    fn owner(&self, child: i32) -> Option<u64> {
        self.known.get(&child).copied().or_else(|| number(child))
    }

    /// Whether a run is under way. What a target makes its limits to be may be the tag of one that is over.
    fn is_under_way(&self, number: &u64) -> bool {
        self.under_way.contains_key(number)
    }
}

/// The processes of one run. The leader is not reaped while this is in use, so its ID, which is also
/// that of its group and session, cannot become somebody else's.
pub(super) struct ProcessTree {
    leader: Pid,
    /// The first process of its namespace, where it is in one of its own: orphans come to that one and not to us.
    init: Option<Pid>,
    tag: ProcessTag,
}

impl ProcessTree {
    pub fn new(leader: Pid, init: Option<Pid>, tag: ProcessTag, is_run: bool) -> Self {
        let mut registry = registry();
        let run = UnderWay { leader: leader.as_raw_pid(), is_counted: is_run && init.is_none(), written: 0 };
        registry.under_way.insert(tag.number, run);
        Self { leader, init, tag }
    }

    /// Everybody but the leader. Orphans that have ended do not count any more.
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

    /// Our own children that belong to this run and have not ended, but for the leader.
    fn adopted(&self) -> Vec<Stat> {
        let us = getpid().as_raw_pid();
        let mut registry = registry();
        let mut children = sys::children(us);
        children.retain(|pid| !registry.is_leader(*pid) && !has_ended(*pid));
        let is_counted = registry.under_way.get(&self.tag.number).is_some_and(|run| run.is_counted);
        let is_only_run = is_counted && registry.runs() == 1;
        let mut owns = |pid: i32| {
            let tagged = || self.tag.owner(pid).filter(|number| registry.is_under_way(number));
            let owner = registry.known.get(&pid).copied().or_else(tagged);
            if owner.is_some_and(|number| number != self.tag.number) {
                return None;
            }
            let stat = sys::stat(pid).filter(|stat| stat.parent == us)?;
            // In a session that is not our own there are only descendants of runs.
            let can_only_be_ours =
                || stat.session == self.leader.as_raw_pid() || stat.session != own_session() && is_only_run;
            if owner.is_none() && !can_only_be_ours() {
                return None;
            }
            registry.known.insert(pid, self.tag.number);
            Some(stat)
        };
        children.into_iter().filter_map(&mut owns).collect()
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

    /// The record of a process that the run left behind; `survives` if it could not be ended.
    pub fn leftover(&self, stat: Stat, survives: bool) -> Leftover {
        Leftover { pid: stat.pid, detached: self.escaped(&stat), name: stat.name, survives }
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

    /// What orphans of this run wrote that have been reaped, in bytes.
    pub fn written_by_reaped(&self) -> u64 {
        registry().under_way.get(&self.tag.number).map_or(0, |run| run.written)
    }

    /// Ends everybody but the leader, and reaps those that became our children, until two looks find
    /// nobody.
    pub async fn sweep(&self) {
        let start = Instant::now();
        let (mut quiet, mut fewest, mut in_vain) = (0, usize::MAX, 0);
        let mut pause = Duration::from_millis(1);
        while quiet < 2 && in_vain < TRIES && start.elapsed() < LONGEST_SWEEP {
            reap_orphans();
            let members = self.members();
            if members.is_empty() {
                quiet += 1;
                continue;
            }
            quiet = 0;
            in_vain = if members.len() < fewest { 0 } else { in_vain + 1 };
            fewest = fewest.min(members.len());
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
        registry().under_way.remove(&self.tag.number);
    }
}

/// Whether a process is a descendant of ours, and so of a run or a service.
pub(super) fn is_descendant(pid: i32) -> bool {
    let us = getpid().as_raw_pid();
    let parent = |pid: &i32| sys::stat(*pid).map(|stat| stat.parent);
    std::iter::successors(parent(&pid), parent).any(|parent| parent == us)
}

/// Ends what no run can be held responsible for: orphans that shed all tags while several runs were
/// under way. Does nothing while a run is.
pub(super) async fn sweep_strays() {
    let start = Instant::now();
    while registry().runs() == 0 && start.elapsed() < LONGEST_SWEEP {
        reap_orphans();
        let strays = strays();
        if strays.is_empty() || !end_all(&strays) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

/// Our own children that come from a run, though none that is under way is known to own them.
fn strays() -> Vec<Stat> {
    let mut children = sys::children(getpid().as_raw_pid());
    let registry = registry();
    let is_owned = |pid: i32| registry.owner(pid).is_some_and(|number| registry.is_under_way(&number));
    children.retain(|pid| !registry.is_leader(*pid) && !is_owned(*pid));
    let own = own_session();
    children.into_iter().filter_map(sys::stat).filter(|stat| stat.session != own).collect()
}

/// Reaps orphans as they end: until then each takes a number that every process of the machine may need. At most
/// half of the time.
pub(super) async fn reap_as_they_end(mut ends: tokio::signal::unix::Signal) {
    while ends.recv().await.is_some() {
        // A look may miss some while others go.
        let mut again = true;
        while again {
            let start = Instant::now();
            again = reap_orphans() > 0;
            tokio::time::sleep(start.elapsed().max(BETWEEN_REAPING)).await;
        }
    }
}

/// Reaps those of our own children that have ended, but for leaders; gives how many. What they wrote is counted for the
/// run that they are known to belong to.
fn reap_orphans() -> usize {
    let own = own_session();
    let is_orphan = |child: i32| {
        has_ended(child)
            && !registry().is_leader(child)
            && sys::stat(child).is_some_and(|stat| stat.session != own)
    };
    let mut reaped = 0;
    for child in sys::children(getpid().as_raw_pid()) {
        let Some(orphan) = Pid::from_raw(child).filter(|_| is_orphan(child)) else { continue };
        let mut registry = registry();
        let owner = registry.owner(child);
        if let Some(run) = owner.and_then(|number| registry.under_way.get_mut(&number)) {
            run.written += sys::written(child);
        }
        drop(registry);
        reaped += usize::from(reap_child(orphan));
    }
    reaped
}

/// Whether a child of ours has ended. A look at the process takes far longer.
fn has_ended(child: i32) -> bool {
    Pid::from_raw(child).is_some_and(|pid| status_of(pid).is_some())
}

/// Reaps a child of ours if it has ended; gives whether it is gone. This is the only place that reaps.
pub(super) fn reap_child(pid: Pid) -> bool {
    let mut registry = registry();
    let is_gone = sys::reap(pid);
    if is_gone {
        registry.known.remove(&pid.as_raw_pid());
    }
    is_gone
}

fn registry() -> MutexGuard<'static, Registry> {
    REGISTRY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Our session as the system names those of others: 0 where its leader is outside our process namespace.
fn own_session() -> i32 {
    sys::stat(getpid().as_raw_pid()).map_or(0, |stat| stat.session)
}
