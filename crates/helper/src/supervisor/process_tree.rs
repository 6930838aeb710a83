//! Finds and kills the processes of one run.
//!
//! The supervisor is the reaper of all its descendants, so all processes of a run are below one of its children,
//! however often they forked and in whatever session they are. A run has no processes left when the supervisor has no
//! children left from it.

use super::process_tag::{ProcessTag, run_by_limit};
use super::status::status_of;
use crate::Leftover;
use crate::process_tree::{kill_all, with_descendants};
use crate::sys::{self, Stat};
use rustix::process::{Pid, Signal, getpid, kill_process, kill_process_group};
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Maximum number of consecutive checks in which the number of remaining processes does not decrease while they are
/// killed. Such processes are in an uninterruptible wait.
const MAX_TRIES: u32 = 200;
/// Maximum time between two checks while the processes of a run are killed.
const MAX_PAUSE: Duration = Duration::from_millis(8);
/// Minimum time between two searches for ended orphans.
const MIN_REAPING_INTERVAL: Duration = Duration::from_millis(5);
/// Maximum time for killing the processes of a run, in case a program forks faster than its processes are killed.
const SWEEP_TIMEOUT: Duration = Duration::from_secs(10);

/// The runs in progress, and the children of this process with the runs that they belong to.
static REGISTRY: Mutex<Registry> = Mutex::new(Registry { run_ids: BTreeMap::new(), active: BTreeMap::new() });

struct Registry {
    /// Run ID of each child of this process, by process ID. The tag of a process is read only once, so that removing it
    /// later has no effect. The lock is held while a child is reaped, so that no entry outlives its process.
    run_ids: BTreeMap<i32, u64>,
    /// Runs and services in progress, by run ID.
    active: BTreeMap<u64, ActiveRun>,
}

struct ActiveRun {
    leader: i32,
    /// Whether the supervisor adopts the orphans of the run. False for a confined run. Also false for a service: it is
    /// active during all runs, so an orphan without a tag is not attributed to it.
    adopts_orphans: bool,
    /// Number of bytes that reaped orphans of the run wrote.
    written: u64,
}

impl Registry {
    /// Returns the number of runs in progress whose orphans the supervisor adopts.
    fn adopting_runs(&self) -> usize {
        self.active.values().filter(|run| run.adopts_orphans).count()
    }

    fn is_leader(&self, pid: i32) -> bool {
        self.active.values().any(|run| run.leader == pid)
    }

    /// Returns the ID of the run that a child of this process belongs to; `None` if it is unknown.
    fn run_of(&self, child: i32) -> Option<u64> {
        self.run_ids.get(&child).copied().or_else(|| run_by_limit(child))
    }

    /// Whether the run with this ID is in progress. A target can set its limits so that they identify a run that has
    /// ended.
    fn is_active(&self, run_id: &u64) -> bool {
        self.active.contains_key(run_id)
    }
}

/// The processes of one run. As long as this exists, the leader (the first process) is not reaped. Therefore its
/// process ID, which is also the ID of its group and session, is not reused.
pub(super) struct ProcessTree {
    leader: Pid,
    /// The first process in the run's process namespace, if it has its own. It adopts orphans instead of the
    /// supervisor.
    init: Option<Pid>,
    tag: ProcessTag,
}

impl ProcessTree {
    pub fn new(leader: Pid, init: Option<Pid>, tag: ProcessTag, is_run: bool) -> Self {
        let mut registry = registry();
        let run =
            ActiveRun { leader: leader.as_raw_pid(), adopts_orphans: is_run && init.is_none(), written: 0 };
        registry.active.insert(tag.run_id, run);
        Self { leader, init, tag }
    }

    /// Returns all processes of the run except the leader. Orphans that have ended are not included.
    pub fn members(&self) -> Vec<Stat> {
        let leader = self.leader.as_raw_pid();
        let mut found = match self.init {
            None => self.adopted_members(),
            Some(init) => {
                let orphans = sys::children(init.as_raw_pid()).into_iter().filter(|pid| *pid != leader);
                orphans.filter_map(sys::stat).collect()
            }
        };
        found.extend(sys::children(leader).into_iter().filter_map(sys::stat));
        with_descendants(found)
    }

    /// Returns the children of the supervisor that belong to this run and have not ended, except the leader.
    fn adopted_members(&self) -> Vec<Stat> {
        let own_pid = getpid().as_raw_pid();
        let mut registry = registry();
        let mut children = sys::children(own_pid);
        children.retain(|pid| !registry.is_leader(*pid) && !has_ended(*pid));
        let adopts_orphans = registry.active.get(&self.tag.run_id).is_some_and(|run| run.adopts_orphans);
        let is_only_run = adopts_orphans && registry.adopting_runs() == 1;
        let mut owns = |pid: i32| {
            let tagged = || self.tag.run_of(pid).filter(|run_id| registry.is_active(run_id));
            let owner = registry.run_ids.get(&pid).copied().or_else(tagged);
            if owner.is_some_and(|run_id| run_id != self.tag.run_id) {
                return None;
            }
            let stat = sys::stat(pid).filter(|stat| stat.parent == own_pid)?;
            // Every process in a session other than the supervisor's own descends from a run.
            let must_be_from_this_run =
                || stat.session == self.leader.as_raw_pid() || stat.session != own_session() && is_only_run;
            if owner.is_none() && !must_be_from_this_run() {
                return None;
            }
            registry.run_ids.insert(pid, self.tag.run_id);
            Some(stat)
        };
        children.into_iter().filter_map(&mut owns).collect()
    }

    /// Returns the leader, even if it is a zombie; `None` if it is gone.
    pub fn leader(&self) -> Option<Stat> {
        sys::stat(self.leader.as_raw_pid())
    }

    /// Returns the processes of the run that have not ended, except the leader.
    pub fn running_members(&self) -> Vec<Stat> {
        self.members().into_iter().filter(|stat| !stat.is_zombie()).collect()
    }

    /// Returns the processes of the run that have not ended.
    pub fn running(&self) -> Vec<Stat> {
        self.leader().into_iter().filter(|stat| !stat.is_zombie()).chain(self.running_members()).collect()
    }

    /// Whether a process is in another session than the leader. A signal to the leader's process group does not reach
    /// it there.
    pub fn is_in_other_session(&self, stat: &Stat) -> bool {
        stat.session != self.leader.as_raw_pid()
    }

    /// Describes a process that the run left behind. `survives` is true if it could not be killed.
    pub fn leftover(&self, stat: Stat, survives: bool) -> Leftover {
        Leftover { pid: stat.pid, detached: self.is_in_other_session(&stat), name: stat.name, survives }
    }

    pub fn signal_leader(&self, signal: Signal) {
        kill_process(self.leader, signal).unwrap_or_default();
    }

    /// Sends a signal to the leader's process group.
    pub fn signal(&self, signal: Signal) {
        // The group does not exist before the launcher creates its session.
        if kill_process_group(self.leader, signal).is_err() {
            // A leader that has ended is a zombie until it is reaped, so its ID is not reused.
            kill_process(self.leader, signal).unwrap_or_default();
        }
    }

    /// Returns the number of bytes that reaped orphans of this run wrote.
    pub fn written_by_reaped(&self) -> u64 {
        registry().active.get(&self.tag.run_id).map_or(0, |run| run.written)
    }

    /// Kills all processes of the run except the leader, and reaps those that the supervisor adopted, until two
    /// consecutive checks find none.
    pub async fn kill_members(&self) {
        let start = Instant::now();
        let (mut empty_checks, mut fewest, mut tries) = (0, usize::MAX, 0);
        let mut pause = Duration::from_millis(1);
        while empty_checks < 2 && tries < MAX_TRIES && start.elapsed() < SWEEP_TIMEOUT {
            reap_orphans();
            let members = self.members();
            if members.is_empty() {
                empty_checks += 1;
                continue;
            }
            empty_checks = 0;
            tries = if members.len() < fewest { 0 } else { tries + 1 };
            fewest = fewest.min(members.len());
            if !kill_all(&members) {
                break;
            }
            // The processes that are being killed need the processor.
            tokio::time::sleep(pause).await;
            pause = MAX_PAUSE.min(pause * 2);
        }
    }
}

impl Drop for ProcessTree {
    fn drop(&mut self) {
        registry().active.remove(&self.tag.run_id);
    }
}

/// Whether a process descends from the supervisor, and therefore belongs to a run or a service.
pub(super) fn is_descendant(pid: i32) -> bool {
    let own_pid = getpid().as_raw_pid();
    let parent = |pid: &i32| sys::stat(*pid).map(|stat| stat.parent);
    std::iter::successors(parent(&pid), parent).any(|parent| parent == own_pid)
}

/// Kills orphans that removed all tags during several runs, so that it is unknown to which run they belong. Does
/// nothing while a run is in progress.
pub(super) async fn sweep_strays() {
    let start = Instant::now();
    while registry().adopting_runs() == 0 && start.elapsed() < SWEEP_TIMEOUT {
        reap_orphans();
        let strays = strays();
        if strays.is_empty() || !kill_all(&strays) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

/// Returns the children of the supervisor that descend from a run, but belong to no run in progress.
fn strays() -> Vec<Stat> {
    let mut children = sys::children(getpid().as_raw_pid());
    let registry = registry();
    let is_owned = |pid: i32| registry.run_of(pid).is_some_and(|run_id| registry.is_active(&run_id));
    children.retain(|pid| !registry.is_leader(*pid) && !is_owned(*pid));
    let own = own_session();
    children.into_iter().filter_map(sys::stat).filter(|stat| stat.session != own).collect()
}

/// Reaps orphans each time that a child ends, since a zombie occupies a process ID. Uses at most half of the time.
pub(super) async fn reap_orphans_continuously(mut signals: tokio::signal::unix::Signal) {
    while signals.recv().await.is_some() {
        // A search may miss children while others end.
        let mut found_any = true;
        while found_any {
            let start = Instant::now();
            found_any = reap_orphans() > 0;
            tokio::time::sleep(start.elapsed().max(MIN_REAPING_INTERVAL)).await;
        }
    }
}

/// Reaps children of the supervisor that have ended, except leaders, and returns their number. Adds the bytes that they
/// wrote to those of their run.
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
        let owner = registry.run_of(child);
        if let Some(run) = owner.and_then(|run_id| registry.active.get_mut(&run_id)) {
            run.written += sys::written_bytes(child);
        }
        drop(registry);
        reaped += usize::from(reap_child(orphan));
    }
    reaped
}

/// Whether a child has ended. Reading its state from /proc instead would take far longer.
fn has_ended(child: i32) -> bool {
    Pid::from_raw(child).is_some_and(|pid| status_of(pid).is_some())
}

/// Reaps a child of the supervisor if it has ended, and returns whether it is gone. No other function reaps such
/// children.
pub(super) fn reap_child(pid: Pid) -> bool {
    let mut registry = registry();
    let is_gone = sys::reap(pid);
    if is_gone {
        registry.run_ids.remove(&pid.as_raw_pid());
    }
    is_gone
}

fn registry() -> MutexGuard<'static, Registry> {
    REGISTRY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the ID of the supervisor's session as /proc shows it: 0 if the leader of that session is outside the process
/// namespace.
fn own_session() -> i32 {
    sys::stat(getpid().as_raw_pid()).map_or(0, |stat| stat.session)
}
